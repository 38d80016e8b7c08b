// Fields of the smaller parts of job.yaml: gang, rules for exits, dependencies, retries, deadlines
// and the like.
#include <fmt/format.h>

#include <regex>

#include "config/job_table.h"
#include "config/names.h"
#include "config/resource_table.h"

namespace tfyarn::config {
namespace {

constexpr std::int32_t kMaxRetries = 1'000'000;

const Record<Backoff>& BackoffTable() {
  static const Record<Backoff> table = [] {
    Record<Backoff> record("backoff",
                           "How long a job waits after it gave back an incomplete gang.");
    record.Field("first", &Backoff::first, Time(1ms),
                 "The first wait; the next ones grow, with a random part.");
    record.Field("max", &Backoff::max, Time(1ms), "The longest wait.");
    record.Checked([](Decoder& decoder, const Node& node, const Backoff& backoff) {
      if (backoff.first > backoff.max) {
        const Node* at = node.Find("max") != nullptr ? node.Find("max") : node.Find("first");
        decoder.Error(*at, fmt::format("`backoff`: `first` {} is longer than `max` {}",
                                       ToString(backoff.first), ToString(backoff.max)));
      }
    });
    return record;
  }();
  return table;
}

/// What `raise-memory` may say of itself.
const Record<ExitRule>& RaiseMemoryTable() {
  static const Record<ExitRule> table = [] {
    Record<ExitRule> record("raise-memory", "The same task again in a larger container.");
    record.Custom("factor", Number(1.01, 100).info, "Times the memory it had.",
                  [](Decoder& decoder, const Node& node, ExitRule& rule) {
                    double factor = 1.5;
                    Number(1.01, 100).read(decoder, node, factor);
                    rule.raise_factor_percent = static_cast<std::int32_t>(factor * 100 + 0.5);
                  },
                  {.default_text = "1.5"});
    record.Field("max", &ExitRule::raise_max_memory_mb, Memory(1), "Never more than this.",
                 {.example = "32GiB", .default_text = "the largest container"});
    return record;
  }();
  return table;
}

Type<ExitAction> Action() {
  return Choice<ExitAction>();
}

void ReadDo(Decoder& decoder, const Node& node, ExitRule& rule) {
  if (!node.is_map()) return Action().read(decoder, node, rule.action);
  if (node.entries.size() != 1 || node.entries[0].key != "raise-memory") {
    return decoder.Wrong(node, "an action, or {raise-memory: {factor: 1.5, max: 32GiB}}");
  }
  rule.action = ExitAction::kRaiseMemory;
  RaiseMemoryTable().Read(decoder, node.entries[0].value, rule);
}

TypeInfo DoInfo() {
  TypeInfo raise{.shape = Shape::kMap,
                 .text = "",
                 .pattern = "^raise-memory$",
                 .of = {{.shape = Shape::kRecord, .record = []() -> const RecordInfo& {
                           return RaiseMemoryTable().info();
                         }}}};
  return AnyOf(TextOf(Action().info) + ", or {raise-memory: {factor, max}}",
               {Action().info, std::move(raise)});
}

bool IsPattern(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  if (text.empty() || text.size() > kLongest) return false;
  try {
    return std::regex(std::string(text)).mark_count() <= 1;
  } catch (const std::regex_error&) {
    return false;
  }
}

void ReadProgress(Decoder& decoder, const Node& node, WatchSpec& watch) {
  if (!node.is_map()) {
    return TextLike("", "a regular expression with at most one group, of at most 200 characters",
                    IsPattern)
        .read(decoder, node, watch.progress);
  }
  static const Record<WatchSpec> table = [] {
    Record<WatchSpec> record("progress", "A file whose change is progress.");
    record.Field("file", &WatchSpec::progress_file,
                 TextLike("", "a path in the work directory", IsRelativePath),
                 "Path in the task's work directory.", {.required = true});
    return record;
  }();
  table.Read(decoder, node, watch);
}

TypeInfo PathInfo(std::string text, TypeInfo record) {
  return AnyOf(std::move(text), {SomeText().info, std::move(record)});
}

void ReadRequire(Decoder& decoder, const Node& node, FinishSpec& finish) {
  if (!node.is_list() && !node.is_null()) return WantList(decoder, node, SomeText().info);
  struct Path {
    std::string path;
  };
  static const Record<Path> table = [] {
    Record<Path> record("evidence", "Something that must be there after the job.");
    record.Field("path", &Path::path, SomeText(), "A path that must exist.", {.required = true});
    return record;
  }();
  for (const Node& item : node.items) {
    Path value;
    if (item.is_scalar()) {
      SomeText().read(decoder, item, value.path);
    } else {
      table.Read(decoder, item, value);
    }
    finish.require_paths.push_back(std::move(value.path));
  }
}

}  // namespace

const Record<GangSpec>& GangTable() {
  static const Record<GangSpec> table = [] {
    Record<GangSpec> record(
        "gang",
        "Gang scheduling: how the containers of tasks that must run together are allocated.");
    record.Field(
        "policy", &GangSpec::policy, Choice<GangPolicy>(),
        "`all`: no container is launched before every container of the gang is allocated. "
        "`none`: each as soon as it is allocated. `hold`: as `all`, but an incomplete gang "
        "is never given back: the naive way, which deadlocks; for comparison.");
    record.Field(
        "deadline", &GangSpec::deadline, Time(1ms),
        "From the first container request; without a complete gang by then the job fails with the "
        "reason and gives everything "
        "back.");
    record.Field("hold", &GangSpec::hold, Time(1ms),
                 "With `all`: the longest time an incomplete gang keeps its containers. Below the "
                 "RM's container expiry.");
    record.Field("backoff", &GangSpec::backoff, Of(BackoffTable),
                 "The wait after an incomplete gang was given back.",
                 {.example = "{first: 5s, max: 5m}"});
    return record;
  }();
  return table;
}

const Record<ExitRule>& ExitRuleTable() {
  static const Record<ExitRule> table = [] {
    Record<ExitRule> record("exit rule",
                            "What the end of a task's process or container leads to. All "
                            "conditions of a row must hold; the first "
                            "row that matches wins, "
                            "and all of them come before the policy's own.");
    record.Field("task", &ExitRule::task_type, TaskTypeName(), "Only tasks of this type.",
                 {.default_text = "any"});
    record.Field("class", &ExitRule::classes, OneOrMore(Choice<ExitClass>()),
                 "Only ends of these exit classes (docs/policies.md).",
                 {.example = "[oom]", .default_text = "without `exit` too: every failure"});
    record.Field("exit", &ExitRule::exits, OneOrMore(Count(-1000, 255)),
                 "Only these exit codes, of the process (0 to 255) or of YARN (negative).",
                 {.example = "[75]", .default_text = "any of `class`"});
    record.Custom("do", DoInfo(),
                  "What is done: `ignore` it; `tally`: let it count when success is judged; "
                  "restart the task, all tasks of its type, or all tasks of the gang; restart it "
                  "with more memory; end the job.",
                  ReadDo, {.example = "restart-gang", .required = true});
    record.Field("pays", &ExitRule::pays, Maybe(Choice<Budget>(), "by the exit's class"),
                 "Which budget of `retries` a restart costs.");
    record.Checked([](Decoder& decoder, const Node& node, const ExitRule& rule) {
      const bool restarts = rule.action != ExitAction::kIgnore &&
                            rule.action != ExitAction::kTally && rule.action != ExitAction::kFail &&
                            rule.action != ExitAction::kSucceed;
      if (rule.pays && *rule.pays != Budget::kNone && !restarts) {
        decoder.Error(
            *node.Find("pays"),
            fmt::format("`pays`: {} restarts nothing, so nothing is paid", KebabName(rule.action)));
      }
    });
    return record;
  }();
  return table;
}

const Record<Dependency>& DependencyTable() {
  static const Record<Dependency> table = [] {
    Record<Dependency> record(
        "dependency",
        "Tasks of one type start only after all tasks of another reached a state; or, with "
        "`within`, must end in that time after it.");
    record.Field("task", &Dependency::task, TaskTypeName(), "The type that depends.",
                 {.required = true});
    record.Field("after", &Dependency::after, TaskTypeName(), "The type it depends on.",
                 {.required = true});
    record.Field("state", &Dependency::state, Choice<DependencyState>(),
                 "What all tasks of `after` must have reached. One that has ended for good is past "
                 "`running`.");
    record.Field("within", &Dependency::within, Maybe(Time(1ms), "no limit"),
                 "How long tasks of `task` may go on after that.", {.example = "60s"});
    record.Field("do", &Dependency::action, Choice<DependencyAction>(),
                 "What follows when they go on for longer.");
    record.Checked([](Decoder& decoder, const Node& node, const Dependency& dependency) {
      if (dependency.task == dependency.after) {
        decoder.Error(*node.Find("after"), fmt::format("`{}` depends on itself", dependency.task));
      }
      if (node.Find("do") != nullptr && !dependency.within) {
        decoder.Error(*node.Find("do"),
                      "`do` says what follows when `within` has passed, and there is no `within`");
      }
    });
    return record;
  }();
  return table;
}

const Record<RetrySpec>& RetryTable() {
  static const Record<RetrySpec> table = [] {
    Record<RetrySpec> record("retries",
                             "Restart budgets: how often things are started again. Only the policy "
                             "`default` has this split; the others count everything on `user`.");
    record.Field("user", &RetrySpec::user, Count(0, kMaxRetries),
                 "Restarts that the user's own program caused.");
    record.Field("infrastructure", &RetrySpec::infrastructure, Count(0, kMaxRetries),
                 "Restarts that nodes, YARN, preemption and the like caused.");
    record.Field(
        "window", &RetrySpec::window, Time(1s),
        "Only restarts inside this time count, and all for a task since a process of it last ran.");
    record.Field("resubmit", &RetrySpec::resubmit, Count(0, kMaxRetries),
                 "How often the client submits the job again, as a new application.");
    return record;
  }();
  return table;
}

const Record<FinishSpec>& FinishTable() {
  static const Record<FinishSpec> table = [] {
    Record<FinishSpec> record("finish", "What happens once success is decided.");
    record.Field("drain", &FinishSpec::drain, MapOf(TaskTypeKeys(), Time()),
                 "How long tasks of a type may still run then, before they are stopped.",
                 {.example = "{evaluator: 10m, worker: 10s}"});
    record.Custom("require",
                  {.shape = Shape::kList,
                   .text = "list of {path: ...}",
                   .of = {PathInfo("path, or {path: ...}", {.shape = Shape::kMap,
                                                            .text = "{path: ...}",
                                                            .pattern = "^path$",
                                                            .of = {SomeText().info}})}},
                  "Evidence: without these paths a job that succeeded is FAILED.", ReadRequire,
                  {.example = "[{path: model.bin}]", .default_text = "[]"});
    return record;
  }();
  return table;
}

const Record<DeadlineSpec>& DeadlineTable() {
  static const Record<DeadlineSpec> table = [] {
    Record<DeadlineSpec> record("deadlines", "How long things may take.");
    record.Field("registration", &DeadlineSpec::registration, Time(1ms),
                 "From a container's launch to the first message of its agent, the process of ours "
                 "in each container that starts and watches the user's.");
    record.Field("start", &DeadlineSpec::start, Time(1ms),
                 "From the complete gang to every process running; where one waits for others "
                 "(`depends`), anew from the moment they have come. It does not run while "
                 "processes are being stopped.");
    record.Field("run", &DeadlineSpec::run, OrNone(Time(1ms)),
                 "From there to the job's end, restarts included.");
    record.Field("listen", &DeadlineSpec::listen, Time(1s),
                 "From a process's start until it should listen on the port that its peers were "
                 "told, where the framework makes it listen (tensorflow: chief, worker, ps; "
                 "pytorch: rank 0; horovod: driver). That it does not is told, and nothing else "
                 "follows.");
    record.Field("stop", &DeadlineSpec::stop, Time(),
                 "From the order to stop (SIGTERM) to SIGKILL.");
    record.Field(
        "stop_broken", &DeadlineSpec::stop_broken, Time(),
        "The same, when shorter, for a collective (multi-worker) that starts again because "
        "a member is gone: what is left of it has nothing that it could save together. Not "
        "for processes with a handler for SIGTERM of their own; TensorFlow's is none.");
    record.Field(
        "blame", &DeadlineSpec::blame, Time(),
        "A failed process may be a peer's victim: the decision waits so long for a better cause.");
    record.Field(
        "orphan", &DeadlineSpec::orphan, Time(1s),
        "After so long without an ApplicationMaster an agent ends its process. Above the RM's node "
        "and AM expiry.");
    record.Field(
        "am_start", &DeadlineSpec::am_start, Maybe(Time(1s)),
        "From the submission, or from the end of an ApplicationMaster, to the next one "
        "that registers: the client gives up then, with the RM's reason. The client goes on "
        "asking an RM that does not answer; an ApplicationMaster has 30 s to find one that is "
        "back.",
        {.example = "1h", .default_text = "15m; in a scenario 7d"});
    record.Field(
        "nodes", &DeadlineSpec::nodes, Time(),
        "From the ResourceManager's start, and from the ApplicationMaster's while that one "
        "is young: so long nodes may still come that the RM has not seen. Meanwhile a job that "
        "the nodes seen so far can never hold asks for nothing and waits; then it fails.",
        {.ignored_by = {{Host::kMachine, "its one node is there from the start"}}});
    return record;
  }();
  return table;
}

const Record<HeartbeatSpec>& HeartbeatTable() {
  static const Record<HeartbeatSpec> table = [] {
    Record<HeartbeatSpec> record("heartbeat",
                                 "From the agent in each container to the ApplicationMaster.");
    record.Field("every", &HeartbeatSpec::every, Time(10ms, 1h), "Time between two heartbeats.");
    record.Field("missed", &HeartbeatSpec::missed, Count(1, 10'000),
                 "So many in a row missing: the agent is lost.");
    return record;
  }();
  return table;
}

const Record<WatchSpec>& WatchTable() {
  static const Record<WatchSpec> table = [] {
    Record<WatchSpec> record("watch", "Looks for progress; off unless this block is there.");
    record.Custom("progress",
                  AnyOf("pattern on stdout, or {file: PATH}", {SomeText().info,
                                                               {.shape = Shape::kMap,
                                                                .text = "{file: PATH}",
                                                                .pattern = "^file$",
                                                                .of = {SomeText().info}}}),
                  "A regular expression on a line of stdout, with one group that changes, or a "
                  "file that does. Required where commands run.",
                  ReadProgress,
                  {.example = "\"step (\\\\d+)\"",
                   .ignored_by = Simulated("training that goes on is progress there")});
    record.Field("stalled", &WatchSpec::stalled, Time(1s),
                 "So long without progress is a failure. Counted from its start for tasks that "
                 "train; from its first progress on for a ps, evaluator or tensorboard, and for "
                 "workers whose chief hands out the steps (parameter-server).");
    record.Field("do", &WatchSpec::action, Action(),
                 "What follows; the one who stalls is blamed where it can be told.");
    record.Checked([](Decoder& decoder, const Node& node, const WatchSpec& watch) {
      if (watch.action == ExitAction::kRaiseMemory) {
        decoder.Error(*node.Find("do"), "`do`: more memory does not help a task that stalls");
      }
    });
    return record;
  }();
  return table;
}

const Record<AmSpec>& AmTable() {
  static const Record<AmSpec> table = [] {
    Record<AmSpec> record("am", "The ApplicationMaster's own container.");
    record.Field("memory", &AmSpec::resource, &Resource::memory_mb, Memory(64), "Its memory.");
    record.Field(
        "vcores", &AmSpec::resource, &Resource::vcores, Whole(1, 100'000), "Its virtual cores.",
        {.ignored_by = {{Host::kMachine, "it takes none of those that tasks may have there"}}});
    record.Field("attempts", &AmSpec::attempts, Count(1, 1000),
                 "How often YARN starts it at most; the cluster's own limit holds too.");
    return record;
  }();
  return table;
}

}  // namespace tfyarn::config
