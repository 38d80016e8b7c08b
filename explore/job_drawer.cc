#include "explore/job_drawer.h"

#include <algorithm>
#include <utility>

#include "explore/job_parts.h"

namespace tfyarn::explore {

JobDrawer::JobDrawer(Draw& draw, const Swarm& swarm, const JobSurroundings& around,
                     std::string name)
    : draw_(draw), swarm_(swarm), around_(around) {
  job_.sketch.name = std::move(name);
}

DrawnJob JobDrawer::Finish() {
  Set(job_.document, "name", Text(job_.sketch.name));
  DrawTasks();
  DrawAm();
  DrawBudgets();
  DrawDeadlines();
  DrawGang();
  if (wild()) DrawRules();
  DrawTraining();
  DrawBehavior();
  DrawFinish();
  DrawHeartbeat();
  if (around_.queues.size() > 1 || around_.contended)
    Set(job_.document, "queue", Text(draw_.Of(around_.queues)));
  if (draw_.Percent(20)) Set(job_.document, "priority", Number(draw_.Whole(0, 3)));
  if (draw_.Percent(40)) Set(job_.document, "submit", Time(draw_.Time(1ms, 2min)));
  LetAgentsRegister();
  if (may_not_end_ && run_deadline_ == Duration::zero()) {
    run_deadline_ = draw_.Time(1min, 20min);
    Set(MapAt(job_.document, "deadlines"), "run", Time(run_deadline_));
  }
  job_.sketch.ends_for_sure = run_deadline_ > Duration::zero();
  job_.bound = Bound();
  return std::move(job_);
}

/// Where rules of the job's own start things again without a limit, an agent that never comes up in
/// time is launched for ever, and deadlines.run never begins.
void JobDrawer::LetAgentsRegister() {
  if (job_.document.Find("policy") == nullptr && job_.document.Find("on_exit") == nullptr) return;
  Duration slowest = 5s;
  for (const Duration start : around_.starts) slowest += 2 * start;
  if (registration_ < slowest)
    Set(MapAt(job_.document, "deadlines"), "registration", Time(slowest));
}

// ---------------------------------------------------------------- task types

void JobDrawer::AddType(const std::string& name, std::int64_t instances) {
  const bool beside = name == "evaluator" || name == "tensorboard" || name == "prepare";
  const std::int64_t most = wild() && beside ? 6 : 4;
  Node type = Map({{"instances", Number(instances)},
                   {"memory", Text(std::to_string(draw_.Whole(1, most)) + "GiB")},
                   {"vcores", Number(draw_.Whole(1, 2))}});
  if (around_.gpus && name != "ps" && draw_.Percent(60)) Set(type, "gpus", Number(1));
  if (around_.partition && draw_.Percent(25)) Set(type, "node_label", Text("p"));
  if (Some(swarm_.placement, 40) && instances <= around_.nodes)
    Set(type, "placement", Map({{"spread", Text("node")}}));
  if (wild() && beside && draw_.Percent(15)) {
    static const std::vector<std::string> kClasses = {"tracked", "service", "drained", "sidecar"};
    Set(type, "class", Text(draw_.Of(kClasses)));
    may_not_end_ = true;
  }
  Set(MapAt(job_.document, "tasks"), name, std::move(type));
  job_.sketch.types.push_back({.name = name, .instances = instances});
}

void JobDrawer::DrawTasks() {
  const std::int64_t form = draw_.Whole(0, 9);
  servers_ = form < 3;
  independent_ = form >= 8;
  if (servers_) {
    AddType("ps", draw_.Whole(1, 2));
    if (draw_.Percent(70)) AddType("chief", 1);
    AddType("worker", draw_.Whole(1, 3));
  } else {
    if (draw_.Percent(25)) AddType("chief", 1);
    AddType("worker", draw_.Whole(1, 3));
  }
  if (independent_) Set(job_.document, "strategy", Text("independent"));
  if (Some(swarm_.side_types, 50)) AddType("evaluator", 1);
  if (Some(swarm_.side_types, 40)) AddType("tensorboard", 1);
  if (Some(swarm_.side_types, 30)) {
    AddType("prepare", 1);
    if (swarm_.depends || draw_.Percent(50)) {
      ListAt(job_.document, "depends")
          .items.push_back(Map({{"task", Text("worker")},
                                {"after", Text("prepare")},
                                {"state", Text("succeeded")}}));
    }
  }
}

const std::string& JobDrawer::NamedType() {
  return job_.sketch.named.emplace_back(draw_.Of(job_.sketch.types)).name;
}

// One that a rule names, rather than another.
std::string JobDrawer::AnyTask() {
  const std::vector<JobSketch::Type>& named = job_.sketch.named;
  const JobSketch::Type& type =
      draw_.Of(!named.empty() && draw_.Percent(40) ? named : job_.sketch.types);
  if (draw_.Percent(40)) return type.name;
  return type.name + ":" + std::to_string(draw_.Whole(0, type.instances - 1));
}

// ---------------------------------------------------------------- times, the gang, the AM

void JobDrawer::DrawDeadlines() {
  if (!swarm_.deadlines || around_.healthy) return;
  Node deadlines = Map();
  const auto some = [&](std::string_view key, int chance, Duration least, Duration most) {
    if (!draw_.Percent(chance)) return;
    // Beside what the cluster takes for a start, as often as any other.
    Duration time = draw_.Time(least, most);
    if (!around_.starts.empty() && draw_.Percent(30)) {
      // In this order with every compiler.
      const std::int64_t tenths = draw_.Whole(5, 15);
      time = std::clamp<Duration>(draw_.Of(around_.starts) * tenths / 10, least, most);
    }
    Set(deadlines, key, Time(time));
    job_.sketch.times.push_back(time);
  };
  some("registration", 40, 2s, 5min);
  if (deadlines.Find("registration") != nullptr) registration_ = job_.sketch.times.back();
  some("start", 40, 5s, 15min);
  if (draw_.Percent(50)) {
    run_deadline_ = draw_.Time(10s, 20min);
    Set(deadlines, "run", Time(run_deadline_));
  }
  some("stop", 50, 100ms, 1min);
  some("stop_broken", 30, 100ms, 20s);
  some("blame", 40, 100ms, 1min);
  some("nodes", 20, 1s, 10min);
  some("am_start", 30, 1s, 15min);
  if (deadlines.Find("am_start") != nullptr) am_start_ = 15min;
  some("orphan", 20, 30s, 30min);
  if (!deadlines.entries.empty()) Set(job_.document, "deadlines", std::move(deadlines));
}

void JobDrawer::DrawGang() {
  if (around_.hold != Duration::zero())
    return Set(job_.document, "gang", Map({{"hold", Time(around_.hold)}}));
  if (!swarm_.gang || around_.healthy) return;
  Node gang = Map();
  if (draw_.Percent(30)) Set(gang, "policy", Text("none"));
  if (draw_.Percent(40)) Set(gang, "deadline", Time(draw_.Time(10s, 30min)));
  if (draw_.Percent(40)) Set(gang, "hold", Time(draw_.Time(1s, 5min)));
  if (draw_.Percent(30)) {
    const Duration first = draw_.Time(100ms, 30s);
    Set(gang, "backoff", Map({{"first", Time(first)}, {"max", Time(first * 8)}}));
  }
  if (!gang.entries.empty()) Set(job_.document, "gang", std::move(gang));
}

void JobDrawer::DrawAm() {
  if (around_.healthy) return Set(job_.document, "am", Map({{"attempts", Number(8)}}));
  Node am = Map();
  if (draw_.Percent(30)) Set(am, "attempts", Number(draw_.Whole(1, 3)));
  if (draw_.Percent(15)) Set(am, "memory", Text(std::to_string(draw_.Whole(1, 4)) + "GiB"));
  if (!am.entries.empty()) Set(job_.document, "am", std::move(am));
}

void JobDrawer::DrawHeartbeat() {
  if (!swarm_.heartbeat) return;
  // No agent is given up for a slow network alone.
  const bool slow = around_.healthy || swarm_.delays;
  const Duration every = draw_.Time(slow ? Duration(1s) : Duration(100ms), 5s);
  const std::int64_t missed = draw_.Whole(around_.healthy ? 5 : 3, 8);
  Set(job_.document, "heartbeat", Map({{"every", Time(every)}, {"missed", Number(missed)}}));
  job_.sketch.times.push_back(every * missed);
}

/// Each start may wait for its gang, for agents, for processes; then it works, and stops. So often
/// as its budgets allow, in each application; sums of the largest values, not of those drawn. Where
/// no queue ever has room for its AM, all there is to end it is the client's patience.
Duration JobDrawer::Bound() const {
  const Duration once =
      2 * work_ + 30min + 5min + 15min + run_deadline_ + 10min + around_.expiries + 10min;
  const std::int64_t starts = 1 + user_ + std::min<std::int64_t>(infrastructure_, 20);
  return (once * (starts + 3) + am_start_) * (resubmit_ + 1);
}

Swarm Swarm::Of(Draw& draw) {
  Swarm swarm;
  // Few features show what happens without the others, many what happens between them.
  static const std::vector<int> kChances = {15, 35, 65};
  const int chance = draw.Of(kChances);
  for (bool* feature :
       {&swarm.queues,    &swarm.partitions, &swarm.gpus,    &swarm.side_types, &swarm.placement,
        &swarm.gang,      &swarm.policies,   &swarm.on_exit, &swarm.success,    &swarm.depends,
        &swarm.finish,    &swarm.watch,      &swarm.budgets, &swarm.deadlines,  &swarm.behavior,
        &swarm.heartbeat, &swarm.expiry,     &swarm.yarn,    &swarm.delays,     &swarm.two_jobs}) {
    *feature = draw.Percent(chance);
  }
  return swarm;
}

DrawnJob DrawJob(Draw& draw, const Swarm& swarm, const JobSurroundings& around,
                 const std::string& name) {
  return JobDrawer(draw, swarm, around, name).Finish();
}

}  // namespace tfyarn::explore
