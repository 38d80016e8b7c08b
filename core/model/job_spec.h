// A training job as the core sees it: job.yaml after decoding, with every default filled in.
//
// docs/job.md (generated from the field table) says what each field means to a user. Durations that
// may be `none` are optional.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/describe.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/success.h"
#include "core/model/time.h"

namespace tfyarn {

enum class Framework { kTensorflow, kPytorch, kHorovod, kGeneric };
BOOST_DESCRIBE_ENUM(Framework, kTensorflow, kPytorch, kHorovod, kGeneric)
enum class Strategy { kParameterServer, kMultiWorker, kIndependent };
BOOST_DESCRIBE_ENUM(Strategy, kParameterServer, kMultiWorker, kIndependent)
enum class TaskClass { kTracked, kService, kDrained, kSidecar };
BOOST_DESCRIBE_ENUM(TaskClass, kTracked, kService, kDrained, kSidecar)
enum class GangPolicy { kAll, kNone, kHold };
BOOST_DESCRIBE_ENUM(GangPolicy, kAll, kNone, kHold)
enum class PlacementScope { kNode, kRack };
BOOST_DESCRIBE_ENUM(PlacementScope, kNode, kRack)

/// Where the tasks of one type may go, relative to each other and to other types.
struct PlacementSpec {
  std::optional<PlacementScope> spread;  ///< At most one task of the type per node, or per rack.
  bool pack_rack = false;                ///< All tasks of the type in one rack.
  std::vector<std::string> avoid;        ///< Not on a node with a task of these types.
  friend bool operator==(const PlacementSpec&, const PlacementSpec&) = default;
};
BOOST_DESCRIBE_STRUCT(PlacementSpec, (), (spread, pack_rack, avoid))

struct TaskTypeSpec {
  std::string name;
  std::int32_t instances = 1;
  Resource resource;
  std::string node_label;  ///< YARN partition; "" = default.
  PlacementSpec placement;
  std::vector<std::string> command;     ///< argv; {ps_hosts} and its kin are still in it.
  std::string shell;                    ///< Instead of command, only when asked for.
  std::optional<TaskClass> task_class;  ///< Unset: the policy's table of roles.
  std::map<std::string, std::string> env;
  std::string logdir;  ///< tensorboard's.
};
BOOST_DESCRIBE_STRUCT(TaskTypeSpec, (),
                      (name, instances, resource, node_label, placement, command, shell, task_class,
                       env, logdir))

struct Backoff {
  Duration first = 5s;
  Duration max = 5min;
};
BOOST_DESCRIBE_STRUCT(Backoff, (), (first, max))

struct GangSpec {
  GangPolicy policy = GangPolicy::kAll;
  Duration deadline = 30min;  ///< From the first ask of an epoch's gang to its completion.
  Duration hold = 5min;       ///< With kAll: longest time an incomplete gang keeps containers.
  Backoff backoff;
};
BOOST_DESCRIBE_STRUCT(GangSpec, (), (policy, deadline, hold, backoff))

/// Which built-in table decides, with its options as written ("fail_on_worker_failure" -> "true").
struct PolicySpec {
  std::string name = "default";
  std::map<std::string, std::string> options;
};
BOOST_DESCRIBE_STRUCT(PolicySpec, (), (name, options))

enum class ExitAction {
  kIgnore,
  kTally,  ///< Recorded; judged at the end by the success expression.
  kRestartTask,
  kRestartType,
  kRestartGang,
  kRaiseMemory,  ///< Restart the task in a container with more memory.
  kFail,
  kSucceed,
};
BOOST_DESCRIBE_ENUM(ExitAction, kIgnore, kTally, kRestartTask, kRestartType, kRestartGang,
                    kRaiseMemory, kFail, kSucceed)
enum class Budget { kNone, kUser, kInfrastructure };
BOOST_DESCRIBE_ENUM(Budget, kNone, kUser, kInfrastructure)

/// One row of `on_exit`: all set conditions must hold; the first matching row wins.
struct ExitRule {
  std::string task_type;            ///< "" = any.
  std::vector<ExitClass> classes;   ///< Empty = any.
  std::vector<std::int32_t> exits;  ///< Process or YARN exit codes; empty = any.
  ExitAction action = ExitAction::kTally;
  std::optional<Budget> pays;               ///< Unset: by class.
  std::int32_t raise_factor_percent = 150;  ///< With kRaiseMemory.
  std::int64_t raise_max_memory_mb = 0;     ///< With kRaiseMemory; 0 = the largest container.
};
BOOST_DESCRIBE_STRUCT(ExitRule, (),
                      (task_type, classes, exits, action, pays, raise_factor_percent,
                       raise_max_memory_mb))

enum class DependencyState { kRunning, kEnded, kSucceeded };
BOOST_DESCRIBE_ENUM(DependencyState, kRunning, kEnded, kSucceeded)
enum class DependencyAction { kFail, kIgnore };
BOOST_DESCRIBE_ENUM(DependencyAction, kFail, kIgnore)

/// `task` starts only after every task of type `after` reached `state`; or, with `within`, must end
/// in that time after it (TonY's group dependency timeout).
struct Dependency {
  std::string task;
  std::string after;
  DependencyState state = DependencyState::kRunning;
  std::optional<Duration> within;
  DependencyAction action = DependencyAction::kFail;
};
BOOST_DESCRIBE_STRUCT(Dependency, (), (task, after, state, within, action))

struct RetrySpec {
  std::int32_t user = 0;
  std::int32_t infrastructure = 20;
  Duration window = 1h;       ///< Only restarts inside it count.
  std::int32_t resubmit = 0;  ///< Whole new applications, by the JobClient.
};
BOOST_DESCRIBE_STRUCT(RetrySpec, (), (user, infrastructure, window, resubmit))

struct FinishSpec {
  std::map<std::string, Duration> drain;   ///< Per task type, after success is decided.
  std::vector<std::string> require_paths;  ///< Evidence: without them an ok job is FAILED.
};
BOOST_DESCRIBE_STRUCT(FinishSpec, (), (drain, require_paths))

struct DeadlineSpec {
  Duration registration = 5min;
  Duration start = 15min;
  std::optional<Duration> run;
  Duration listen = 5min;  ///< From a process's start until it should listen on its port.
  Duration stop = 15s;
  Duration stop_broken = 1s;  ///< In place of `stop`, where nothing can be saved any more.
  Duration blame = 20s;
  Duration orphan = 30min;
  std::optional<Duration> am_start;  ///< nullopt = the client's own default.
  /// So long after the RM's start a node that it has not seen yet may still come. It is the time
  /// for which an RM takes a silent node for alive
  /// (yarn.nm.liveness-monitor.expiry-interval-ms); NMs that are alive try every 30 s
  /// (yarn.resourcemanager.connect.retry-interval.ms).
  /// docs/decisions/0002-nodes-that-may-come.md
  Duration nodes = 10min;
};
BOOST_DESCRIBE_STRUCT(DeadlineSpec, (),
                      (registration, start, run, listen, stop, stop_broken, blame, orphan, am_start,
                       nodes))

struct HeartbeatSpec {
  Duration every = 1s;
  std::int32_t missed = 5;
};
BOOST_DESCRIBE_STRUCT(HeartbeatSpec, (), (every, missed))

struct WatchSpec {
  std::string progress;  ///< Pattern on stdout, with one group; or, with progress_file, unused.
  std::string progress_file;
  Duration stalled = 10min;
  ExitAction action = ExitAction::kRestartGang;
};
BOOST_DESCRIBE_STRUCT(WatchSpec, (), (progress, progress_file, stalled, action))

struct AmSpec {
  Resource resource{.memory_mb = 512, .vcores = 1, .gpus = 0, .others = {}};
  std::int32_t attempts = 2;
};
BOOST_DESCRIBE_STRUCT(AmSpec, (), (resource, attempts))

struct ArchiveSpec {
  std::string path;
  std::string as;
};
BOOST_DESCRIBE_STRUCT(ArchiveSpec, (), (path, as))

/// Where the value of a secret variable comes from: one of both is set.
struct SecretSource {
  std::string env;   ///< A variable of the environment that the job is submitted from.
  std::string file;  ///< A file beside job.yaml; one line's end at its end does not count.
};
BOOST_DESCRIBE_STRUCT(SecretSource, (), (env, file))

struct JobSpec {
  std::string name;
  std::string user;  ///< Who submits; queues limit users.
  std::string queue = "default";
  std::int32_t priority = 0;
  std::vector<std::string> tags;
  Framework framework = Framework::kTensorflow;
  Strategy strategy = Strategy::kMultiWorker;
  bool compat_tony = false;
  std::vector<TaskTypeSpec> tasks;  ///< In file order.
  std::vector<std::string> files;
  std::vector<ArchiveSpec> archives;
  std::map<std::string, std::string> python_archives;  ///< Task type (or "") -> archive name.
  std::string container_image;
  /// Stars (job_secrets.h) in place of values of variables whose names look secret.
  std::map<std::string, std::string> env;
  std::map<std::string, SecretSource> secrets;  ///< By the name of the variable.
  GangSpec gang;
  PolicySpec policy;
  std::vector<ExitRule> on_exit;
  std::vector<Dependency> depends;
  std::optional<SuccessExpr> success;
  RetrySpec retries;
  FinishSpec finish;
  DeadlineSpec deadlines;
  HeartbeatSpec heartbeat;
  std::optional<WatchSpec> watch;
  AmSpec am;
  Duration history_keep = 720h;
  std::string history_directory;  ///< In HDFS; "" = below the submitter's home.

  /// nullptr when there is no such type.
  [[nodiscard]] const TaskTypeSpec* FindType(std::string_view type) const;
  [[nodiscard]] std::int32_t task_count() const;
};
BOOST_DESCRIBE_STRUCT(JobSpec, (),
                      (name, user, queue, priority, tags, framework, strategy, compat_tony, tasks,
                       files, archives, python_archives, container_image, env, secrets, gang,
                       policy, on_exit, depends, success, retries, finish, deadlines, heartbeat,
                       watch, am, history_keep, history_directory))

/// Name of the built-in role's class under policy `default`.
[[nodiscard]] TaskClass DefaultClass(std::string_view task_type);

}  // namespace tfyarn
