// Scenarios with something wrong, and exactly what is said about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::bad_scenario_test {
namespace {

struct Case {
  std::string_view text;
  std::vector<std::string> errors;
};

/// Behind kSmall: the first line is line 6.
const Case kAdded[] = {
    {"hoirzon: 3h\n",
     {"6:1: unknown field `hoirzon` in scenario | allowed: schema, name, description, include, "
      "seed, "
      "horizon, warmup, futures, cluster, yarn, hdfs, defaults, jobs, arrivals, faults, expect, "
      "invariants, sweep | "
      "did you mean `horizon`?"}},
    {"horizon: 24\n", {"6:10: `horizon`: 24 has no unit | did you mean 24s?"}},
    {"warmup: -5s\n", {"6:9: `warmup`: -5s must not be negative"}},
    {"warmup: 2d\n", {"6:9: `warmup`: must be shorter than horizon"}},
    {"futures: [{from: 5m}, {from: 5m, seed: 2}]\n",
     {"6:23: `futures`: each must begin after the one before"}},
    {"futures: [{seed: 2}]\n", {"6:11: `from` is missing in future | wants duration"}},
    {"seed: -1\n", {"6:7: `seed`: -1 is out of range: at least 0"}},
    {"seed: \"1\"\n", {"6:7: `seed`: 1 is text in quotes, not a number | did you mean 1?"}},
    {"schema: tfsim/v2\n",
     {"6:9: `schema`: `tfsim/v2` is not one of its values | allowed: tfsim/v1 | did you mean "
      "`tfsim/v1`?"}},
    {"yarn: fifo\n",
     {"6:7: `yarn` must be a map of fields, got `fifo` | allowed: scheduler, queues, "
      "am_max_attempts, "
      "work_preserving_restart, preemption, minimum_allocation, maximum_allocation, "
      "offswitch_per_heartbeat, node_locality_delay, heartbeat, expiry, tokens, sigkill_delay, "
      "scheduling_wait, preemption_notice, localize, localize_again, launch, "
      "am_launch"}},
    {"yarn: {scheduler: }\n",
     {"6:8: `scheduler` has no value | wants capacity | fifo | uniform | gang"}},
    {"yarn: {scheduler: gnag}\n",
     {"6:19: `scheduler`: `gnag` is not one of its values | allowed: capacity, fifo, uniform, gang "
      "| did "
      "you mean `gang`?"}},
    {"yarn: {preemption: yes}\n",
     {"6:20: `preemption` must be true or false, got `yes` | did you mean true?"}},
    {"yarn: {preemption: \"true\"}\n", {"6:20: `preemption` must be true or false, got `true`"}},
    {"yarn: {heartbeat: {nm: 10s}, expiry: {nm: 10s}}\n",
     {"6:43: `expiry.nm`: must be at least twice heartbeat.nm, or nodes that are well expire"}},
    {"yarn: {expiry: {container: 5m}}\n",
     {"4:5: `hold`: 5m is not below yarn.expiry.container, 5m: the RM would take the containers "
      "back"}},
    {"yarn: {queues: [{path: root.ml, capacity: 60}]}\n",
     {"6:43: `capacity`: 60 has no unit | did you mean 60%?"}},
    {"yarn: {queues: [{path: root.ml, capacity: 60%}, {path: root.x, capacity: 50%}]}\n",
     {"6:74: `capacity`: the queues of root have 110% together | at most 100%"}},
    {"yarn: {queues: [{path: root.ml, capacity: 60%, max_capacity: 50%}]}\n",
     {"6:43: `capacity`: 60% is above `max_capacity` 50%"}},
    {"yarn: {queues: [{path: ml, capacity: 60%}]}\n",
     {"6:24: `path`: `ml` does not begin at the root | did you mean root.ml?"}},
    {"yarn: {queues: [{path: root.ml, capacity: 10%}, {path: root.ml, capacity: 10%}]}\n",
     {"6:56: `path`: `root.ml` is here twice"}},
    {"yarn: {queues: [{path: root.ml, capacity: 10%}, {path: root.ml.x, capacity: 10%}]}\n"
     "defaults: {queue: root.ml}\n",
     {"7:19: `queue`: `root.ml` has queues below it; jobs go to one of those"}},
    {"defaults: {queue: root.m}\n"
     "yarn: {queues: [{path: root.ml, capacity: 10%}]}\n",
     {"6:19: `queue`: there is no queue `root.m` | allowed: root.default, root.ml | did you mean "
      "`root.ml`?"}},
    {"yarn: {maximum_allocation: {memory: 512MiB, vcores: 1}}\n",
     {"6:28: `maximum_allocation`: its memory is below minimum_allocation's"}},
    {"hdfs: {bandwidth: 10Gb}\n",
     {"6:19: `bandwidth`: 10Gb has an unknown unit (allowed: bps, Kbps, Mbps, Gbps, Tbps) | did "
      "you mean "
      "10Gbps?"}},
    {"hdfs: {latency: {dist: unifrom, min: 1s, max: 2s}}\n",
     {"6:24: `latency`: `unifrom` is not one of its values | allowed: const, uniform, exponential, "
      "weibull, "
      "lognormal, gamma, pareto, empirical | did you mean `uniform`?"}},
    {"hdfs: {latency: {dist: uniform, min: 1s}}\n",
     {"6:17: `latency`: the distribution uniform needs `max`"}},
    {"hdfs: {latency: {dist: exponential, mean: 1s, max: 2s}}\n",
     {"6:47: unknown field `max` in the distribution exponential | allowed: dist, mean | did you "
      "mean "
      "`mean`?"}},
    {"hdfs: {latency: {dist: uniform, min: 3s, max: 2s}}\n",
     {"6:47: `latency`: `max` 2s is below `min` 3s"}},
    {"hdfs: {latency: {dist: uniform, min: 1, max: 2s}}\n",
     {"6:38: `min`: 1 has no unit | did you mean 1s?"}},
    {"hdfs: {latency: {dist: exponential, mean: 0s}}\n",
     {"6:43: `latency`: `mean` must be more than 0"}},
    {"hdfs: {latency: {min: 1s, max: 2s}}\n",
     {"6:17: `latency`: a distribution is named by `dist` | example: {dist: exponential, mean: "
      "30s}"}},
    {"hdfs: {latency: {dist: zipf, n: 10, s: 2}}\n",
     {"6:24: `latency`: `zipf` is not one of its values | allowed: const, uniform, exponential, "
      "weibull, "
      "lognormal, gamma, pareto, empirical"}},
    {"hdfs: {latency: [1s]}\n",
     {"6:17: `latency` must be a duration or a distribution, got a list"}},
    {"hdfs: {latency: {dist: empirical, values: []}}\n",
     {"6:43: `values` must be a list of 1 to 10000 values, got a list"}},
    {"hdfs: {latency: {dist: weibull, shape: 0, scale: 1s}}\n",
     {"6:40: `shape`: 0 is out of range: 0.001 to 1000"}},
    {"defaults: {gnag: {policy: all}}\n",
     {"6:12: unknown field `gnag` in job | allowed: schema, name, user, queue, priority, tags, "
      "framework, "
      "strategy, compat, tasks, command, shell, files, archives, python, container, env, secrets, "
      "gang, "
      "policy, "
      "on_exit, depends, success, retries, and 10 more | did you mean `gang`?"}},
    {"defaults: {name: x}\n", {"6:18: `name`: every job needs its own"}},
    {"defaults: {gang: {policy: al}}\n",
     {"6:27: `policy`: `al` is not one of its values | allowed: all, none, hold | did you mean "
      "`all`?"}},
    {"defaults: {tasks: {worker: {node_label: gpu}}}\n",
     {"6:41: `node_label`: there is no partition `gpu`"}},
    {"faults: {kind: node_crash}\n",
     {"6:9: `faults` must be a list of maps, got a map | begin each element with `- `"}},
    {"faults: [{kind: node_crsh, at: 1s, target: nodes}]\n",
     {"6:17: there is no fault of kind `node_crsh` | `tfsim faults` lists them | did you mean "
      "`node_crash`?"}},
    {"faults: [{at: 1s}]\n", {"6:10: `kind` is missing in fault | wants kind of fault"}},
    {"faults: [{kind: node_crash, target: nodes}]\n",
     {"6:10: nothing says when the fault happens | give `at`, `when` or `every`"}},
    {"faults: [{kind: node_crash, at: 1s, every: 1h, target: nodes}]\n",
     {"6:44: a fault has one of `at`, `when` and `every`"}},
    {"faults: [{kind: node_crash, at: 1s}]\n",
     {"6:10: `target` is missing: what does node_crash happen to? | allowed: {node: N}, {rack: R}, "
      "{label: "
      "L}, nodes (all), {random: K, of: ...}, {fraction: F, of: ...}; {job: J, task: T} and {am: "
      "J} mean "
      "the node that holds it then"}},
    {"faults: [{kind: am_crash, at: 1s, target: rm}]\n",
     {"6:43: `target`: not something that am_crash happens to | allowed: {am: J}"}},
    {"faults: [{kind: am_crash, at: 1s, target: {am: a}, for: 3s}]\n",
     {"6:57: `for`: am_crash happens at one moment"}},
    {"faults: [{kind: slow_node, at: 1s, target: nodes, facter: 3}]\n",
     {"6:51: unknown field `facter` in a fault of kind slow_node | allowed: kind, at, when, after, "
      "every, "
      "per, target, for, factor | did you mean `factor`?"}},
    {"faults: [{kind: container_exit, at: 1s, target: {job: a}, exit: 256}]\n",
     {"6:65: `exit`: 256 is out of range: 0 to 255"}},
    {"faults: [{kind: drop}]\n",
     {"6:10: `message` is missing in a fault of kind drop | Its name: a message between AM and "
      "agents, or a "
      "call to the RM or an NM."}},
    {"faults: [{kind: drop, message: StartProces}]\n",
     {"6:32: `message`: `StartProces` is not one of its values | allowed: RegisterAgent, "
      "AgentHeartbeat, "
      "ProcessRunning, ProcessEnded, AddressChanged, ProgressStalled, ProcessSigns, PortReport, "
      "AgentAccepted, "
      "AgentRefused, "
      "HeartbeatSeen, ReportSeen, StartProcess, StopProcess, WarnProcess, EndAgent, ShowStacks, "
      "NewsSeen, "
      "GetNewApplication, "
      "SubmitApplication, GetApplicationReport, KillApplication, GetClusterNodes, GetQueueInfo, "
      "and 8 more | did "
      "you mean `StartProcess`?"}},
    {"faults: [{kind: container_signal, at: 1s, target: {job: a}, signal: kill}]\n",
     {"6:69: `signal`: kill is not a signal like KILL, TERM or 9 | did you mean KILL?"}},
    {"faults: [{kind: hdfs_quota, at: 1s, bytes: 10}]\n",
     {"6:44: `bytes`: 10 has no unit | did you mean 10MiB or 10GiB?"}},
    {"faults: [{kind: am_crash, at: 1s, after: 3s, target: {am: a}}]\n",
     {"6:42: `after` goes with `when` | a time of the simulation is `at`"}},
    {"faults: [{kind: am_crash, every: 1h, per: node, target: {am: a}}]\n",
     {"6:43: `per`: am_crash does not happen to nodes"}},
    {"faults: [{kind: node_crash, at: 1h, per: node, target: nodes}]\n",
     {"6:42: `per` goes with `every`"}},
    {"faults: [{kind: node_crash, every: 0s, per: node}]\n",
     {"6:36: `every`: must be more than 0s"}},
    {"faults: [{kind: partition, between: []}]\n", {"6:37: `between`: a partition has a group"}},
    {"faults: [{kind: partition, at: 1s}]\n",
     {"6:10: `between` is missing in a partition | wants the groups: [{rack: r1}, {am: a}]; one "
      "alone is "
      "cut off from all others"}},
    {"faults: [{kind: am_crash, at: 1s, target: {am: a}, between: [rm, hdfs]}]\n",
     {"6:61: `between` does not go with am_crash"}},
    {"faults: [{kind: am_crash, when: {job: a, state: runing}, target: {am: a}}]\n",
     {"6:49: `state`: `runing` is not one of its values | allowed: submitted, allocating, "
      "launching, "
      "registering, running, draining, finished, registered, ended, began | did you mean "
      "`running`?"}},
    {"faults: [{kind: am_crash, when: {job: a, state: registered}, target: {am: a}}]\n",
     {"6:33: `when`: `registered` is a state of a task: `task` is missing"}},
    {"faults: [{kind: am_crash, when: {job: a, state: draining, task: worker}, target: {am: a}}]\n",
     {"6:49: `when`: `draining` is no state of a task | allowed: registered, running, ended"}},
    {"faults: [{kind: am_crash, when: {fault: 0, state: running}, target: {am: a}}]\n",
     {"6:51: `when`: `running` is no state of a fault | allowed: began, ended"}},
    {"faults: [{kind: am_crash, when: {fault: 0}, target: {am: a}}]\n",
     {"6:41: a fault cannot wait for itself"}},
    {"faults: [{kind: am_crash, when: {fault: 3}, target: {am: a}}]\n",
     {"6:41: there is no fault 3: the list has 1 fault, counted from 0"}},
    {"faults: [{kind: am_crash, when: {job: a}, target: {am: a}}]\n",
     {"6:33: `when` names one moment | give one of `state`, `append`, `message` and `fault`"}},
    {"faults: [{kind: am_crash, when: {job: a, append: 2, nth: 2}, target: {am: a}}]\n",
     {"6:58: `when`: `nth` goes with `state` and `message`"}},
    {"faults: [{kind: am_crash, when: {append: 2}, target: {am: a}}]\n",
     {"6:33: `when`: `job` is missing"}},
    {"faults: [{kind: am_crash, when: {job: a, message: NodeHeartbeat}, target: {am: a}}]\n",
     {"6:51: `message`: `NodeHeartbeat` is not one of its values | allowed: RegisterAgent, "
      "ProcessRunning, ProcessEnded, AddressChanged, ProgressStalled, ProcessSigns, PortReport, "
      "AgentAccepted, AgentRefused, ReportSeen, StartProcess, StopProcess, WarnProcess, EndAgent, "
      "ShowStacks, NewsSeen, GetNewApplication, SubmitApplication, GetApplicationReport, "
      "KillApplication, GetClusterNodes, GetQueueInfo, RegisterApplicationMaster, Allocate, and 4 "
      "more"}},
    {"faults: [{kind: am_crash, when: {job: b, state: running}, target: {am: a}}]\n",
     {"6:39: `job`: there is no job `b` | allowed: a"}},
    {"faults: [{kind: trace, format: lanl, file: x, system: 2, at: 1s}]\n",
     {"6:58: `at` does not go with a trace | allowed: kind, format, file, system"}},
    {"faults: [{kind: trace, format: philly, file: x, system: 2}]\n",
     {"6:32: `format`: `philly` is not one of its values | allowed: lanl"}},
    {"faults: [{kind: node_crash, at: 1s, target: n-1}]\n",
     {"6:45: `target`: `n-1` is not a selector | allowed: rm, hdfs, nodes, or a map like {node: "
      "n-1} or "
      "{job: a, task: \"worker:1\"} | did you mean {node: n-1}?"}},
    {"faults: [{kind: node_crash, at: 1s, target: {nod: n-1}}]\n",
     {"6:46: unknown field `nod` in a selector | allowed: node, rack, label, job, task, am, "
      "random, "
      "fraction, of | did you mean `node`?"}},
    {"faults: [{kind: node_crash, at: 1s, target: {node: n-1, rack: r1}}]\n",
     {"6:57: `rack` does not go with `node`"}},
    {"faults: [{kind: hang, at: 1s, target: {task: worker}}]\n",
     {"6:39: a selector with `task` needs `job` too"}},
    {"faults: [{kind: hang, at: 1s, target: {}}]\n",
     {"6:39: `target` must be a selector like {node: n-1}, got a map"}},
    {"faults: [{kind: node_crash, at: 1s, target: {fraction: 2}}]\n",
     {"6:56: `fraction`: 2 is out of range: 0 to 1"}},
    {"faults: [{kind: node_crash, at: 1s, target: {node: n-4}}]\n",
     {"6:52: `node`: there is no node `n-4` | allowed: n-1, n-2, n-3 | did you mean `n-1`?"}},
    {"faults: [{kind: node_crash, at: 1s, target: {rack: r3}}]\n",
     {"6:52: `rack`: there is no rack `r3` | allowed: r1, r2 | did you mean `r1`?"}},
    {"faults: [{kind: node_crash, at: 1s, target: {fraction: 0, of: nodes}}]\n",
     {"6:56: `fraction`: 0 is a part of nothing"}},
    {"faults: [{kind: hdfs_slow, at: 1s, factor: 1.0004}]\n",
     {"6:44: `factor`: 1.0004 is finer than steps of 0.001"}},
    {"faults: [{kind: am_crash, when: {fault: 2}, target: {am: a}},\n"
     "  {kind: am_crash, when: {fault: 0}, target: {am: a}},\n"
     "  {kind: am_crash, when: {fault: 1}, target: {am: a}}]\n",
     {"6:41: fault 0 and fault 2 wait for each other"}},
    {"faults: [{kind: node_crash, at: 1s, target: {random: 1, of: {label: gpus}}}]\n",
     {"6:69: `label`: there is no label `gpus` | allowed: gpu | did you mean `gpu`?"}},
    {"faults: [{kind: am_crash, at: 1s, target: {am: b}}]\n",
     {"6:48: `job`: there is no job `b` | allowed: a"}},
    {"faults: [{kind: hang, at: 1s, target: {job: a, task: wroker}}]\n",
     {"6:54: `task`: there is no task type `wroker` | allowed: worker, ps | did you mean "
      "`worker`?"}},
    {"faults: [{kind: hang, at: 1s, target: {job: a, task: \"worker:2\"}}]\n",
     {"6:54: `task`: there is no task worker:2, worker has 2 instances"}},
    {"faults: [{kind: hang, at: 1s, target: {job: a, task: \"worker:01\"}}]\n",
     {"6:54: `task` must be a task type like worker or one task like worker:1, got `worker:01`"}},
    {"expect: [{foo: 1}]\n",
     {"6:10: an expectation begins with `job`, `metric`, `never` or `eventually`"}},
    {"expect: [SUCCEEDED]\n",
     {"6:10: `expect` must be an expectation like {job: a, status: SUCCEEDED}, got `SUCCEEDED`"}},
    {"expect: [{job: a, status: SUCCEDED}]\n",
     {"6:27: `status`: `SUCCEDED` is not one of its values | allowed: SUCCEEDED, FAILED, KILLED, "
      "UNFINISHED "
      "| did you mean `SUCCEEDED`?"}},
    {"expect: [{job: b, status: FAILED}]\n", {"6:16: `job`: there is no job `b` | allowed: a"}},
    {"expect: [{job: a}]\n", {"6:10: nothing is expected of the job | like status: SUCCEEDED"}},
    {"expect: [{job: a, epoch: 2}]\n",
     {"6:19: there is no field `epoch` of a job | allowed: status, state, name, queue, "
      "application_id, "
      "diagnostics, rule, cause, cause.task, cause.exit, cause.exit_class, cause.node, cause.at, "
      "gpus, "
      "task_count, submitted, am_registered, gang_complete, started, finished, queue_wait_seconds, "
      "gang_wait_seconds, start_wait_seconds, jct_seconds, and 13 more | did you mean `epochs`?"}},
    {"expect: [{job: a, epochs: two}]\n", {"6:27: `epochs`: two is not a number"}},
    {"expect: [{job: a, status: {at_most: 3}}]\n",
     {"6:28: `at_most`: job/a.status is a word, no number | allowed: equals"}},
    {"expect: [{metric: gpu_utilisation, at_most: 1}]\n",
     {"6:19: `metric`: there is no metric `gpu_utilisation` | allowed: jobs_submitted, "
      "jobs_finished, "
      "jobs_succeeded, jobs_failed, jobs_killed, jobs_unfinished, gpu_utilization, "
      "cluster_utilization, "
      "incomplete_gang_share, node_availability, makespan_seconds, jct_mean_seconds, "
      "jct_p50_seconds, "
      "jct_p90_seconds, jct_p99_seconds, jct_max_seconds, queue_wait_mean_seconds, "
      "queue_wait_p50_seconds, "
      "queue_wait_p90_seconds, queue_wait_p99_seconds, queue_wait_max_seconds, "
      "gang_wait_mean_seconds, "
      "gang_wait_p50_seconds, gang_wait_p90_seconds, and 30 more | did you mean "
      "`gpu_utilization`?"}},
    {"expect: [{metric: job/a.epoch, equals: 2}]\n",
     {"6:19: `metric`: there is no field of a job `epoch` | allowed: status, state, name, queue, "
      "application_id, diagnostics, rule, cause, cause.task, cause.exit, cause.exit_class, "
      "cause.node, "
      "cause.at, gpus, task_count, submitted, am_registered, gang_complete, started, finished, "
      "queue_wait_seconds, gang_wait_seconds, start_wait_seconds, jct_seconds, and 13 more | did "
      "you mean "
      "`epochs`?"}},
    {"expect: [{metric: goodput}]\n",
     {"6:10: `metric` is compared with nothing | allowed: equals, at_least, at_most, between"}},
    {"expect: [{metric: goodput, atleast: 1}]\n",
     {"6:10: `metric` is compared with nothing | allowed: equals, at_least, at_most, between",
      "6:28: unknown field `atleast` in an expectation of this form | allowed: metric, equals, "
      "at_least, "
      "at_most, between, where | did you mean `at_least`?"}},
    {"expect: [{metric: goodput, between: [2, 1]}]\n",
     {"6:37: `between`: the first number is above the second"}},
    {"expect: [{metric: goodput, between: 1}]\n",
     {"6:37: `between` must be a list of two numbers, got `1`"}},
    {"expect: [{never: leaks}]\n",
     {"6:18: `never` must be a comparison like job/a.epochs == 2, got `leaks` | allowed: ==, <, "
      "<=, >, >="}},
    {"expect: [{never: \"goodput != 1\"}]\n",
     {"6:18: `never`: there is no comparison `!=` | allowed: ==, <, <=, >, >="}},
    {"expect: [{never: \"goodput > x\"}]\n", {"6:18: `never`: x is not a number"}},
    {"expect: [{never: \"job/b.epochs > 1\"}]\n",
     {"6:18: `job`: there is no job `b` | allowed: a"}},
    {"expect: [{eventually: \"job/a.epochs == 2\", within: 30}]\n",
     {"6:52: `within`: 30 has no unit | did you mean 30s?"}},
    {"expect: [{eventually: \"job/a.epochs == 2\", after: fault/0}]\n",
     {"6:51: there is no fault/0: the scenario has 0 faults, counted from 0"}},
    {"expect: [{eventually: \"job/a.epochs == 2\", after: faults}]\n",
     {"6:51: `after` must be a fault like fault/0, got `faults`"}},
    {"expect: [{metric: deadlock_rate, at_most: 0, where: {defaults.gang.policy: al}}]\n"
     "sweep: {matrix: {defaults.gang.policy: [all, hold]}}\n",
     {"6:76: `where`: there is no value in the matrix `al` | allowed: all, hold | did you mean "
      "`all`?"}},
    {"expect: [{metric: deadlock_rate, at_most: 0, where: {gang.policy: all}}]\n"
     "sweep: {matrix: {defaults.gang.policy: [all, hold]}}\n",
     {"6:54: `where`: there is no path in the matrix `gang.policy` | allowed: "
      "defaults.gang.policy"}},
    {"invariants: {off: [{name: progres, because: x}]}\n",
     {"6:27: `name`: `progres` is not one of its values | allowed: capacity, one-owner, "
      "released-once, "
      "gang-start, one-spec, one-attempt, final-once, verdict, after-final, budgets, "
      "excluded-nodes, "
      "progress, quiescence, littles-law, gpu-seconds, good-citizen, "
      "reference-verdict, own-address, limits-kept, durable-before-visible, rule-matches-cause, "
      "said-again, as-asked, notice-passed-on, and 3 more | did you mean `progress`?"}},
    {"invariants: {off: [{name: progress}]}\n",
     {"6:20: `because` is missing in invariant that is off | wants text"}},
    {"sweep: {seeds: 9..1}\n", {"6:16: `seeds`: the first is above the last"}},
    {"sweep: {seeds: a..b}\n", {"6:16: `seeds` must be seeds like 0..99, got `a..b`"}},
    {"sweep: {matrix: {defaults.gang.policy: [all, hlod]}}\n",
     {"6:46: `policy`: `hlod` is not one of its values | allowed: all, none, hold | did you mean "
      "`hold`?"}},
    {"sweep: {matrix: {defaults.gnag.policy: [all, hold]}}\n",
     {"6:27: unknown field `gnag` in job | allowed: schema, name, user, queue, priority, tags, "
      "framework, "
      "strategy, compat, tasks, command, shell, files, archives, python, container, env, secrets, "
      "gang, "
      "policy, "
      "on_exit, depends, success, retries, and 10 more | did you mean `gang`?"}},
    {"sweep: {matrix: {jobs.b.queue: [default]}}\n",
     {"6:23: no element of the list is called `b` | allowed: a"}},
    {"sweep: {matrix: {yarn.scheduler: fifo}}\n",
     {"6:34: `yarn.scheduler` must be a list of values, got `fifo`"}},
    {"arrivals: [{count: 3, template: {tasks: {worker: {memory: 1GiB}}}}]\n",
     {"6:12: an arrival has one of `poisson`, `interarrival` and `trace`"}},
    {"arrivals: [{poisson: {rate: 1/h}, template: {tasks: {worker: {memory: 1GiB}}}}]\n",
     {"6:12: `count` is missing in arrival | how many jobs come"}},
    {"arrivals: [{poisson: {rate: 1}, count: 2, template: {tasks: {worker: {memory: 1GiB}}}}]\n",
     {"6:29: `rate`: 1 has no unit | did you mean 1/h?"}},
    {"arrivals: [{poisson: {rate: 1/h}, count: 2, template: {name: x, tasks: {worker: {memory: "
     "1GiB}}}}]\n",
     {"6:62: `name`: jobs of a template are named by `prefix`"}},
    {"arrivals: [{trace: {format: lanl, file: x}, template: {tasks: {worker: {memory: 1GiB}}}}]\n",
     {"6:29: `format`: lanl has failures of nodes, no jobs | use it under `faults`: {kind: trace, "
      "format: "
      "lanl, ...}"}},
    {"arrivals: [{trace: {format: philly, file: x}, template: {tasks: {chief: {memory: 1GiB}}}}]\n",
     {"6:65: `template`: a trace's jobs need a task type `worker`"}},
    {"arrivals: [{poisson: {rate: 1/h}, count: 2, limit: 3, template: {tasks: {worker: {memory: "
     "1GiB}}}}]\n",
     {"6:52: `limit` is for traces | use `count`"}},
};

/// Whole files.
const Case kWhole[] = {
    {"name: x\n"
     "cluster: {racks: 4, nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs: [{name: a, tasks: {w: {memory: 1GiB}}}]\n"
     "faults:\n"
     "  - {kind: node_crash, at: 1s, target: {rack: r4}}\n"
     "  - {kind: node_crash, at: 1s, target: {random: 1, of: {rack: r3}}}\n"
     "  - {kind: gpu_lost, at: 1s, target: {rack: r1}}\n"
     "  - {kind: gpu_scarcity, at: 1s, target: nodes}\n",
     {"5:47: `rack`: there is no node in r4", "7:38: `target`: none of these nodes has a GPU",
      "8:42: `target`: none of these nodes has a GPU"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, resources: {memory: 1GiB, vcores: 1}}]}\n",
     {"1:1: the scenario has no job | give `jobs` or `arrivals`"}},
    {"name: x\n",
     {"1:1: `cluster` is missing in scenario | wants map",
      "1:1: the scenario has no job | give `jobs` or `arrivals`"}},
    {"name: X y\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"1:7: `name` must be a name of a-z, 0-9 and -, got `X y`"}},
    {"name: x\n"
     "cluster: {nodes: []}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:18: `nodes`: a cluster needs a node"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, count: 0, resources: {memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:36: `count`: 0 is out of range: 1 to 100000"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, count: 1e99, resources: {memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:36: `count`: 1e99 is not a whole number (1 to 100000)"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, count: .nan, resources: {memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:36: `count`: .nan is not a whole number (1 to 100000)"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, count: 99999999999999999999, resources: {memory: 1GiB, vcores: "
     "1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:36: `count`: 99999999999999999999 is out of range (1 to 100000)"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, count: 100000, resources: {memory: 1GiB, vcores: 1}}, {name: m, "
     "resources: {memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:18: `nodes`: 100001 nodes are more than 100000"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, resources: {vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:40: `resources`: a node needs `memory` and `vcores`"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, resources: {memory: 1GiB, vcores: 1, cpus: 3}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:66: unknown field `cpus` in resources | allowed: memory, vcores, gpus | did you mean "
      "`vcores`?"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, resources: {memory: 1GiB, vcores: 1, yarn.io/gpu: 3}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:66: `yarn.io/gpu` is written as the field `gpus`"}},
    {"name: x\n"
     "cluster: {nodes: [{name: n, count: 2, resources: {memory: 1GiB, vcores: 1}}, {name: n-1, "
     "resources: "
     "{memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:85: `name`: there are two nodes `n-1`"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, rack: r3, resources: {memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:45: `rack`: there is no rack `r3` | allowed: r1, r2 | did you mean `r1`?"}},
    {"name: x\n"
     "cluster: {network: {loss: 1.5}, nodes: [{name: n, resources: {memory: 1GiB, vcores: 1}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:27: `loss`: 1.5 is out of range: 0 to 1"}},
    {"name: x\n"
     "cluster: {nodes: {name: n}}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}}\n",
     {"2:18: `nodes` must be a list of maps, got a map | begin each element with `- `"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {w: {memory: 1GiB}}}\n"
     "  - {name: a, tasks: {w: {memory: 1GiB}}}\n",
     {"5:12: `name`: there are two jobs `a`"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - a\n",
     {"4:5: `jobs` must be a map of fields, got `a` | allowed: schema, name, user, queue, "
      "priority, tags, "
      "framework, strategy, compat, tasks, command, shell, files, archives, python, container, "
      "env, secrets, gang, "
      "policy, on_exit, depends, success, retries, and 10 more"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, queue: default}\n",
     {"4:5: `tasks` is missing in job | wants map from task type to its fields"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: [worker]}\n",
     {"4:22: `tasks` must be a map from task types to their fields, got a list"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {}}\n",
     {"4:22: `tasks` must be a map from task types to their fields, got a map"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {Worker: {memory: 1GiB}}}\n",
     {"4:23: `Worker` is not a task type like worker (a-z, 0-9, _ and -; at most 64)"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {vcores: 1}}}\n",
     {"4:31: `memory` is missing in task type | wants memory size, at least 1MiB"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB, vcore: 1}}}\n",
     {"4:46: unknown field `vcore` in task type | allowed: instances, memory, vcores, gpus, "
      "resources, "
      "node_label, placement, command, shell, class, env, logdir | did you mean `vcores`?"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, training: {steps: 10}}\n",
     {"4:58: `training`: `steps` without `step_time`"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, training: {steps: -10, step_time: 1s}}\n",
     {"4:66: `steps`: -10 is out of range: 0 to 1000000000000000"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, training: {checkpoint: {cost: 1s}}}\n",
     {"4:71: `every` is missing in checkpoint | wants duration, at least 1ms"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, training: {peer_loss: wait}}\n",
     {"4:70: `peer_loss` must be a map of fields, got `wait` | allowed: after, exit | did you mean "
      "`exit`?"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{task: ps, runs: forever}]}\n",
     {"4:66: `behavior`: there is no task type `ps` | allowed: worker"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{task: \"worker:1\", exit: 1}]}\n",
     {"4:66: `behavior`: there is no task worker:1, worker has 1 instance"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{exit: 1, signal: KILL}]}\n",
     {"4:77: `signal`: a process ends by `exit` or by `signal`, not by both"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{after: 1s}]}\n",
     {"4:67: `after`: says when, but not what: give `exit`, `signal` or `hang: true`"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{runs: 5}]}\n",
     {"4:66: `runs`: 5 has no unit | did you mean 5s?"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{out_of_memory: true, exit: 1}]}\n",
     {"4:75: `out_of_memory`: the kernel's OOM killer sends `signal: KILL`"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{hang: true, exit: 1}]}\n",
     {"4:78: `exit`: a process that hangs does not end"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{on_term: {ignore: true, exit: "
     "1}}]}\n",
     {"4:84: `exit`: a process that ignores SIGTERM does not end by it"}},
    {"name: x\n"
     "cluster: {racks: 2, nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}\n"
     "jobs:\n"
     "  - {name: a, tasks: {worker: {memory: 1GiB}}, behavior: [{exit: 256}]}\n",
     {"4:66: `exit`: 256 is out of range: 0 to 255"}},
};

TEST(BadScenarioTest, WhatIsAddedWrongIsNamedWithPlaceAndRemedy) {
  for (const Case& wrong : kAdded)
    EXPECT_EQ(ScenarioErrors(Small(wrong.text)), wrong.errors) << wrong.text;
}

TEST(BadScenarioTest, WholeFilesThatAreWrong) {
  for (const Case& wrong : kWhole)
    EXPECT_EQ(ScenarioErrors(wrong.text), wrong.errors) << wrong.text;
}

TEST(BadScenarioTest, AllErrorsOfAFileComeAtOnceInOrder) {
  EXPECT_THAT(ScenarioErrors("horizon: 1\nname: x\nseed: x\ncluster: {racks: 0}\n"),
              testing::ElementsAre("1:1: the scenario has no job | give `jobs` or `arrivals`",
                                   "1:10: `horizon`: 1 has no unit | did you mean 1s?",
                                   "3:7: `seed`: x is not a whole number (at least 0)",
                                   "4:10: `nodes` is missing in cluster | wants list of maps",
                                   "4:18: `racks`: 0 is out of range: 1 to 10000"));
}

TEST(BadScenarioTest, TwentyErrorsAreEnough) {
  std::string text = std::string(kSmall) + "faults:\n";
  for (int i = 0; i < 27; ++i)
    text += "  - {kind: am_crash, at: " + std::to_string(i) + ", target: {am: a}}\n";
  const auto errors = ScenarioErrors(text);
  ASSERT_EQ(errors.size(), 21U);
  EXPECT_EQ(errors[19], "26:26: `at`: 19 has no unit | did you mean 19s?");
  EXPECT_EQ(errors[20], "and 7 more");
}

TEST(BadScenarioTest, AWrongDefaultIsReportedOnceHoweverManyJobsHaveIt) {
  EXPECT_THAT(ScenarioErrors(
                  "name: x\ncluster: {nodes: [{name: n, resources: {memory: 1GiB, vcores: 1}}]}\n"
                  "defaults: {gang: {hold: 5}, tasks: {w: {memory: 1GiB}}}\njobs: [{name: a}, "
                  "{name: b}]\n"),
              testing::ElementsAre("3:25: `hold`: 5 has no unit | did you mean 5s?"));
}

TEST(BadScenarioTest, ABrokenJobDoesNotMakeItsNameUnknown) {
  EXPECT_THAT(
      ScenarioErrors(
          "name: x\ncluster: {nodes: [{name: n, resources: {memory: 1GiB, vcores: 1}}]}\n"
          "jobs: [{name: a, tasks: {w: {memory: 1}}}]\nexpect: [{job: a, status: SUCCEEDED}]\n"),
      testing::ElementsAre("3:38: `memory`: 1 has no unit | did you mean 1MiB or 1GiB?"));
}

}  // namespace
}  // namespace tfyarn::config::bad_scenario_test
