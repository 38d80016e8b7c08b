// A trace written by hand: short names for the records that the tests of the result need, at times
// in seconds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::trace {

inline Instant Second(double seconds) {
  return Instant(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

class TraceScript {
 public:
  explicit TraceScript(ResultOptions options = {}) : builder_(options) {}

  TraceScript& At(double seconds) {
    now_ = Second(seconds);
    return *this;
  }
  TraceScript& Fact(trace::Fact fact) {
    builder_.Observe({.at = now_, .fact = std::move(fact)});
    return *this;
  }
  /// What the job's latest AM orders.
  TraceScript& Am(AmAction action, std::uint32_t job = 0) {
    const LatestAm& latest = latest_am_[job];
    return Fact(AmOrdered{.job = JobIndex(job),
                          .am_attempt = latest.attempt,
                          .action = std::move(action),
                          .resubmission = latest.resubmission});
  }
  TraceScript& Client(ClientAction action, std::uint32_t job = 0) {
    if (const auto* submitted = std::get_if<ApplicationSubmitted>(&action);
        submitted != nullptr && submitted->resubmission > 0)
      latest_am_[job] = {.attempt = 1, .resubmission = submitted->resubmission};
    return Fact(ClientOrdered{.job = JobIndex(job), .action = std::move(action)});
  }

  TraceScript& Node(const std::string& host, std::int64_t gpus, std::int64_t vcores = 32) {
    return Fact(NodeDeclared{
        .node = {host, 1},
        .rack = "/r1",
        .partition = "",
        .labels = {},
        .capacity = {.memory_mb = 1024, .vcores = vcores, .gpus = gpus, .others = {}}});
  }
  TraceScript& Job(const std::string& name, std::uint32_t index = 0, std::int64_t gpus = 8) {
    return Fact(JobCreated{
        .job = JobIndex(index), .name = name, .queue = "default", .tasks = 1, .gpus = gpus});
  }
  static ContainerId Container(std::uint32_t job, std::int64_t number,
                               std::int32_t am_attempt = 1) {
    return {{{0, static_cast<std::int32_t>(job) + 1}, am_attempt}, number};
  }
  TraceScript& Grant(std::uint32_t job, std::int64_t number, const std::string& host,
                     std::int64_t gpus, bool am = false) {
    return Fact(
        ContainerGranted{.job = JobIndex(job),
                         .container = Container(job, number),
                         .node = {host, 1},
                         .resource = {.memory_mb = 64, .vcores = 1, .gpus = gpus, .others = {}},
                         .am = am});
  }
  TraceScript& Free(std::uint32_t job, std::int64_t number, std::int32_t exit = 0) {
    return Fact(ContainerFreed{
        .job = JobIndex(job), .container = Container(job, number), .exit_status = exit});
  }
  TraceScript& AmStarts(std::uint32_t job, std::int32_t attempt = 1) {
    AmStarted started;
    started.attempt = {{0, static_cast<std::int32_t>(job) + 1}, attempt};
    latest_am_[job].attempt = attempt;
    return Fact(AmTold{.job = JobIndex(job), .am_attempt = attempt, .event = started});
  }
  TraceScript& AmRegisters(std::uint32_t job) {
    return Fact(AmTold{.job = JobIndex(job),
                       .am_attempt = 1,
                       .event = RmReplied{.call = CallId(1),
                                          .response = yarn::RegisterApplicationMasterResponse{}}});
  }
  TraceScript& Starts(std::uint32_t job, const TaskId& task, std::uint32_t attempt,
                      std::int64_t container, const std::string& host, std::uint32_t epoch = 1) {
    return Am(TaskAttemptStarted{.task = task,
                                 .process = {TaskAttempt(attempt), Epoch(epoch)},
                                 .container = Container(job, container),
                                 .node = {host, 1}},
              job);
  }
  TraceScript& Ends(std::uint32_t job, const TaskId& task, std::uint32_t attempt,
                    std::int64_t container, const std::string& host, std::int32_t exit,
                    ExitClass exit_class) {
    return Am(TaskAttemptEnded{.task = task,
                               .process = {TaskAttempt(attempt), Epoch(1)},
                               .container = Container(job, container),
                               .node = {host, 1},
                               .exit = exit,
                               .exit_class = exit_class,
                               .diagnostics = ""},
              job);
  }
  TraceScript& Phase(std::uint32_t job, TrainingPhase phase) {
    return Fact(TrainingPhaseChanged{.job = JobIndex(job), .phase = phase});
  }
  TraceScript& End(std::uint32_t job, JobStatus status) {
    return Client(JobEnded{.status = status, .diagnostics = "by the client"}, job);
  }
  TraceScript& Stop(StopReason reason) { return Fact(RunStopped{.reason = reason}); }

  [[nodiscard]] Result Finish(RunFacts facts = {}) { return builder_.Finish(std::move(facts)); }
  [[nodiscard]] const ResultBuilder& builder() const { return builder_; }

 private:
  struct LatestAm {
    std::int32_t attempt = 1;
    std::optional<std::int32_t> resubmission;
  };

  ResultBuilder builder_;
  std::map<std::uint32_t, LatestAm> latest_am_;
  Instant now_{};
};

}  // namespace tfyarn::trace
