#include "explore/job_drawer.h"

#include <algorithm>

namespace tfyarn::explore {
namespace {

const std::vector<std::int64_t> kExits = {0,   1,   2,   42,  75,  126, 127,
                                          130, 134, 137, 138, 139, 143, 255};
const std::vector<std::string> kSignals = {"KILL", "TERM", "SEGV", "ABRT", "INT", "HUP"};

class JobDrawer {
 public:
  JobDrawer(Draw& draw, const Swarm& swarm, const JobSurroundings& around, std::string name)
      : draw_(draw), swarm_(swarm), around_(around) {
    job_.sketch.name = std::move(name);
  }

  DrawnJob Finish() {
    Set(job_.document, "name", Text(job_.sketch.name));
    DrawTasks();
    DrawBudgets();
    DrawDeadlines();
    DrawGang();
    if (!around_.healthy) DrawRules();
    DrawTraining();
    DrawBehavior();
    DrawFinish();
    if (swarm_.heartbeat) {
      // A healthy job's agents are not given up for a slow network.
      const Duration every = draw_.Time(around_.healthy ? Duration(1s) : Duration(100ms), 5s);
      Set(job_.document, "heartbeat",
          Map({{"every", Time(every)},
               {"missed", Number(draw_.Whole(around_.healthy ? 5 : 3, 8))}}));
    }
    if (around_.queues.size() > 1) Set(job_.document, "queue", Text(draw_.Of(around_.queues)));
    if (draw_.Percent(20)) Set(job_.document, "priority", Number(draw_.Whole(0, 3)));
    if (draw_.Percent(40)) Set(job_.document, "submit", Time(draw_.Time(1ms, 2min)));
    if (may_not_end_ && run_deadline_ == Duration::zero()) {
      run_deadline_ = draw_.Time(1min, 20min);
      Set(MapAt(job_.document, "deadlines"), "run", Time(run_deadline_));
    }
    job_.bound = Bound();
    return std::move(job_);
  }

 private:
  bool Some(bool feature, int chance) { return feature && draw_.Percent(chance); }

  // ---------------------------------------------------------------- task types

  void AddType(const std::string& name, std::int64_t instances) {
    Node type = Map({{"instances", Number(instances)},
                     {"memory", Text(std::to_string(draw_.Whole(1, 4)) + "GiB")},
                     {"vcores", Number(draw_.Whole(1, 2))}});
    if (around_.gpus && name != "ps" && draw_.Percent(60)) Set(type, "gpus", Number(1));
    if (around_.partition && draw_.Percent(25)) Set(type, "node_label", Text("p"));
    if (Some(swarm_.placement, 40) && instances <= around_.nodes)
      Set(type, "placement", Map({{"spread", Text("node")}}));
    Set(MapAt(job_.document, "tasks"), name, std::move(type));
    job_.sketch.types.push_back({.name = name, .instances = instances});
  }

  void DrawTasks() {
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

  const std::string& AnyType() { return draw_.Of(job_.sketch.types).name; }
  std::string AnyTask() {
    const JobSketch::Type& type = draw_.Of(job_.sketch.types);
    if (draw_.Percent(40)) return type.name;
    return type.name + ":" + std::to_string(draw_.Whole(0, type.instances - 1));
  }

  // ---------------------------------------------------------------- rules

  void DrawBudgets() {
    if (around_.healthy) {
      if (draw_.Percent(30))
        Set(job_.document, "retries", Map({{"user", Number(draw_.Whole(0, 3))}}));
      Set(job_.document, "am", Map({{"attempts", Number(8)}}));
      return;
    }
    if (swarm_.budgets) {
      Node retries = Map();
      user_ = draw_.Whole(0, 3);
      infrastructure_ = draw_.Percent(50) ? draw_.Whole(0, 3) : draw_.Whole(3, 20);
      Set(retries, "user", Number(user_));
      Set(retries, "infrastructure", Number(infrastructure_));
      if (draw_.Percent(30)) Set(retries, "window", Time(draw_.Time(1s, 20min)));
      if (draw_.Percent(25)) {
        resubmit_ = draw_.Whole(1, 2);
        Set(retries, "resubmit", Number(resubmit_));
      }
      Set(job_.document, "retries", std::move(retries));
    }
    if (draw_.Percent(30)) Set(job_.document, "am", Map({{"attempts", Number(draw_.Whole(1, 3))}}));
  }

  void DrawDeadlines() {
    if (!swarm_.deadlines || around_.healthy) return;
    Node deadlines = Map();
    if (draw_.Percent(40)) Set(deadlines, "registration", Time(draw_.Time(2s, 5min)));
    if (draw_.Percent(40)) Set(deadlines, "start", Time(draw_.Time(5s, 15min)));
    if (draw_.Percent(50)) {
      run_deadline_ = draw_.Time(10s, 20min);
      Set(deadlines, "run", Time(run_deadline_));
    }
    if (draw_.Percent(50)) Set(deadlines, "stop", Time(draw_.Time(100ms, 1min)));
    if (draw_.Percent(30)) Set(deadlines, "stop_broken", Time(draw_.Time(100ms, 20s)));
    if (draw_.Percent(40)) Set(deadlines, "blame", Time(draw_.Time(100ms, 1min)));
    if (draw_.Percent(20)) Set(deadlines, "nodes", Time(draw_.Time(1s, 10min)));
    if (!deadlines.entries.empty()) Set(job_.document, "deadlines", std::move(deadlines));
  }

  void DrawGang() {
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

  void DrawRules() {
    if (Some(swarm_.policies, 60)) DrawPolicy();
    if (Some(swarm_.on_exit, 70)) {
      Node rows = List();
      for (std::int64_t n = draw_.Whole(1, 2); n > 0; --n) rows.items.push_back(ExitRule());
      Set(job_.document, "on_exit", std::move(rows));
    }
    if (Some(swarm_.success, 60)) {
      const std::string& type = AnyType();
      const std::vector<std::string> forms = {"ok(" + type + ")",
                                              "any(" + type + ")",
                                              "ok(worker:0)",
                                              "count(" + type + ") >= 1",
                                              "done(" + type + ")",
                                              "ok(tracked)",
                                              "failed(tracked) < 2",
                                              "ok(worker) and failed(" + type + ") < 2",
                                              "ok(worker:0) or any(" + type + ")"};
      Set(job_.document, "success", Text(draw_.Of(forms)));
      may_not_end_ = true;
    }
    if (Some(swarm_.watch, 70)) {
      static const std::vector<std::string> kDo = {"restart-gang", "restart-task", "fail",
                                                   "ignore"};
      Set(job_.document, "watch",
          Map({{"progress", Text("step (\\d+)")},
               {"stalled", Time(draw_.Time(6s, 5min))},
               {"do", Text(draw_.Of(kDo))}}));
    }
    if (Some(swarm_.depends, 50) && job_.sketch.types.size() > 1) {
      const std::string& task = job_.sketch.types.back().name;
      const std::string& after = job_.sketch.types.front().name;
      static const std::vector<std::string> kStates = {"running", "ended", "succeeded"};
      Node row =
          Map({{"task", Text(task)}, {"after", Text(after)}, {"state", Text(draw_.Of(kStates))}});
      if (draw_.Percent(40)) {
        Set(row, "within", Time(draw_.Time(1s, 5min)));
        if (draw_.Percent(40)) Set(row, "do", Text("ignore"));
      }
      if (job_.document.Find("depends") == nullptr)
        Set(job_.document, "depends", List({std::move(row)}));
      may_not_end_ = true;
    }
  }

  void DrawPolicy() {
    static const std::vector<std::string> kPolicies = {"tony", "tf-yarn", "tfjob"};
    const std::string& name = draw_.Of(kPolicies);
    Node policy = Map({{"name", Text(name)}});
    if (name == "tony") {
      if (draw_.Percent(30)) Set(policy, "fail_on_worker_failure", Flag(true));
      if (draw_.Percent(40)) Set(policy, "retry_count", Number(draw_.Whole(0, 3)));
      if (draw_.Percent(25)) Set(policy, "stop_on_failure", Text(AnyType()));
      if (draw_.Percent(25)) Set(policy, "untracked", Text(AnyType()));
    } else if (name == "tf-yarn") {
      if (draw_.Percent(50)) Set(policy, "propagate", Text("late"));
    } else {
      static const std::vector<std::string> kRestart = {"Never", "OnFailure", "Always", "ExitCode"};
      Set(policy, "restart_policy", Text(draw_.Of(kRestart)));
      if (draw_.Percent(30)) Set(policy, "success_policy", Text("AllWorkers"));
      if (draw_.Percent(50)) Set(policy, "backoff_limit", Number(draw_.Whole(0, 4)));
      if (draw_.Percent(20)) Set(policy, "enable_dynamic_worker", Flag(true));
    }
    Set(job_.document, "policy", std::move(policy));
    may_not_end_ = true;
  }

  Node ExitRule() {
    static const std::vector<std::string> kDo = {
        "ignore", "tally", "restart-task", "restart-type", "fail", "succeed", "restart-gang"};
    static const std::vector<std::string> kClasses = {
        "user-permanent", "user-retryable", "oom",          "signal-crash",   "killed-external",
        "preempted",      "node-lost",      "launch-error", "heartbeat-lost", "timeout"};
    static const std::vector<std::string> kPays = {"none", "user", "infrastructure"};
    Node row = Map();
    if (draw_.Percent(40)) Set(row, "task", Text(AnyType()));
    if (draw_.Percent(50)) {
      Set(row, "class", List({Text(draw_.Of(kClasses))}));
    } else if (draw_.Percent(60)) {
      Set(row, "exit", List({Number(draw_.Of(kExits))}));
    }
    const std::string& what = draw_.Of(kDo);
    Set(row, "do", Text(what));
    if (what.starts_with("restart") && draw_.Percent(30)) {
      // A restart that no budget pays may go on for as long as the job runs.
      Set(row, "pays", Text(draw_.Of(kPays)));
    }
    may_not_end_ = true;
    return row;
  }

  // ---------------------------------------------------------------- workload

  void DrawTraining() {
    work_ = draw_.Time(1s, 10min);
    Node training = Map({{"steps", Number(std::max<std::int64_t>(1, work_ / 100ms))},
                         {"step_time", Text("100ms")}});
    if (draw_.Percent(60)) {
      Set(training, "checkpoint",
          Map({{"every", Time(draw_.Time(1s, 2min))}, {"cost", Time(draw_.Time(10ms, 2s))}}));
    }
    if (draw_.Percent(40)) Set(training, "restore", Time(draw_.Time(100ms, 10s)));
    if (!around_.healthy && Some(swarm_.behavior, 15)) {
      Set(training, "peer_loss", Text("none"));
      may_not_end_ = true;
    }
    Set(job_.document, "training", std::move(training));
  }

  /// When what the row says happens: soon, or in the midst of the training.
  Node SomeTime() { return Time(draw_.Time(10ms, std::max<Duration>(work_, 20ms))); }

  Node Row() {
    Node row = Map();
    if (draw_.Percent(80)) Set(row, "task", Text(AnyTask()));
    if (draw_.Percent(60)) Set(row, "attempt", Number(draw_.Whole(0, 2)));
    if (draw_.Percent(30)) Set(row, "start", Time(draw_.Time(1ms, 20s)));
    switch (draw_.Whole(0, 5)) {
      case 0:
        Set(row, "exit", Number(draw_.Of(kExits)));
        if (draw_.Percent(80)) Set(row, "after", SomeTime());
        may_not_end_ = true;  // With 0, its peers may wait for it.
        break;
      case 1:
        Set(row, "signal", Text(draw_.Of(kSignals)));
        if (draw_.Percent(80)) Set(row, "after", SomeTime());
        break;
      case 2:
        Set(row, "hang", Flag(true));
        Set(row, "after", SomeTime());
        may_not_end_ = true;
        break;
      case 3:
        Set(row, "runs", SomeTime());
        if (draw_.Percent(40)) Set(row, "exit", Number(draw_.Of(kExits)));
        may_not_end_ = true;
        break;
      case 4:
        Set(row, "on_term",
            draw_.Percent(30) ? Map({{"ignore", Flag(true)}})
                              : Map({{"after", Time(draw_.Time(10ms, 30s))},
                                     {"exit", Number(draw_.Of(kExits))},
                                     {"checkpoint", Flag(draw_.Percent(50))}}));
        break;
      default:
        Set(row, "runs", Text("forever"));
        may_not_end_ = true;
    }
    return row;
  }

  void DrawBehavior() {
    Node rows = List();
    if (!around_.healthy && Some(swarm_.behavior, 80)) {
      for (std::int64_t n = draw_.Whole(1, 3); n > 0; --n) rows.items.push_back(Row());
    }
    for (const JobSketch::Type& type : job_.sketch.types) {
      if (type.name == "ps" || type.name == "tensorboard")
        rows.items.push_back(Map({{"task", Text(type.name)}, {"runs", Text("forever")}}));
      if (type.name == "prepare")
        rows.items.push_back(
            Map({{"task", Text(type.name)}, {"runs", Time(draw_.Time(1s, 1min))}}));
    }
    if (Some(swarm_.finish, 20)) {
      rows.items.push_back(Map({{"task", Text("worker")}, {"writes", List({Text("model.bin")})}}));
    }
    if (!rows.items.empty()) Set(job_.document, "behavior", std::move(rows));
  }

  void DrawFinish() {
    if (!swarm_.finish) return;
    Node finish = Map();
    if (draw_.Percent(60)) Set(finish, "drain", Map({{AnyType(), Time(draw_.Time(100ms, 5min))}}));
    if (!around_.healthy && draw_.Percent(20))
      Set(finish, "require", List({Map({{"path", Text("model.bin")}})}));
    if (!finish.entries.empty()) Set(job_.document, "finish", std::move(finish));
  }

  /// Each start may wait for its gang, for agents, for processes; then it works, and stops. So
  /// often as its budgets allow, in each application; sums of the largest values, not of those
  /// drawn.
  [[nodiscard]] Duration Bound() const {
    const Duration once =
        2 * work_ + 30min + 5min + 15min + run_deadline_ + 10min + around_.expiries + 10min;
    const std::int64_t starts = 1 + user_ + std::min<std::int64_t>(infrastructure_, 20);
    return once * (resubmit_ + 1) * (starts + 3);
  }

  Draw& draw_;
  const Swarm& swarm_;
  const JobSurroundings& around_;
  DrawnJob job_{.document = Map()};
  bool servers_ = false;
  bool independent_ = false;
  bool may_not_end_ = false;  ///< Only `deadlines.run` ends it for sure.
  Duration work_{};
  Duration run_deadline_{};
  std::int64_t user_ = 0;
  std::int64_t infrastructure_ = 20;
  std::int64_t resubmit_ = 0;
};

}  // namespace

Swarm Swarm::Of(Draw& draw) {
  Swarm swarm;
  for (bool* feature :
       {&swarm.queues,    &swarm.partitions, &swarm.gpus,    &swarm.side_types, &swarm.placement,
        &swarm.gang,      &swarm.policies,   &swarm.on_exit, &swarm.success,    &swarm.depends,
        &swarm.finish,    &swarm.watch,      &swarm.budgets, &swarm.deadlines,  &swarm.behavior,
        &swarm.heartbeat, &swarm.expiry,     &swarm.yarn,    &swarm.delays,     &swarm.two_jobs}) {
    *feature = draw.Percent(35);
  }
  return swarm;
}

DrawnJob DrawJob(Draw& draw, const Swarm& swarm, const JobSurroundings& around,
                 const std::string& name) {
  return JobDrawer(draw, swarm, around, name).Finish();
}

}  // namespace tfyarn::explore
