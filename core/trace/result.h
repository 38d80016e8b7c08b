// The result of one run: everything that result.json says, as plain values, and the builder that
// folds a trace into it.
//
// ResultBuilder keeps no records. What a job needs while it lives (its containers, its training's
// phase, GPU time not yet safe in a checkpoint) is dropped when the job has ended and holds
// nothing; what remains is its JobResult. Which records give a field is said at the field, so that
// a reader need not guess what a number means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/gpu_account.h"
#include "core/trace/job_clock.h"
#include "core/trace/record.h"
#include "core/trace/usage.h"

namespace tfyarn::trace {

// ---------------------------------------------------------------- jobs

/// One run of a task's process. From TaskAttemptStarted and TaskAttemptEnded; the latest account of
/// its end counts.
struct AttemptResult {
  TaskAttempt attempt;
  Epoch epoch;
  std::string node;  ///< Host name.
  ContainerId container;
  std::optional<std::int32_t> exit;
  std::optional<ExitClass> exit_class;  ///< Unset while it runs.
  std::string diagnostics;
  /// PortUseFound: that it did not listen on its port, in words; "" where nothing else is known.
  std::string port;
  std::optional<Instant> started;   ///< TaskAttemptStarted; unset when it never ran.
  std::optional<Instant> finished;  ///< The first TaskAttemptEnded.
};

struct TaskResult {
  TaskId task;
  std::vector<AttemptResult> attempts;  ///< By attempt.
};

/// Decisions to start again: RestartDecided by unit; `job`: applications submitted after the first.
struct RestartCounts {
  std::int32_t task = 0;
  std::int32_t gang = 0;
  std::int32_t job = 0;
};

struct JobResult {
  std::string name;  ///< JobCreated, as are queue, task_count, gpus and submitted.
  std::string queue;
  std::int32_t task_count = 0;
  std::int64_t gpus = 0;                     ///< That all its tasks ask for.
  std::optional<ApplicationId> application;  ///< The latest: ApplicationSubmitted, or AmStarted.
  /// JobEnded. A job whose client did not live to see its end: ApplicationEnded, when the run has
  /// stopped.
  JobStatus status = JobStatus::kUnfinished;
  std::string diagnostics;                ///< VerdictReached, or JobEnded when no AM reached one.
  std::string rule;                       ///< VerdictReached: the row that decided.
  std::optional<Cause> cause;             ///< VerdictReached; unset for a job that succeeded.
  JobState state = JobState::kSubmitted;  ///< JobStateChanged, the latest.
  Instant submitted{};
  std::optional<Instant> am_registered;  ///< First answer to a registration.
  std::optional<Instant> gang_complete;  ///< First GangCompleted.
  /// First JobStateChanged to running; else, when the job has ended, its first TaskAttemptStarted.
  std::optional<Instant> started;
  std::optional<Instant> finished;  ///< As status.
  /// Highest of SpecAssembled, GangCompleted, TaskAttemptStarted, RestartDecided in the last
  /// application.
  std::uint32_t epochs = 0;
  std::int32_t am_attempts =
      0;  ///< AM attempts that got a container or a process, over all applications.
  RestartCounts restarts;
  std::int32_t leaked_containers = 0;  ///< ContainersLeaked.
  std::int32_t containers = 0;         ///< ContainerGranted that are not an AM's.
  Duration lost_work{};                ///< Training time of the job: WorkLost.
  /// See job_clock.h: sums exactly to the time from submission to the end (of the run).
  StageTimes stages{};
  GpuSplit gpu;  ///< See gpu_account.h: its parts sum exactly to the GPU time held.
  bool progressing =
      false;  ///< When it was last seen: restoring, training or writing a checkpoint.
  std::vector<TaskResult> tasks;  ///< By task; empty when attempts are not kept.

  /// From submission to the first AM's registration, from there to the first complete gang, from
  /// submission to the start.
  [[nodiscard]] std::optional<Duration> queue_wait() const;
  [[nodiscard]] std::optional<Duration> gang_wait() const;
  [[nodiscard]] std::optional<Duration> start_wait() const;
  /// From submission to the end.
  [[nodiscard]] std::optional<Duration> completion_time() const;
};

// ---------------------------------------------------------------- faults, expectations, invariants

/// One occurrence of one fault: FaultBegan and FaultEnded.
struct FaultResult {
  std::uint32_t index = 0;     ///< Position in the scenario.
  std::uint32_t instance = 0;  ///< Which time it happened.
  std::string kind;
  std::string target;
  Instant at{};
  std::optional<Instant> ended;
  /// First time an AM recorded an unsuccessful end of a process that the fault names (by node, by
  /// task or by job), or a later AM of a job that it names started. Unset: no AM had anything to
  /// notice.
  std::optional<Instant> detected;
  /// From then on every job so affected was running (JobStateChanged), training or restoring again,
  /// or had ended.
  std::optional<Instant> recovered;
};

/// A fault of the scenario that never struck anything.
struct FaultWithoutEffect {
  std::uint32_t index = 0;  ///< Position in the scenario.
  std::string kind;
  std::string why;
};

struct ExpectationResult {
  std::string text;
  bool passed = false;
  std::string got;
};

struct InvariantResult {
  std::string name;
  std::uint64_t checked = 0;
  std::uint64_t violations = 0;
  std::string off_because;  ///< Set: it was switched off for this reason.
  std::optional<Instant> first_at;
  std::string first_detail;
};

// ---------------------------------------------------------------- the whole run

/// A figure of `metrics`; nullopt when there was nothing to count (the mean over no job).
struct Metric {
  std::string name;
  std::optional<double> value;
};

/// How many of `values` lie in [edges[i], edges[i+1]); the last bucket is open. Seconds.
struct Histogram {
  std::string name;
  std::vector<double> edges;
  std::vector<std::uint64_t> counts;
};

/// What a picture of the run needs; bounded, so that a report of a long run can still be opened.
struct TimelineMark {
  JobIndex job;
  Instant at{};
  std::string phase;  ///< A JobStage in kebab case (training whose loss is not known yet:
                      ///< training), or `ended`.
};
/// Training of this length before `at` was in vain.
struct TimelineLoss {
  JobIndex job;
  Instant at{};
  Duration work{};
};
struct TimelineNode {
  std::string host;
  std::string rack;
  std::int64_t gpus = 0;
  std::int64_t vcores = 0;
};
struct ContainerBar {
  std::string node;
  ContainerId container;
  JobIndex job;
  std::string task;  ///< "worker:1"; "am"; "" when no process of it was seen.
  std::int64_t gpus = 0;
  Instant begin{};
  Instant end{};
};
struct NodeOutage {
  std::string node;
  Instant begin{};
  Instant end{};
};
struct Timeline {
  std::vector<TimelineNode> nodes;  ///< All, by id.
  std::vector<TimelineMark> marks;
  std::vector<TimelineLoss> losses;
  std::vector<ContainerBar> bars;
  std::vector<NodeOutage> outages;
  std::uint64_t left_out = 0;  ///< Marks, losses, bars and outages beyond the bound.
};

/// What the whole run comes to. kPassed: nothing below holds.
enum class Verdict { kPassed, kFailed, kInterrupted };
BOOST_DESCRIBE_ENUM(Verdict, kPassed, kFailed, kInterrupted)

/// As every document and YARN write it: SUCCEEDED.
[[nodiscard]] std::string_view StatusName(JobStatus status);

struct Result {
  /// Of real processes, not simulated: `scenario` is the job's name, and digest and seed of a
  /// scenario say nothing.
  bool real = false;
  std::string scenario;
  std::uint64_t scenario_digest = 0;
  std::uint64_t seed = 0;
  std::string version;
  Verdict verdict = Verdict::kPassed;
  std::int32_t exit_code = 0;  ///< Of a program that ran this and nothing else; see verdict.h.
  std::string reason;          ///< One line: why the verdict is not `passed`; empty otherwise.
  std::string digest;          ///< 32 hexadecimal digits.
  std::uint64_t records = 0;   ///< Of the trace.
  std::uint64_t events = 0;    ///< That the simulator handled; fewer when heartbeats are skipped.
  StopReason stop_reason = StopReason::kQuiescent;
  Instant stopped{};
  double wall_seconds = 0;
  std::int64_t peak_rss_bytes = 0;
  std::vector<JobResult> jobs;  ///< By JobIndex: in order of submission.
  bool tasks_kept = true;
  std::vector<Metric> metrics;
  std::vector<FaultResult> faults;  ///< In order of their beginning.
  std::uint64_t faults_left_out = 0;
  std::vector<FaultWithoutEffect>
      faults_without_effect;  ///< The simulator tells; empty for other runs.
  std::vector<ExpectationResult> expectations;
  std::vector<InvariantResult> invariants;
  /// At the horizon jobs were unfinished and none of them was making progress.
  bool deadlocked = false;
  // For the report only; not in result.json.
  std::vector<Histogram> histograms;
  UsageSeries::Points usage;
  Timeline timeline;
  std::string scenario_yaml;  ///< The effective scenario; from the caller.
};

// ---------------------------------------------------------------- building it

struct ResultOptions {
  /// Metrics count jobs submitted at or after this time, and use of the cluster from then on.
  Duration warmup = Duration::zero();
  /// Keep attempts however many jobs there are; otherwise they go when there are more than
  /// kMaxJobsWithTasks.
  bool always_tasks = false;
  /// Keep what the report's picture needs.
  bool timeline = true;
};

inline constexpr std::size_t kMaxJobsWithTasks = 1000;

/// What no record says. Filled in by the caller that ran the machines.
struct RunFacts {
  std::string version;
  std::string digest;
  std::uint64_t events = 0;
  double wall_seconds = 0;
  std::int64_t peak_rss_bytes = 0;
  /// Every invariant that was checked or switched off, in the order to be shown; violations come
  /// from the trace.
  std::vector<InvariantResult> invariants;
  /// Some job makes progress, as the workload model knows; unset: judged by the training phases in
  /// the trace.
  std::optional<bool> progressing;
};

/// The value of a name in an expectation: a number, a word, or neither (null in result.json).
struct MetricValue {
  std::optional<double> number;
  std::string text;  ///< As people and messages read it: "2", "SUCCEEDED", "null".
};

class RunBook;

class ResultBuilder {
 public:
  explicit ResultBuilder(ResultOptions options = {});
  ~ResultBuilder();
  ResultBuilder(ResultBuilder&&) noexcept;
  ResultBuilder& operator=(ResultBuilder&&) noexcept;

  /// The next record, in order.
  void Observe(const TraceRecord& record);

  /// The result up to the latest record. Expectations are still to be added, and Judge (verdict.h)
  /// to be called. The builder is spent.
  [[nodiscard]] Result Finish(RunFacts facts = {});

  /// A job's field as it stands now, for expectations about what must never or eventually be:
  /// `job/NAME.FIELD`, as in Lookup. nullopt: no such field, or no such job yet.
  [[nodiscard]] std::optional<MetricValue> LookupJob(std::string_view name) const;

  /// The jobs so far; the GPU time of those that live is not in them yet.
  [[nodiscard]] const std::vector<JobResult>& jobs() const;

 private:
  std::unique_ptr<RunBook> book_;
};

/// `job/NAME.FIELD` for a field of a job (nested ones too: `restarts.gang`, `gpu_seconds.useful`,
/// `cause.task`), `fault/INDEX.FIELD` for the first instance of a fault,
/// `invariant/NAME.violations`, or the bare name of a metric or of a top-level number. nullopt: no
/// such name.
[[nodiscard]] std::optional<MetricValue> Lookup(const Result& result, std::string_view name);

/// The same for one job's field, without the `job/NAME.`.
[[nodiscard]] std::optional<MetricValue> LookupField(const JobResult& job, std::string_view field);

}  // namespace tfyarn::trace
