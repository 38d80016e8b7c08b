// A trace made by hand, line by line, for the tests of the checkers: a good stream in a few words,
// to be spoiled.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkers.h"
#include "tests/unit/sim/usual_tasks.h"

namespace tfyarn::sim {

/// What full scans and settling see; empty means: nothing is left.
struct FixedWorld : WorldView {
  [[nodiscard]] std::vector<LiveProcess> LiveProcesses() const override { return processes; }
  [[nodiscard]] std::vector<HeldContainer> RmContainers() const override { return in_rm; }
  [[nodiscard]] std::vector<HeldContainer> NodeContainers() const override { return {}; }
  [[nodiscard]] std::vector<std::string> RemainsOf(trace::JobIndex) const override {
    return remains;
  }

  std::vector<LiveProcess> processes;
  std::vector<HeldContainer> in_rm;
  std::vector<std::string> remains;
};

/// Two workers of 1 GPU each, multi-worker, on two nodes of 4 GPUs.
class CheckerScript {
 public:
  /// `and_on`: of the invariants that only traces with more in them can hold, those that this one
  /// is to hold.
  explicit CheckerScript(JobSpec spec = Job(), config::Scenario scenario = {},
                         std::set<std::string> and_on = {})
      : checkers(Without(std::move(scenario), and_on)) {
    for (const char* host : {"n1", "n2"}) {
      Say(trace::NodeDeclared{
          .node = Node(host),
          .capacity = {.memory_mb = 8192, .vcores = 8, .gpus = 4, .others = {}}});
    }
    checkers.JobSubmitted(kJob, std::make_shared<const JobSpec>(spec));
    Say(trace::JobCreated{
        .job = kJob, .name = spec.name, .queue = "default", .tasks = 2, .gpus = 2});
  }

  /// These traces say what the checker under test reads, and not why the AM decided anything, what
  /// HDFS has of it, how each container ended, or what was answered.
  static config::Scenario Without(config::Scenario scenario, const std::set<std::string>& and_on) {
    for (const char* name : {"reference-verdict", "durable-before-visible", "limits-kept",
                             "rule-matches-cause", "said-again"}) {
      if (and_on.count(name) > 0) continue;
      scenario.invariants_off.push_back({.name = name, .because = "not all is told"});
    }
    return scenario;
  }
  static JobSpec Job() {
    JobSpec spec;
    spec.name = "a";
    spec.strategy = Strategy::kMultiWorker;
    spec.tasks = {{.name = "worker",
                   .instances = 2,
                   .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 1, .others = {}}}};
    return spec;
  }
  static NodeId Node(std::string host) { return {.host = std::move(host), .port = 8041}; }
  static ApplicationId App() { return {.id = 1}; }
  static ContainerId Container(std::int64_t id, std::int32_t attempt = 1) {
    return {.application_attempt = {.application = App(), .attempt = attempt}, .id = id};
  }

  void Say(trace::Fact fact) { checkers.Observe({.at = now, .fact = std::move(fact)}); }
  void At(Duration time) { now = Instant{} + time; }

  void Grant(std::int64_t id, const char* host = "n1", std::int64_t gpus = 1, bool am = false) {
    Say(trace::ContainerGranted{
        .job = kJob,
        .container = Container(id),
        .node = Node(host),
        .resource = {.memory_mb = 1024, .vcores = 1, .gpus = gpus, .others = {}},
        .am = am});
  }
  void Free(std::int64_t id) {
    Say(trace::ContainerFreed{.job = kJob, .container = Container(id)});
  }
  void Gone(std::int64_t id) { Say(trace::ContainerGone{.container = Container(id)}); }
  void StartAm(std::int32_t attempt = 1) {
    Tell(AmStarted{.attempt = {.application = App(), .attempt = attempt}, .wall = CalendarAt(now)},
         attempt);
    Tell(RmReplied{.call = CallId(1), .response = yarn::RegisterApplicationMasterResponse{}},
         attempt);
  }
  void Tell(AmEvent event, std::int32_t attempt = 1) {
    Say(trace::AmTold{.job = kJob,
                      .am_attempt = attempt,
                      .event = std::move(event),
                      .resubmission = resubmission});
  }
  void Order(AmAction action, std::int32_t attempt = 1) {
    Say(trace::AmOrdered{.job = kJob,
                         .am_attempt = attempt,
                         .action = std::move(action),
                         .resubmission = resubmission});
  }
  void Allocate(yarn::AllocateRequest request, std::int32_t attempt = 1) {
    Order(CallRm{.call = CallId(2), .request = std::move(request)}, attempt);
  }
  /// A task's second process is announced by a decision to restart it, as an AM does.
  void Spawn(std::int64_t container, const TaskId& task, std::uint32_t epoch = 1,
             std::uint64_t spec = 100) {
    if (!spawned.insert(task).second) Order(RestartDecided{.epoch = Epoch(epoch), .tasks = {task}});
    SpawnUnannounced(container, task, epoch, spec);
  }
  void SpawnUnannounced(std::int64_t container, const TaskId& task, std::uint32_t epoch = 1,
                        std::uint64_t spec = 100) {
    OrderProcess(container, task, epoch, spec);
    Appear(container, task, epoch, spec);
  }
  /// What its node shows of a process that starts.
  void Appear(std::int64_t container, const TaskId& task, std::uint32_t epoch = 1,
              std::uint64_t spec = 100) {
    Say(trace::AgentTold{
        .job = kJob,
        .container = Container(container),
        .event = AgentStarted{.fence = {.container = Container(container), .task = task}}});
    Say(trace::AgentOrdered{.job = kJob,
                            .container = Container(container),
                            .action = SpawnProcess{.task = task,
                                                   .process = {.attempt = TaskAttempt(epoch - 1),
                                                               .epoch = Epoch(epoch)},
                                                   .spec = SpecRef(SpecId(spec), nullptr)}});
  }
  /// The AM's order that starts what Spawn shows, as it may come before.
  void OrderProcess(std::int64_t container, const TaskId& task, std::uint32_t epoch = 1,
                    std::uint64_t spec = 100) {
    Order(SendToAgent{.container = Container(container),
                      .message = StartProcess{
                          .fence = {.container = Container(container), .task = task},
                          .process = {.attempt = TaskAttempt(epoch - 1), .epoch = Epoch(epoch)},
                          .spec = SpecRef(SpecId(spec), nullptr)}});
  }
  void Exit(std::int64_t container, std::int32_t code = 0) {
    Say(trace::AgentTold{.job = kJob,
                         .container = Container(container),
                         .event = ProcessExited{.exit = {.code = code}}});
  }
  void Ended(const TaskId& task, std::optional<std::int32_t> exit, ExitClass exit_class,
             std::uint32_t attempt = 0, std::int32_t am_attempt = 1) {
    Order(TaskAttemptEnded{.task = task,
                           .process = {.attempt = TaskAttempt(attempt), .epoch = Epoch(1)},
                           .exit = exit,
                           .exit_class = exit_class},
          am_attempt);
  }
  void Started(const TaskId& task, std::uint32_t attempt = 0) {
    Order(TaskAttemptStarted{.task = task,
                             .process = {.attempt = TaskAttempt(attempt), .epoch = Epoch(1)}});
  }
  /// The job up to two running processes.
  void Run() {
    Grant(1, "n1", 0, true);
    StartAm();
    Grant(2);
    Grant(3, "n2");
    Spawn(2, kWorker0);
    Spawn(3, kWorker1);
    Started(kWorker0);
    Started(kWorker1);
  }
  /// ... to its good end.
  void Succeed() {
    Exit(2);
    Exit(3);
    Ended(kWorker0, 0, ExitClass::kOk);
    Ended(kWorker1, 0, ExitClass::kOk);
    Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"});
    Order(CallRm{.call = CallId(9),
                 .request = yarn::FinishApplicationMasterRequest{
                     .final_status = yarn::FinalApplicationStatus::kSucceeded}});
    for (const std::int64_t id : {1, 2, 3}) Gone(id), Free(id);
    Say(trace::ApplicationEnded{.job = kJob,
                                .application = App(),
                                .final_status = yarn::FinalApplicationStatus::kSucceeded});
    Say(trace::ClientOrdered{.job = kJob, .action = JobEnded{.status = JobStatus::kSucceeded}});
  }

  /// Names of the invariants that were broken since the last call, each once, in order.
  std::vector<std::string> Broken() {
    std::vector<std::string> names;
    for (const Violation& violation : checkers.TakeNew()) {
      if (names.empty() || names.back() != violation.invariant)
        names.push_back(violation.invariant);
    }
    return names;
  }

  static constexpr trace::JobIndex kJob{0};
  Instant now{};
  std::set<TaskId> spawned;
  std::optional<std::int32_t> resubmission;  ///< Of the application whose AM speaks.
  Checkers checkers;
};

/// For scripts in which of verdicts and payments only what they name is of interest.
inline config::Scenario OnlyWhatIsNamed() {
  config::Scenario scenario;
  for (const char* name : {"verdict", "budgets"})
    scenario.invariants_off.push_back({.name = name, .because = "not all is told"});
  return scenario;
}

using Names = std::vector<std::string>;

}  // namespace tfyarn::sim
