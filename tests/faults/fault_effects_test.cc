// What each kind of fault does, as the trace shows it: when its effect begins, when it ends, that a
// second fault of its kind within it does not end it, and that there is no such effect without it.
// When and whom a fault strikes is fault_plan_test.cc's. A kind without a row here fails the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/byte_source.h"
#include "config/fault_kinds.h"
#include "tests/unit/sim/small_run.h"

namespace tfyarn::sim::fault_effects_test {
namespace {

/// The ApplicationMaster and worker:0 run on n-1, worker:1 on n-3, and nothing on n-2. Training
/// goes from 2.17 s to 122.2 s, with a checkpoint every 10 s.
constexpr const char* kScenario = R"(name: effects
horizon: 2h
cluster: {racks: 1, nodes: [{name: n, count: 3, labels: [any], resources: {memory: 16GiB, vcores: 8, gpus: 2}}]}
yarn: {expiry: {nm: 10s, am: 60s}}
jobs:
  - name: a
    tasks:
      worker: {instances: 2, memory: 2GiB, vcores: 1, gpus: 1, placement: {spread: node}}
    retries: {user: 50, infrastructure: 50}
    am: {attempts: 4}
    training: {steps: 1200, step_time: 100ms, checkpoint: {every: 10s, cost: 1ms}}
)";
constexpr const char* kTrace =
    "System,nodenumz,Prob Started,Prob Fixed,Down Time\n"
    "2,1,6/21/2005 10:54,6/21/2005 10:56,2\n"
    "2,4,6/21/2005 10:55,6/21/2005 10:57,2\n";

SmallRun RunWith(const std::vector<std::string>& faults, bool elide = true) {
  std::string text = kScenario;
  if (!faults.empty()) text += "faults:\n";
  for (const std::string& fault : faults) text += "  - {" + fault + "}\n";
  return SmallRun(text, elide,
                  {.open = [](const std::string&) { return config::OpenBytes(kTrace); }});
}

const SmallRun& Undisturbed() {
  static const SmallRun run = RunWith({});
  return run;
}

double Late(const SmallRun& run) {
  return run.Took() - Undisturbed().Took();
}

bool Near(double got, double want, double tolerance = 0.5) {
  return std::abs(got - want) <= tolerance;
}

bool Near(const Times& got, const Times& want, double tolerance = 0.5) {
  return got.size() == want.size() &&
         std::equal(got.begin(), got.end(), want.begin(),
                    [&](double a, double b) { return Near(a, b, tolerance); });
}

/// The first of these at or after `from`; -1 when there is none.
double First(const Times& times, double from = 0) {
  const auto found = std::lower_bound(times.begin(), times.end(), from);
  return found == times.end() ? -1 : *found;
}

bool Within(double got, double least, double most) {
  return got >= least && got <= most;
}

/// When the AM heard that the node is in this state.
Times Heard(const SmallRun& run, const std::string& host, yarn::NodeState state) {
  return run.Told<RmReplied>([&](const RmReplied& reply) {
    const auto* response = std::get_if<yarn::AllocateResponse>(&reply.response);
    return response != nullptr &&
           std::any_of(response->updated_nodes.begin(), response->updated_nodes.end(),
                       [&](const yarn::NodeReport& node) {
                         return node.node.host == host && node.state == state;
                       });
  });
}

/// When the RM took containers back with this exit status.
Times Freed(const SmallRun& run, std::int32_t status) {
  return run.When<trace::ContainerFreed>(
      [status](const trace::ContainerFreed& freed) { return freed.exit_status == status; });
}

/// When capacities were said that have so many GPUs, after the start.
Times Capacities(const SmallRun& run, std::int64_t gpus) {
  Times times = run.When<trace::NodeDeclared>(
      [gpus](const trace::NodeDeclared& node) { return node.capacity.gpus == gpus; });
  std::erase(times, 0);
  return times;
}

template <class Message>
Times Sent(const SmallRun& run) {
  return run.When<trace::AgentOrdered>([](const trace::AgentOrdered& ordered) {
    const auto* send = std::get_if<SendToAm>(&ordered.action);
    return send != nullptr && std::holds_alternative<Message>(send->message);
  });
}

template <class Message>
Times Arrived(const SmallRun& run) {
  return run.Told<AgentSaid>(
      [](const AgentSaid& said) { return std::holds_alternative<Message>(said.message); });
}

template <class Response>
Times Answered(const SmallRun& run) {
  return run.Told<RmReplied>(
      [](const RmReplied& reply) { return std::holds_alternative<Response>(reply.response); });
}

Times Exits(const SmallRun& run, const std::function<bool(const ProcessExited&)>& fits) {
  return run.AgentTold<ProcessExited>(fits);
}

Times ExitsWithCode(const SmallRun& run, std::int32_t code) {
  return Exits(run, [code](const ProcessExited& exited) { return exited.exit.code == code; });
}

Times Launches(const SmallRun& run) {
  return run.When<trace::ContainerLaunched>();
}

/// When the user's processes of a task were recorded as ended.
Times TaskEnds(const SmallRun& run) {
  return run.Ordered<TaskAttemptEnded>();
}

Times ClientExits(const SmallRun& run) {
  return run.When<trace::ClientOrdered>([](const trace::ClientOrdered& ordered) {
    return std::holds_alternative<ExitClient>(ordered.action);
  });
}

/// What true clocks showed when the run began.
WallTime SimulatedStart() {
  const auto& started = std::get<AmStarted>(
      std::get<trace::AmTold>(
          std::find_if(Undisturbed().records().begin(), Undisturbed().records().end(),
                       [](const trace::TraceRecord& record) {
                         return std::holds_alternative<trace::AmTold>(record.fact);
                       })
              ->fact)
          .event);
  return started.wall - 10s;
}

struct Row {
  std::string kind;
  std::string shows;
  std::vector<std::string> faults;
  std::function<bool(const SmallRun&)> effect;
};

const std::vector<Row>& Rows() {
  using yarn::NodeState;
  static const std::vector<Row> rows = {
      {"node_crash",
       "the node is down until the last of the faults has ended",
       {"kind: node_crash, at: 20s, target: {node: n-3}, for: 50s",
        "kind: node_crash, at: 30s, target: {node: n-3}, for: 10s"},
       [](const SmallRun& run) {
         return Near(run.Power("n-3", false), {20}) && Near(run.Power("n-3", true), {70}) &&
                run.job().restarts.task + run.job().restarts.gang > 0;
       }},
      {"node_crash",
       "the node of an AM",
       {"kind: node_crash, at: 20s, target: {am: a}, for: 10s"},
       [](const SmallRun& run) {
         return Near(run.Power("n-1", false), {20}) && Near(run.Power("n-1", true), {30}) &&
                run.job().am_attempts == 2;
       }},
      {"node_crash",
       "as many nodes of a label, at random",
       {"kind: node_crash, at: 20s, target: {random: 2, of: {label: any}}, for: 10s"},
       [](const SmallRun& run) {
         const auto down = [](const trace::NodePower& power) { return !power.up; };
         return Near(run.When<trace::NodePower>(down), {20, 20});
       }},
      {"node_reboot",
       "the node of a task is down, and no other fault's end starts it",
       {"kind: node_reboot, at: 20s, target: {job: a, task: \"worker:1\"}, for: 10s",
        "kind: node_crash, at: 25s, target: {node: n-3}, for: 40s"},
       [](const SmallRun& run) {
         return Near(run.Power("n-3", false), {20}) && Near(run.Power("n-3", true), {65});
       }},
      {"node_decommission",
       "containers go on for the time of grace, and the node comes back",
       {"kind: node_decommission, at: 20s, target: {node: n-3}, graceful: 20s, for: 60s",
        "kind: node_decommission, at: 22s, target: {node: n-3}, graceful: 1h, for: 5s"},
       [](const SmallRun& run) {
         return Near(Freed(run, -100), {40}, 1.1) &&
                Near(Heard(run, "n-3", NodeState::kDecommissioned), {40}, 1.1) &&
                Near(First(Heard(run, "n-3", NodeState::kRunning), 21), 80, 2.1);
       }},
      {"node_decommission",
       "at once, and what ran there is gone",
       {"kind: node_decommission, at: 20s, target: {node: n-3}"},
       [](const SmallRun& run) {
         return Near(Freed(run, -100), {20}, 1.1) &&
                Near(First(run.When<trace::ContainerGone>(), 20), 20, 2);
       }},
      {"node_decommission",
       "a node that has not registered yet is refused",
       {"kind: node_decommission, at: 0s, target: {node: n-1}, for: 60s"},
       [](const SmallRun& run) {
         return run
             .When<trace::ContainerGranted>(
                 [](const trace::ContainerGranted& granted) { return granted.node.host == "n-1"; })
             .empty();
       }},
      {"node_decommission",
       "an RM that starts meanwhile knows of it",
       {"kind: rm_restart, at: 20s, for: 10s",
        "kind: node_decommission, at: 25s, target: {node: n-3}"},
       [](const SmallRun& run) {
         return !Within(First(run.When<trace::ContainerGranted>(
                                  [](const trace::ContainerGranted& granted) {
                                    return granted.node.host == "n-3";
                                  }),
                              25),
                        25, 1e9) &&
                run.job().restarts.task + run.job().restarts.gang > 0;
       }},
      {"node_unhealthy",
       "what runs there ends, and nothing starts until the last of the faults has ended",
       {"kind: node_unhealthy, at: 20s, target: {node: n-3}, for: 50s",
        "kind: node_unhealthy, at: 25s, target: {node: n-3}, for: 2s"},
       [](const SmallRun& run) {
         return Near(Freed(run, -100), {20}, 1.1) &&
                Near(Heard(run, "n-3", NodeState::kUnhealthy), {20}, 1.1) &&
                Near(First(run.When<trace::ContainerGone>(), 20), 22, 2.1) &&
                Near(First(Heard(run, "n-3", NodeState::kRunning), 21), 70, 2.1);
       }},
      {"node_unhealthy",
       "a NodeManager that registers with another RM says it again",
       {"kind: node_unhealthy, at: 20s, target: {node: n-3}, for: 50s",
        "kind: rm_restart, at: 30s, for: 5s"},
       [](const SmallRun& run) {
         return Within(First(Heard(run, "n-3", NodeState::kUnhealthy), 35), 35, 47.5) &&
                Within(First(Heard(run, "n-3", NodeState::kRunning), 60), 70, 72.1);
       }},
      {"node_unhealthy",
       "a NodeManager that starts anew says it again",
       {"kind: node_unhealthy, at: 20s, target: {node: n-3}, for: 50s",
        "kind: rm_restart, at: 30s, for: 5s", "kind: nm_restart, at: 31s, target: {node: n-3}"},
       [](const SmallRun& run) {
         return Within(First(Heard(run, "n-3", NodeState::kUnhealthy), 35), 41, 44) &&
                Within(First(Heard(run, "n-3", NodeState::kRunning), 60), 70, 72.1);
       }},
      {"disk_full",
       "nothing is fetched until the last of the faults has ended",
       {"kind: disk_full, when: {job: a, state: allocating}, target: nodes, noticed: 1h, for: 10s",
        "kind: disk_full, when: {job: a, state: allocating}, target: nodes, noticed: 1h, for: 2s"},
       [](const SmallRun& run) { return Within(First(Launches(run), 1), 10.7, 60); }},
      {"disk_full",
       "what runs goes on until it is noticed",
       {"kind: disk_full, at: 20s, target: {node: n-3}, noticed: 15s, for: 60s"},
       [](const SmallRun& run) {
         return Near(Freed(run, -100), {35}, 1.1) &&
                Near(Heard(run, "n-3", NodeState::kUnhealthy), {35}, 1.1) &&
                Near(First(Heard(run, "n-3", NodeState::kRunning), 21), 80, 2.1);
       }},
      {"disks_failed",
       "what was fetched before cannot be launched",
       {"kind: disks_failed, at: 1800ms, target: nodes, noticed: 1h, for: 10s"},
       [](const SmallRun& run) { return !Freed(run, -101).empty(); }},
      {"disks_failed",
       "what runs goes on until it is noticed",
       {"kind: disks_failed, at: 20s, target: {node: n-3}, noticed: 15s"},
       [](const SmallRun& run) {
         return Near(Freed(run, -100), {35}, 1.1) &&
                Heard(run, "n-3", NodeState::kUnhealthy).size() == 1 &&
                First(Heard(run, "n-3", NodeState::kRunning), 21) < 0;
       }},
      {"slow_node",
       "factors multiply while faults overlap",
       {"kind: slow_node, at: 22s, target: {node: n-1}, factor: 2, for: 40s",
        "kind: slow_node, at: 32s, target: {node: n-1}, factor: 3, for: 10s"},
       [](const SmallRun& run) { return Near(Late(run), 23.33); }},
      {"nm_restart",
       "the NM is down until the last of the faults has ended",
       {"kind: nm_restart, at: 20s, target: {node: n-3}, for: 30s",
        "kind: nm_restart, at: 25s, target: {node: n-3}, for: 2s"},
       [](const SmallRun& run) {
         return Near(First(Heard(run, "n-3", NodeState::kLost)), 30, 2.1) &&
                Near(First(Heard(run, "n-3", NodeState::kRunning), 21), 50, 2.1);
       }},
      {"nm_restart",
       "a node that comes back waits for its NM",
       {"kind: nm_restart, at: 20s, target: {node: n-3}, for: 40s",
        "kind: node_crash, at: 25s, target: {node: n-3}, for: 5s"},
       [](const SmallRun& run) {
         return Near(First(Heard(run, "n-3", NodeState::kRunning), 21), 60, 2.1);
       }},
      {"nm_restart",
       "without recovery its containers end",
       {"kind: nm_restart, at: 20s, target: {node: n-3}, for: 2s, recover: false"},
       [](const SmallRun& run) { return Near(First(run.When<trace::ContainerGone>()), 20, 0.1); }},
      {"nm_heartbeat_loss",
       "the RM hears nothing until the last of the faults has ended",
       {"kind: nm_heartbeat_loss, at: 20s, target: {node: n-3}, for: 50s",
        "kind: nm_heartbeat_loss, at: 25s, target: {node: n-3}, for: 2s",
        "kind: nm_restart, at: 26s, target: {node: n-3}, for: 2s"},
       [](const SmallRun& run) {
         return Near(First(Heard(run, "n-3", NodeState::kLost)), 30, 2.1) &&
                Within(First(Heard(run, "n-3", NodeState::kRunning), 21), 70, 92);
       }},
      {"launch_fail",
       "so many launches on each node",
       {"kind: launch_fail, when: {job: a, state: allocating}, target: nodes, count: 1"},
       [](const SmallRun& run) {
         const std::size_t fetched = run.When<trace::ContainerLocalizing>().size();
         return Within(static_cast<double>(fetched - Launches(run).size()), 2, 3);
       }},
      {"launch_fail",
       "every launch until the last of the faults has ended",
       {"kind: launch_fail, when: {job: a, state: allocating}, target: nodes, for: 10s",
        "kind: launch_fail, when: {job: a, state: allocating}, target: nodes, for: 2s"},
       [](const SmallRun& run) { return Within(First(Launches(run), 1), 10.7, 60); }},
      {"localize_fail",
       "so many localizations on each node",
       {"kind: localize_fail, when: {job: a, state: allocating}, target: nodes, count: 1"},
       [](const SmallRun& run) {
         const std::size_t fetched = run.When<trace::ContainerLocalizing>().size();
         return Within(static_cast<double>(fetched - Launches(run).size()), 2, 3);
       }},
      {"localize_fail",
       "every localization until the last of the faults has ended",
       {"kind: localize_fail, when: {job: a, state: allocating}, target: nodes, for: 10s",
        "kind: localize_fail, when: {job: a, state: allocating}, target: nodes, for: 2s"},
       [](const SmallRun& run) { return Within(First(Launches(run), 1), 10.7, 60); }},
      {"localize_slow",
       "from the start until the last of the faults has ended",
       {"kind: localize_slow, target: nodes, factor: 10, for: 7s",
        "kind: localize_slow, at: 1s, target: nodes, factor: 2, for: 2s"},
       [](const SmallRun& run) {
         // 500 ms undisturbed; the AM's, then those of the workers.
         return Near(First(Launches(run)), 5.26, 0.1) && Near(Launches(run).back(), 11.7, 1.1);
       }},
      {"rm_restart",
       "the RM is down until the last of the faults has ended",
       {"kind: rm_restart, at: 20s, for: 20s", "kind: rm_restart, at: 25s, for: 2s"},
       [](const SmallRun& run) {
         const Times again = run.Ordered<CallRm>([](const CallRm& call) {
           return std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request);
         });
         return again.size() >= 2 && Within(again.back(), 40, 52);
       }},
      {"rm_failover",
       "no RM answers until the last of the faults has ended",
       {"kind: rm_failover, at: 20s, for: 20s", "kind: rm_restart, at: 25s, for: 2s"},
       [](const SmallRun& run) {
         const Times again = run.Ordered<CallRm>([](const CallRm& call) {
           return std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request);
         });
         return again.size() >= 2 && Within(again.back(), 40, 52);
       }},
      {"rm_slow",
       "a call and its answer take longer while the faults last",
       {"kind: rm_slow, at: 0s, delay: 2s, for: 1m", "kind: rm_slow, at: 0s, delay: 1s, for: 1ms"},
       [](const SmallRun& run) {
         // The client's two calls are before it.
         return Within(First(run.When<trace::ContainerGranted>()), 10, 14.2);
       }},
      {"rm_pause",
       "the RM answers when the last of the faults has ended",
       {"kind: rm_pause, at: 20s, for: 20s", "kind: rm_pause, at: 25s, for: 2s",
        "kind: client_kill, at: 30s, target: {job: a}"},
       [](const SmallRun& run) {
         return Near(First(run.When<trace::ApplicationEnded>()), 40, 0.5);
       }},
      {"rm_drop_response",
       "the caller hears nothing of one call",
       {"kind: rm_drop_response, at: 30s, target: {am: a}, method: Allocate, count: 1"},
       [](const SmallRun& run) { return Near(Answered<yarn::RpcError>(run), {50.5}, 1); }},
      {"rm_duplicate_response",
       "one answer comes twice",
       {"kind: rm_duplicate_response, method: RegisterApplicationMaster"},
       [](const SmallRun& run) {
         return Answered<yarn::RegisterApplicationMasterResponse>(run).size() == 2;
       }},
      {"am_resync",
       "the AM registers again, and keeps what it has",
       {"kind: am_resync, at: 30s, target: {am: a}"},
       [](const SmallRun& run) {
         const Times again = run.Ordered<CallRm>([](const CallRm& call) {
           return std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request);
         });
         return again.size() == 2 && Within(again.back(), 30, 31.5) && Near(Late(run), 0);
       }},
      {"token_expiry",
       "the AM ends, and another attempt takes over",
       {"kind: token_expiry, at: 30s, target: {am: a}"},
       [](const SmallRun& run) {
         const Times starts = run.Told<AmStarted>();
         return starts.size() == 2 && Within(starts[1], 30, 36) && run.job().am_attempts == 2;
       }},
      {"am_crash",
       "another attempt takes over",
       {"kind: am_crash, at: 30s, target: {am: a}"},
       [](const SmallRun& run) {
         const Times starts = run.Told<AmStarted>();
         return starts.size() == 2 && Within(starts[1], 30, 34);
       }},
      {"am_pause",
       "the AM does nothing until the last of the faults has ended",
       {"kind: am_pause, at: 30s, target: {am: a}, for: 20s",
        "kind: am_pause, at: 33s, target: {am: a}, for: 2s",
        "kind: container_exit, at: 40s, target: {job: a, task: \"worker:0\"}, exit: 7"},
       [](const SmallRun& run) { return Near(First(TaskEnds(run)), 50, 0.5); }},
      {"container_exit",
       "one task's process ends",
       {"kind: container_exit, at: 30s, target: {job: a, task: \"worker:0\"}, exit: 7"},
       [](const SmallRun& run) { return Near(ExitsWithCode(run, 7), {30}, 0.01); }},
      {"container_exit",
       "those of a job",
       {"kind: container_exit, at: 30s, target: {job: a}, exit: 7"},
       [](const SmallRun& run) {
         return Near(ExitsWithCode(run, 7), {30, 30}, 0.01);
       }},
      {"container_exit",
       "some of a job, at random",
       {"kind: container_exit, at: 30s, target: {random: 1, of: {job: a}}, exit: 7"},
       [](const SmallRun& run) { return Near(ExitsWithCode(run, 7), {30}, 0.01); }},
      {"container_signal",
       "the process ends by the signal",
       {"kind: container_signal, at: 30s, target: {job: a, task: \"worker:0\"}, signal: SEGV"},
       [](const SmallRun& run) {
         return Near(Exits(run, [](const ProcessExited& e) { return e.exit.signal == 11; }), {30},
                     0.01);
       }},
      {"container_oom",
       "the agent sees the proof",
       {"kind: container_oom, at: 30s, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) {
         return Near(Exits(run, [](const ProcessExited& e) { return e.exit.out_of_memory; }), {30},
                     0.01);
       }},
      {"container_vmem",
       "the NM reports -103",
       {"kind: container_vmem, at: 30s, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) { return Near(Freed(run, -103), {30}, 1.1); }},
      {"container_lost",
       "the RM reports -100, and the node is there",
       {"kind: container_lost, at: 30s, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) { return Near(Freed(run, -100), {30}, 1.1); }},
      {"preempt",
       "a notice: the AM ends the task in time",
       {"kind: preempt, at: 30s, target: {job: a, task: \"worker:1\"}, notice: 5s"},
       [](const SmallRun& run) {
         const auto preempted = [](const TaskAttemptEnded& ended) {
           return ended.exit_class == ExitClass::kPreempted;
         };
         return Near(run.Ordered<TaskAttemptEnded>(preempted), {30.5}, 0.6) &&
                Near(Freed(run, -105), {30.5}, 0.6);
       }},
      {"preempt",
       "no notice: the RM takes the container",
       {"kind: preempt, at: 30s, target: {job: a, task: \"worker:1\"}, notice: 0s"},
       [](const SmallRun& run) { return Near(Freed(run, -102), {30}, 1.1); }},
      {"hang",
       "processes stand still until the last of the faults has ended",
       {"kind: hang, at: 30s, target: {job: a}, for: 20s",
        "kind: hang, at: 35s, target: {job: a}, for: 5s"},
       [](const SmallRun& run) { return Near(Late(run), 20); }},
      {"hang",
       "a stopped process that is also busy goes on when both have ended",
       {"kind: hang, at: 30s, target: {job: a}, state: busy, for: 20s",
        "kind: hang, at: 35s, target: {job: a}, for: 5s"},
       [](const SmallRun& run) { return Near(Late(run), 20); }},
      {"hang",
       "the end concerns no later process of the task",
       {"kind: hang, at: 30s, target: {job: a}, for: 25s",
        "kind: container_signal, at: 31s, target: {job: a, task: \"worker:0\"}",
        "kind: hang, at: 45s, target: {job: a}, for: 20s"},
       [](const SmallRun& run) { return Within(Late(run), 28, 34); }},
      {"port_in_use",
       "the task's first process finds its port taken",
       {"kind: port_in_use, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) {
         return Exits(run, [](const ProcessExited& e) { return e.port_conflict; }).size() == 1;
       }},
      {"client_kill",
       "the job is killed",
       {"kind: client_kill, at: 30s, target: {job: a}"},
       [](const SmallRun& run) {
         return run.job().status == JobStatus::kKilled && Near(run.Took(), 30, 2);
       }},
      {"client_lost",
       "a new client takes over when the last of the faults has ended",
       {"kind: client_lost, at: 20s, target: {job: a}, for: 130s",
        "kind: client_lost, at: 30s, target: {job: a}, for: 5s"},
       [](const SmallRun& run) { return Near(ClientExits(run), {150}, 1); }},
      {"client_lost",
       "a client that is gone submits nothing",
       {"kind: client_lost, at: 1ms, target: {job: a}, for: 30s"},
       [](const SmallRun& run) {
         return Within(First(run.When<trace::ContainerGranted>()), 30, 34) &&
                run.job().status == JobStatus::kSucceeded;
       }},
      {"client_lost",
       "for ever: the job goes on without",
       {"kind: client_lost, at: 20s, target: {job: a}"},
       [](const SmallRun& run) {
         return ClientExits(run).empty() && run.job().status == JobStatus::kSucceeded;
       }},
      {"client_suspend",
       "the client says nothing until the last of the faults has ended, and then goes on",
       {"kind: client_suspend, at: 100s, target: {job: a}, for: 60s",
        "kind: client_suspend, at: 110s, target: {job: a}, for: 5s"},
       [](const SmallRun& run) { return Near(ClientExits(run), {160}, 1); }},
      {"client_suspend",
       "an order of the user waits for it",
       {"kind: client_suspend, at: 20s, target: {job: a}, for: 30s",
        "kind: client_kill, at: 30s, target: {job: a}"},
       [](const SmallRun& run) {
         return Near(First(run.When<trace::ApplicationEnded>()), 50, 0.5);
       }},
      {"client_resume",
       "the client goes on before the fault has ended",
       {"kind: client_resume, at: 140s, target: {job: a}",
        "kind: client_suspend, at: 100s, target: {job: a}, for: 600s"},
       [](const SmallRun& run) { return Near(ClientExits(run), {140}, 1); }},
      {"gpu_scarcity",
       "no fault's end brings back what another takes",
       {"kind: gpu_scarcity, at: 20s, target: {node: n-2}, for: 40s",
        "kind: gpu_scarcity, at: 25s, target: {node: n-2}, gpus: 1, for: 10s"},
       [](const SmallRun& run) {
         return Near(Capacities(run, 0), {20, 25, 35}) && Near(Capacities(run, 2), {60});
       }},
      {"gpu_lost",
       "a process that uses one ends",
       {"kind: gpu_lost, at: 30s, target: {node: n-1}, gpus: 1, for: 20s"},
       [](const SmallRun& run) {
         return Near(ExitsWithCode(run, 1), {30}, 0.01) && Near(Capacities(run, 1), {30}) &&
                Near(Capacities(run, 2), {50});
       }},
      {"gpu_slow",
       "factors multiply, with those of the node too",
       {"kind: gpu_slow, at: 22s, target: {node: n-1}, factor: 2, for: 40s",
        "kind: gpu_slow, at: 32s, target: {node: n-1}, factor: 1.5, for: 10s",
        "kind: slow_node, at: 32s, target: {node: n-1}, factor: 2, for: 10s"},
       [](const SmallRun& run) { return Near(Late(run), 23.33); }},
      {"partition",
       "one group alone is cut off until the last of the faults has ended",
       {"kind: partition, at: 20s, between: [{node: n-3}], for: 50s",
        "kind: partition, at: 25s, between: [{node: n-3}], for: 2s"},
       [](const SmallRun& run) {
         return Near(First(Heard(run, "n-3", NodeState::kLost)), 30, 2.1) &&
                Within(First(Heard(run, "n-3", NodeState::kRunning), 21), 70, 92);
       }},
      {"latency",
       "messages take longer until the last of the faults has ended",
       {"kind: latency, at: 20s, target: {node: n-3}, delay: 1s, for: 40s",
        "kind: latency, at: 25s, target: {node: n-3}, delay: 2s, for: 2s",
        "kind: container_exit, at: 40s, target: {job: a, task: \"worker:1\"}, exit: 7",
        "kind: container_exit, at: 80s, target: {job: a, task: \"worker:1\"}, exit: 7"},
       [](const SmallRun& run) {
         return Near(First(TaskEnds(run), 40), 41, 0.1) && Near(First(TaskEnds(run), 80), 80, 0.1);
       }},
      {"loss",
       "messages are lost until the last of the faults has ended",
       {"kind: loss, at: 20s, target: {node: n-3}, loss: 1, for: 50s",
        "kind: loss, at: 25s, target: {node: n-3}, loss: 0.1, for: 2s"},
       [](const SmallRun& run) {
         return Near(First(Heard(run, "n-3", NodeState::kLost)), 30, 2.1) &&
                Within(First(Heard(run, "n-3", NodeState::kRunning), 21), 70, 92);
       }},
      {"reorder",
       "what was sent later arrives first",
       {"kind: reorder, at: 60s, target: {job: a}, by: 20s, for: 30s",
        "kind: container_exit, at: 61s, target: {job: a}, exit: 7"},
       [](const SmallRun& run) {
         const Times sent = Sent<ProcessEnded>(run);
         return Within(First(Arrived<ProcessEnded>(run), 61), 61.01, 81) &&
                Near(First(sent, 60), 61);
       }},
      {"drop",
       "the sender says it again",
       {"kind: drop, message: ProcessRunning, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) {
         return Sent<ProcessRunning>(run).size() == 3 && Arrived<ProcessRunning>(run).size() == 2;
       }},
      {"drop",
       "every one while it lasts, and no fault's end ends another",
       {"kind: drop, message: ProcessRunning, nth: 0, target: {job: a}, for: 20s",
        "kind: drop, message: ProcessRunning, nth: 0, target: {job: a}, for: 2s"},
       [](const SmallRun& run) { return Within(First(Arrived<ProcessRunning>(run)), 20, 60); }},
      {"delay",
       "the message comes late",
       {"kind: delay, message: ProcessRunning, delay: 700ms, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) { return Near(Arrived<ProcessRunning>(run).back(), 2.874, 0.01); }},
      {"duplicate",
       "the message comes twice",
       {"kind: duplicate, message: RegisterAgent, target: {job: a, task: \"worker:0\"}"},
       [](const SmallRun& run) { return Arrived<RegisterAgent>(run).size() == 3; }},
      {"hdfs_down",
       "nothing is staged until the last of the faults has ended",
       {"kind: hdfs_down, at: 0s, for: 30s", "kind: hdfs_down, at: 0s, for: 5s"},
       [](const SmallRun& run) {
         return Within(First(run.When<trace::ContainerGranted>()), 30, 62);
       }},
      {"hdfs_safemode",
       "nothing is written until the last of the faults has ended",
       {"kind: hdfs_safemode, at: 0s, for: 30s", "kind: hdfs_safemode, at: 0s, for: 5s"},
       [](const SmallRun& run) {
         return Within(First(run.When<trace::ContainerGranted>()), 30, 62);
       }},
      {"hdfs_slow",
       "everything takes longer until the last of the faults has ended",
       {"kind: hdfs_slow, at: 0s, factor: 300.5, for: 1m",
        "kind: hdfs_slow, at: 0s, factor: 1.5, for: 1ms"},
       [](const SmallRun& run) {
         // Two calls of 5 ms each come before the first grant.
         return Within(First(run.When<trace::ContainerGranted>()), 3.0, 5.6);
       }},
      {"hdfs_quota",
       "nothing is stored until the last of the faults has ended",
       {"kind: hdfs_quota, at: 1s, bytes: 0B, for: 30s",
        "kind: hdfs_quota, at: 1s, bytes: 1GiB, for: 1s"},
       [](const SmallRun& run) { return Within(First(run.Told<JournalAppended>(), 1), 31, 62); }},
      {"clock_skew",
       "nothing starts on a node whose clock says that tokens are too old, until all is right",
       {"kind: clock_skew, at: 700ms, target: nodes, offset: 9m, for: 40s",
        "kind: clock_skew, at: 700ms, target: nodes, offset: 2m, for: 20s"},
       [](const SmallRun& run) { return Within(First(Launches(run), 1), 20, 60); }},
      {"clock_skew",
       "an ApplicationMaster dates by the clock of its node",
       {"kind: clock_skew, at: 0s, target: nodes, offset: 9m, direction: back"},
       [](const SmallRun& run) {
         return run.Told<AmStarted>(
                       [](const AmStarted& started) { return started.wall < SimulatedStart(); })
                    .size() == 1;
       }},
      {"clock_jump",
       "the next ApplicationMaster dates by another clock",
       {"kind: clock_jump, at: 30s, target: nodes, offset: 1h, direction: back",
        "kind: clock_jump, at: 31s, target: nodes, offset: 5m",
        "kind: am_crash, at: 35s, target: {am: a}"},
       [](const SmallRun& run) {
         return run.Told<AmStarted>([](const AmStarted& started) {
                     return started.wall < SimulatedStart() - 50min;
                   })
                    .size() == 1;
       }},
      {"trace",
       "a node is down while any of its sources is",
       {"kind: trace, format: lanl, file: t.csv, system: 2"},
       [](const SmallRun& run) {
         return Near(run.Power("n-2", false), {0}) && Near(run.Power("n-2", true), {180});
       }},
  };
  return rows;
}

TEST(FaultEffectsTest, EveryKindHasARow) {
  for (const config::FaultKind& kind : config::FaultKinds()) {
    EXPECT_TRUE(std::any_of(Rows().begin(), Rows().end(), [&](const Row& row) {
      return row.kind == kind.name;
    })) << kind.name;
  }
}

TEST(FaultEffectsTest, EachKindDoesWhatItsRowsSay) {
  for (const Row& row : Rows()) {
    const SmallRun run = RunWith(row.faults);
    EXPECT_TRUE(row.effect(run)) << row.kind << ": " << row.shows << "\ntook " << run.Took();
    // A second one within it may find nothing left to do.
    for (const trace::FaultWithoutEffect& idle : run.result.faults_without_effect)
      EXPECT_NE(idle.index, 0U) << row.kind << ": " << row.shows;
    for (const trace::InvariantResult& invariant : run.result.invariants)
      EXPECT_EQ(invariant.violations, 0U) << row.kind << ": " << invariant.first_detail;
  }
}

TEST(FaultEffectsTest, WithoutTheFaultThereIsNoSuchEffect) {
  for (const Row& row : Rows())
    EXPECT_FALSE(row.effect(Undisturbed())) << row.kind << ": " << row.shows;
}

TEST(FaultEffectsTest, SkippedHeartbeatsChangeNoEffect) {
  for (const Row& row : Rows()) {
    EXPECT_EQ(RunWith(row.faults).result.digest, RunWith(row.faults, false).result.digest)
        << row.kind << ": " << row.shows;
  }
}

TEST(FaultEffectsTest, AFaultThatStrikesNothingIsToldAndChangesNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kind: hang, at: 100ms, target: {job: a, task: \"worker:0\"}",
       "what it names was not there"},
      {"kind: node_crash, at: 100ms, target: {am: a}", "what it names was not there"},
      {"kind: am_crash, at: 100ms, target: {am: a}", "what it names was not there"},
      {"kind: client_kill, at: 150s, target: {job: a}", "what it names was not there"},
      {"kind: latency, at: 100ms, target: {job: a, task: \"worker:0\"}, delay: 5s",
       "what it names was not there"},
      {"kind: loss, at: 100ms, target: {job: a, task: \"worker:0\"}, loss: 1",
       "what it names was not there"},
      {"kind: partition, at: 100ms, between: [{node: n-1}, {job: a, task: \"worker:0\"}]",
       "what it names was not there"},
      {"kind: node_crash, target: {node: n-1}, when: {job: a, append: 90}",
       "what it waits for did not come"},
      {"kind: node_crash, target: {node: n-1}, at: 1h", "the run ended before it"}};
  for (const auto& [fault, why] : cases) {
    const SmallRun run = RunWith({fault});
    ASSERT_EQ(run.result.faults_without_effect.size(), 1U) << fault;
    EXPECT_EQ(run.result.faults_without_effect[0].why, why) << fault;
    EXPECT_NEAR(Late(run), 0, 0.001) << fault;
    EXPECT_EQ(run.When<trace::ContainerGranted>(), Undisturbed().When<trace::ContainerGranted>())
        << fault;
  }
}

}  // namespace
}  // namespace tfyarn::sim::fault_effects_test
