// A small host for workload tests: spawns processes on nodes, lets time pass, keeps what came out
// with its time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/agent/environment.h"
#include "core/model/text.h"
#include "sim/workload.h"
#include "tests/unit/sim/usual_tasks.h"

namespace tfyarn::sim {

inline TaskTypeSpec TaskType(std::string name, int instances, std::int64_t gpus = 0) {
  return {.name = std::move(name),
          .instances = instances,
          .resource = {.memory_mb = 1024, .vcores = 1, .gpus = gpus, .others = {}}};
}

inline config::Distribution Const(double value) {
  return config::Distribution::Constant(value);
}

/// 100 s of work, a checkpoint of 1 s every 10 s, 5 s to restore.
inline config::TrainingSpec UsualTraining() {
  return {.steps = Const(1000),
          .step_time = Const(0.1),
          .checkpoint = {.every = 10s, .cost = 1s},
          .restore = 5s};
}

inline config::JobConfig MultiWorker(int workers) {
  config::JobConfig job;
  job.spec.name = "a";
  job.spec.strategy = Strategy::kMultiWorker;
  job.spec.tasks = {TaskType("chief", 1, 1), TaskType("worker", workers, 1)};
  job.training = UsualTraining();
  return job;
}

inline config::JobConfig ParameterServer(int ps, int workers) {
  config::JobConfig job;
  job.spec.name = "a";
  job.spec.strategy = Strategy::kParameterServer;
  job.spec.tasks = {TaskType("chief", 1, 1), TaskType("worker", workers, 1), TaskType("ps", ps)};
  job.training = UsualTraining();
  return job;
}

class WorkloadHarness {
 public:
  explicit WorkloadHarness(config::JobConfig job, std::uint64_t seed = 1, bool detailed = false)
      : config_(std::make_shared<config::JobConfig>(std::move(job))),
        workload(config_, trace::JobIndex(0), seed, detailed) {}

  /// A spec in which every task listens on a port of its own; `moved` lists tasks that have another
  /// address in it.
  SpecRef SpecOf(std::uint32_t epoch, const std::vector<TaskId>& moved = {}) {
    ClusterSpec spec{.epoch = Epoch(epoch)};
    for (const TaskTypeSpec& type : config_->spec.tasks) {
      for (int i = 0; i < type.instances; ++i) {
        const TaskId task{.type = type.name, .index = i};
        const bool elsewhere = std::find(moved.begin(), moved.end(), task) != moved.end();
        spec.tasks[type.name].push_back(
            {.host = HostOf(task), .port = elsewhere ? 2000 + i : 1000 + i});
      }
    }
    return Share(std::move(spec));
  }

  static std::string HostOf(const TaskId& task) {
    return "node-" + task.type + "-" + std::to_string(task.index);
  }

  /// The container of a task: one for each, the same for all its attempts.
  ContainerId ContainerOf(const TaskId& task) const {
    std::int64_t id = 1;
    for (const TaskTypeSpec& type : config_->spec.tasks) {
      if (type.name == task.type) return {.id = id + task.index};
      id += type.instances;
    }
    return {};
  }

  void Spawn(const TaskId& task, const SpecRef& spec, std::uint32_t attempt = 0) {
    Spawn({.container = ContainerOf(task),
           .task = task,
           .process = {.attempt = TaskAttempt(attempt), .epoch = spec.get()->epoch},
           .spec = spec,
           .host = HostOf(task),
           .should_listen = agent::ShouldListen(config_->spec, task, *spec.get())});
  }
  void Spawn(const SpawnedProcess& process) {
    workload.Spawned(now, process, fresh_);
    Collect();
  }
  void SpawnAll(const SpecRef& spec, std::uint32_t attempt = 0) {
    for (const TaskTypeSpec& type : config_->spec.tasks) {
      for (int i = 0; i < type.instances; ++i)
        Spawn({.type = type.name, .index = i}, spec, attempt);
    }
  }
  void Signal(const TaskId& task, StopSignal signal, std::uint32_t attempt = 0) {
    workload.Signalled(now, ContainerOf(task), TaskAttempt(attempt), signal, fresh_);
    Collect();
  }
  void Vanish(const TaskId& task) {
    workload.Vanished(now, ContainerOf(task), fresh_);
    Collect();
  }
  void Exit(const TaskId& task, int code) {
    workload.Ends(now, ContainerOf(task), {.code = code}, fresh_);
    Collect();
  }
  void Freeze(const TaskId& task, bool frozen) {
    workload.Froze(now, ContainerOf(task), 0, frozen ? Freeze::kStopped : Freeze::kNone, fresh_);
    Collect();
  }
  void Pace(const TaskId& task, std::int32_t pace) {
    workload.PaceChanged(now, ContainerOf(task), pace, fresh_);
    Collect();
  }
  void Cuts(std::vector<PeerCut> cuts) {
    workload.CutsChanged(now, std::move(cuts), fresh_);
    Collect();
  }
  void Settle() {
    workload.Settle(now, fresh_);
    Collect();
  }

  /// Lets time pass, stopping at every deadline.
  void Until(Duration time) {
    const Instant end = Instant{} + time;
    while (const std::optional<Instant> due = workload.next_deadline()) {
      if (*due > end) break;
      now = *due;
      ++steps;
      workload.DeadlineReached(now, fresh_);
      Collect();
    }
    now = end;
    workload.DeadlineReached(now, fresh_);
    Collect();
  }

  /// "12s worker:1 exit 0" and so on; accounts are summed instead.
  std::vector<std::string> TakeLog() { return std::exchange(log_, {}); }
  /// "worker:1 stopped" and so on: what agents are shown.
  std::vector<std::string> TakeSigns() { return std::exchange(signs_, {}); }
  [[nodiscard]] const TrainingAccount& account() const { return account_; }

  Instant now{};
  int steps = 0;

 private:
  void Collect() {
    for (const WorkloadOutput& output : fresh_)
      std::visit([this](const auto& one) { On(one); }, output);
    fresh_.clear();
  }
  void Say(const std::string& text) {
    log_.push_back(
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - Instant{}).count()) +
        "s " + text);
  }
  [[nodiscard]] std::string TaskIn(const ContainerId& container) const {
    std::int64_t id = 1;
    for (const TaskTypeSpec& type : config_->spec.tasks) {
      if (container.id < id + type.instances)
        return type.name + ":" + std::to_string(container.id - id);
      id += type.instances;
    }
    return "?";
  }
  void On(const ProcessExits& exits) {
    Say(TaskIn(exits.container) +
        (exits.exit.code ? " exit " + std::to_string(*exits.exit.code)
                         : " signal " + std::to_string(*exits.exit.signal)) +
        (exits.port_conflict ? " port conflict" : ""));
  }
  void On(const PhaseChanged& change) { Say(KebabName(change.phase)); }
  void On(const WorkIsLost& lost) { Say("lost " + tfyarn::ToString(lost.work)); }
  void On(const ProgressIsSeen& seen) { Say(TaskIn(seen.container) + " progress"); }
  void On(const SignsAreSeen& seen) {
    signs_.push_back(TaskIn(seen.container) + " " + KebabName(seen.standstill) +
                     (seen.catches_term ? ", catches SIGTERM" : ""));
  }
  void On(const PortIsSeen& seen) {
    Say(TaskIn(seen.container) + " port: " + KebabName(seen.listener));
  }
  void On(const FileIsWritten& file) { Say("wrote " + file.path); }
  void On(const Accounted& accounted) {
    const auto add = [](TimeSplit& sum, const Accounted::Split& split) {
      sum += {.useful = split.useful.count(),
              .checkpoint = split.checkpoint.count(),
              .restore = split.restore.count(),
              .lost = split.lost.count()};
    };
    add(account_.wall, accounted.wall);
    add(account_.gpu, accounted.gpu);
  }

  std::shared_ptr<const config::JobConfig> config_;

 public:
  JobWorkload workload;

 private:
  std::vector<WorkloadOutput> fresh_;
  std::vector<std::string> signs_;
  std::vector<std::string> log_;
  TrainingAccount account_;
};

using Log = std::vector<std::string>;

}  // namespace tfyarn::sim
