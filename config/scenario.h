// A scenario as plain values: cluster, jobs, faults, expectations. What config decodes and the
// simulator runs.
//
// Everything is here after merging includes, defaults and --set; positions in the file are kept
// only where a later error must name them. docs/scenario.md (generated from the field table)
// explains each field to users.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/distribution.h"
#include "core/model/job_spec.h"
#include "core/model/resource.h"
#include "core/model/time.h"

namespace tfyarn::config {

struct PhillyJob;  // config/traces.h
struct NodeOutage;

// ---------------------------------------------------------------- cluster

struct NodeClass {
  std::string name;  ///< Nodes are name-1 .. name-count; a class with count 1 is just `name`.
  std::int32_t count = 1;
  std::string rack;  ///< "" = dealt round robin over the racks.
  std::vector<std::string> labels;
  std::string partition;  ///< YARN's exclusive node label; "" = default partition.
  Resource resources;
};

struct NetworkSpec {
  Distribution latency = Distribution::Constant(200e-6);     ///< Seconds, one way, same rack.
  Distribution cross_rack = Distribution::Constant(500e-6);  ///< Seconds, one way, other rack.
  double loss = 0;                                           ///< Probability per message, 0..1.
};

struct ClusterSpecConfig {
  std::int32_t racks = 1;
  std::vector<NodeClass> nodes;
  NetworkSpec network;
};

// ---------------------------------------------------------------- yarn, hdfs

struct QueueSpec {
  std::string path;                    ///< "root.ml"; parents may be listed too.
  std::int32_t capacity_permille = 0;  ///< Of its parent.
  std::int32_t max_capacity_permille = 1000;
  std::int32_t user_limit_permille = 1000;         ///< minimum-user-limit-percent.
  std::int32_t user_limit_factor_permille = 1000;  ///< user-limit-factor; 1000 = 1.
  std::int32_t am_share_permille = 100;            ///< maximum-am-resource-percent.
};

struct YarnSpec {
  std::string scheduler = "capacity";  ///< One of fakes/yarn-rm/schedulers.h.
  std::vector<QueueSpec> queues;
  Duration nm_heartbeat = 1s;
  Duration nm_expiry = 600s;
  Duration am_expiry = 900s;
  Duration container_expiry = 600s;
  std::int32_t am_max_attempts = 2;
  bool work_preserving_restart = true;
  bool preemption = false;
  Duration nm_token_roll = 24h;
  Duration amrm_token_roll = 24h;
  Resource minimum_allocation{.memory_mb = 1024, .vcores = 1, .gpus = 0, .others = {}};
  Resource maximum_allocation;               ///< Zero members = the largest node.
  std::int32_t offswitch_per_heartbeat = 1;  ///< maximum-offswitch-assignments.
  std::int32_t node_locality_delay =
      40;                            ///< Missed heartbeats before a located ask goes elsewhere.
  Duration sigkill_delay = 250ms;    ///< sleep-delay-before-sigkill.ms.
  Duration scheduling_wait = 10s;    ///< After an RM restart.
  Duration preemption_notice = 15s;  ///< From strict notice to kill.
  Distribution localize =
      Distribution::Constant(0.5);  ///< Seconds per container besides HDFS transfer.
  /// The same of a further container of an application on a node; unset: as `localize`.
  std::optional<Distribution> localize_again;
  Distribution launch =
      Distribution::Constant(0.1);        ///< Seconds from localised to running process.
  std::optional<Distribution> am_launch;  ///< The same of an AM; unset: as `launch`.
};

struct HdfsSpec {
  Distribution latency = Distribution::Constant(5e-3);  ///< Seconds per call.
  std::int64_t bandwidth_bps = 10'000'000'000;
  std::int32_t replicas = 3;
  std::optional<std::int64_t> quota_bytes;
};

// ---------------------------------------------------------------- jobs

struct CheckpointSpec {
  Duration every = Duration::zero();  ///< Training time between checkpoints; zero = none.
  Duration cost = Duration::zero();
};

struct PeerLossSpec {
  bool wait = false;  ///< `none`: survivors wait for ever.
  Duration after = 3s;
  std::int32_t exit = 1;
};

/// What training means for a simulated job.
struct TrainingSpec {
  Distribution steps = Distribution::Constant(0);
  Distribution step_time = Distribution::Constant(0);  ///< Seconds, drawn once per job.
  CheckpointSpec checkpoint;
  Duration restore = Duration::zero();
  std::optional<PeerLossSpec> peer_loss;  ///< Unset: as TensorFlow does under the job's strategy.
};

struct OnTerm {
  bool ignore = false;  ///< Only SIGKILL ends it.
  bool checkpoint = false;
  Distribution after = Distribution::Constant(0);  ///< Seconds from SIGTERM to the end.
  std::int32_t exit = 143;
};

/// One row of `behavior`; the first whose conditions hold decides what a process does.
struct BehaviorRow {
  std::string task;                     ///< "worker", "worker:1" or "" = any.
  std::optional<std::int32_t> attempt;  ///< The task's n-th process, from 0.
  std::optional<Distribution> start;    ///< Seconds from spawn until it takes part.
  std::optional<Distribution>
      after;  ///< Seconds after its start at which exit, signal or hang happens.
  std::optional<std::int32_t> exit;
  std::optional<std::int32_t> signal;
  bool hang = false;
  bool forever = false;              ///< runs: forever
  std::optional<Distribution> runs;  ///< Seconds, in place of steps; needs no peer.
  bool out_of_memory = false;        ///< With signal KILL: the kernel's OOM killer did it.
  std::optional<OnTerm> on_term;
  std::vector<std::string> writes;      ///< Paths that exist after it ended 0.
  bool never_listens = false;           ///< listens: never
  bool port_taken = false;              ///< listens: taken
  std::optional<Distribution> listens;  ///< Seconds after its start.
  std::string says;  ///< Its last lines on stderr, when it ends by `exit` or `signal`.
};

struct JobConfig {
  JobSpec spec;  ///< spec.name is the job's name.
  Duration submit = Duration::zero();
  TrainingSpec training;
  std::vector<BehaviorRow> behavior;
  std::int64_t files_bytes = 0;  ///< Size of what each container localises from HDFS.
};

enum class TraceFormat { kPhilly, kLanl };
BOOST_DESCRIBE_ENUM(TraceFormat, kPhilly, kLanl)

/// Many jobs from a law or from a trace.
struct ArrivalSpec {
  std::string prefix = "job";
  std::shared_ptr<const JobConfig> job;  ///< The decoded template.
  // From a law:
  std::optional<Distribution> interarrival;  ///< Seconds between submissions.
  std::int64_t count = 0;
  // From a trace:
  std::string trace_file;  ///< "" = not from a trace. Resolved path.
  TraceFormat trace_format = TraceFormat::kPhilly;
  std::int32_t gpus_per_task = 0;                       ///< 0 = GPUs of the largest node.
  std::int64_t limit = 0;                               ///< 0 = all rows.
  std::map<std::string, std::string> queue_of_cluster;  ///< Philly's cluster column -> queue.
  std::vector<std::string>
      queues;  ///< Without the map: clusters are dealt to these in order of size.
  /// The trace's rows, by submission, cut at limit; nullptr when not from a trace, or when traces
  /// are not read. queue_of_cluster is complete then: `queues` are dealt already.
  std::shared_ptr<const std::vector<PhillyJob>> trace_jobs;
};

// ---------------------------------------------------------------- targets and faults

enum class TargetKind {
  kNode,
  kRack,
  kLabel,
  kTask,
  kAm,
  kRm,
  kHdfs,
  kRandom,
  kFraction,
  kAllNodes
};
BOOST_DESCRIBE_ENUM(TargetKind, kNode, kRack, kLabel, kTask, kAm, kRm, kHdfs, kRandom, kFraction,
                    kAllNodes)

struct Target {
  TargetKind kind = TargetKind::kAllNodes;
  std::string name;   ///< Node, rack, label, or job (kTask, kAm).
  std::string task;   ///< "worker:1"; "" = the whole job.
  double amount = 0;  ///< kRandom: how many; kFraction: 0..1.
  std::shared_ptr<const Target> of;
};

/// When a fault happens: once at a time, at a moment (`when`), or again and again. A moment is one
/// of state, append, message and fault.
struct FaultWhen {
  std::optional<Duration> at;
  std::string job;  ///< With state, append and message.
  /// Of the job, submitted .. finished; with task registered, running or ended; with fault began or
  /// ended.
  std::optional<std::string> state;
  std::string task;                    ///< With state and message: "worker:1", or a whole type.
  std::optional<std::int64_t> append;  ///< An AM's order to append to the job's journal, from 1.
  std::string message;                 ///< Sent by or to the job's AM, agents or client.
  std::optional<std::int64_t> fault;   ///< Position of another fault.
  std::int64_t nth = 1;                ///< With state and message: which time it comes.
  Duration after = Duration::zero();
  /// Something waited for.
  [[nodiscard]] bool moment() const { return state || append || !message.empty() || fault; }
  std::optional<Distribution> every;  ///< Seconds.
  bool per_node = false;
};

/// One fault. `numbers` and `words` hold what is particular to its kind, by the names of the table
/// of kinds (config/fault_kinds.h documents each), with the table's defaults filled in, converted
/// to base units: seconds, MiB, bytes; true is 1.
struct FaultSpec {
  std::string kind;
  FaultWhen when;
  std::optional<Target> target;
  std::vector<Target> between;           ///< partition.
  std::optional<Distribution> duration;  ///< `for`, seconds.
  std::map<std::string, double>
      numbers;  ///< exit, signal, gpus, nth, factor, delay, loss, bytes ...
  std::map<std::string, std::string> words;  ///< message, direction, signal name, reason ...
  // kind: trace
  std::string trace_file;
  std::int32_t trace_system = 0;
  /// The trace's outages by start, folded onto the nodes of this cluster (node = position in the
  /// cluster, in order of its classes); nullptr when it is no trace, or when traces are not read.
  std::shared_ptr<const std::vector<NodeOutage>> outages;
};

// ---------------------------------------------------------------- expectations

enum class ExpectOp { kEquals, kAtLeast, kAtMost, kBetween, kIn };
BOOST_DESCRIBE_ENUM(ExpectOp, kEquals, kAtLeast, kAtMost, kBetween, kIn)

/// One comparison: a name of result.json against numbers or words.
struct Comparison {
  std::string metric;  ///< "job/a.epochs", "job/a.status", "gpu_utilization", "deadlock_rate".
  ExpectOp op = ExpectOp::kEquals;
  double low = 0;
  double high = 0;
  std::vector<std::string> words;  ///< kIn / kEquals on text; `*` stands for any text.
};

enum class ExpectKind { kFinal, kNever, kEventually };
BOOST_DESCRIBE_ENUM(ExpectKind, kFinal, kNever, kEventually)

struct Expectation {
  ExpectKind kind = ExpectKind::kFinal;
  std::string text;                ///< As written, for messages.
  std::vector<Comparison> all_of;  ///< kFinal: every one; kNever/kEventually: exactly one.
  std::optional<Duration> within;
  std::string after;                         ///< "fault/0".
  std::map<std::string, std::string> where;  ///< Cell of the matrix this is about.
};

struct InvariantOff {
  std::string name;
  std::string because;
};

struct SweepSpec {
  std::vector<std::pair<std::string, std::vector<std::string>>>
      matrix;  ///< Path -> values as --set takes them.
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
};

/// From an instant on, what is left to chance is drawn anew.
struct FutureSpec {
  Duration from = Duration::zero();
  std::uint64_t seed = 1;
};

struct Scenario {
  std::string file;  ///< As given on the command line.
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  Duration horizon = 24h;
  Duration warmup = Duration::zero();
  std::vector<FutureSpec> futures;  ///< Each begins after the one before.
  ClusterSpecConfig cluster;
  YarnSpec yarn;
  HdfsSpec hdfs;
  std::vector<JobConfig> jobs;
  std::vector<ArrivalSpec> arrivals;
  std::vector<FaultSpec> faults;
  std::vector<Expectation> expect;
  std::vector<InvariantOff> invariants_off;
  std::optional<SweepSpec> sweep;
  std::uint64_t digest = 0;    ///< Of the effective scenario text.
  std::string effective_yaml;  ///< After includes and --set: what the report shows.
  /// Of fields that are set and that the simulator ignores, one line each (ignored_fields.h).
  std::vector<std::string> ignored;
};

}  // namespace tfyarn::config
