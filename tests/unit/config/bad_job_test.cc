// Jobs with something wrong, and exactly what is said about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::bad_job_test {
namespace {

struct Case {
  std::string_view text;
  std::vector<std::string> errors;
};

/// Behind a job with two workers: the line is line 4.
const Case kAdded[] = {
    {"policy: tonny",
     {"4:9: `policy`: `tonny` is not one of its values | allowed: default, framework-launcher, "
      "hbox, slider-tf, tf-yarn, tfjob, tony | "
      "did you "
      "mean `tony`?"}},
    {"policy: {retry_count: 1}",
     {"4:9: `name` is missing in policy | allowed: default, framework-launcher, hbox, slider-tf, "
      "tf-yarn, tfjob, tony"}},
    {"policy: {name: tony, retrycount: 1}",
     {"4:22: the policy `tony` has no option `retrycount` | allowed: fail_on_worker_failure, "
      "untracked, "
      "sidecar, stop_on_failure, retry_count | did you mean `retry_count`?"}},
    {"policy: {name: tf-yarn, propagate: soon}",
     {"4:36: `propagate`: `soon` is not one of its values | allowed: now, late"}},
    {"policy: {name: tony, retry_count: -1}",
     {"4:35: `retry_count`: -1 is out of range: 0 to 1000000"}},
    {"policy: {name: tfjob, restart_policy: {worker: never}}",
     {"4:48: `restart_policy`: `never` is not one of its values | allowed: Never, OnFailure, "
      "Always, "
      "ExitCode | did you mean `Never`?"}},
    {"framework: tensor_flow",
     {"4:12: `framework`: `tensor_flow` is not one of its values | allowed: tensorflow, pytorch, "
      "horovod, "
      "generic | did you mean `tensorflow`?"}},
    {"strategy: parameter-server", {"4:11: `strategy`: parameter-server wants a task type `ps`"}},
    {"gang: {policy: none, backoff: {first: 1m, max: 1s}}",
     {"4:48: `backoff`: `first` 1m is longer than `max` 1s"}},
    {"deadlines: {run: never}", {"4:18: `run`: never is not a duration like 30s, 5m or 1d12h"}},
    {"success: ok(worker) and",
     {"4:24: `success`: expected ok(...), any(...), done(...), count(...) >= N, failed(...) < N or "
      "'(' | "
      "allowed: ok(T), any(T), done(T), ok(T:INDEX), count(T) >= N, failed(T) < N; and, or, ( )"}},
    {"success: \"ok(worker) or or\"",
     {"4:25: `success`: expected ok(...), any(...), done(...), count(...) >= N, failed(...) < N or "
      "'(' | "
      "allowed: ok(T), any(T), done(T), ok(T:INDEX), count(T) >= N, failed(T) < N; and, or, ( )"}},
    {"success: ok(chief)", {"4:10: `success`: there is no task type `chief` | allowed: worker"}},
    {"success: \"ok(worker:2)\"",
     {"4:10: `success`: there is no task worker:2, worker has 2 instances"}},
    {"success: count(worker) >= 3",
     {"4:10: `success`: count(worker) can never be 3, worker has 2 instances"}},
    {"depends: [{task: evaluator, after: worker}]",
     {"4:18: `depends`: there is no task type `evaluator` | allowed: worker"}},
    {"depends: [{task: worker, after: worker}]", {"4:33: `worker` depends on itself"}},
    {"depends: [{task: worker, after: evaluator, do: ignore}]",
     {"4:48: `do` says what follows when `within` has passed, and there is no `within`"}},
    {"on_exit: [{task: chief, do: fail}]",
     {"4:18: `on_exit`: there is no task type `chief` | allowed: worker"}},
    {"on_exit: [{task: worker, do: restart}]",
     {"4:30: `do`: `restart` is not one of its values | allowed: ignore, tally, restart-task, "
      "restart-type, "
      "restart-gang, raise-memory, fail, succeed"}},
    {"on_exit: [{class: [oomm], do: fail}]",
     {"4:20: `class`: `oomm` is not one of its values | allowed: ok, user-permanent, "
      "user-retryable, oom, "
      "signal-crash, killed-external, killed-by-us, preempted, node-lost, node-bad, port-conflict, "
      "launch-error, heartbeat-lost, timeout, am-lost, gang-timeout, infeasible, unknown | did you "
      "mean "
      "`oom`?"}},
    {"on_exit: [{class: oom, do: {raise-memory: {factor: 1}}}]",
     {"4:52: `factor`: 1 is out of range: 1.01 to 100"}},
    {"on_exit: [{task: worker, do: fail, pays: user}]",
     {"4:42: `pays`: fail restarts nothing, so nothing is paid"}},
    {"on_exit: [{task: worker}]",
     {"4:11: `do` is missing in exit rule | wants ignore | tally | restart-task | restart-type | "
      "restart-gang | raise-memory | fail | succeed, or {raise-memory: {factor, max}}"}},
    {"finish: {drain: {evaluator: 10m}}",
     {"4:18: `drain`: there is no task type `evaluator` | allowed: worker"}},
    {"finish: {require: model}",
     {"4:19: `require` must be a list of text, got `model` | did you mean [model]?"}},
    {"watch: {progress: \"step (\"}",
     {"4:19: `progress` must be a regular expression with at most one group, of at most 200 "
      "characters, got "
      "`step (`"}},
    {"watch: {stalled: 10m}",
     {"4:8: `progress` is missing in watch | wants pattern on stdout, or {file: PATH}"}},
    {"watch: {progress: x, stalled: 1s}", {"4:31: `stalled`: must be longer than heartbeat.every"}},
    {"container: {image: \"a b\"}", {"4:20: `image` must be an image like repo/tf:2, got `a b`"}},
    {"container: {}", {"4:12: `image` is missing in container | wants an image like repo/tf:2"}},
    {"env: {1A: x}", {"4:7: `1A` is not a name of a variable"}},
    {"env: {A: [x]}", {"4:10: `A` must be text, got a list"}},
    {"command: python3 train.py",
     {"2:8: `shell` and `command` are both given: which one runs?",
      "4:10: `command` must be a list of text, got `python3 train.py` | did you mean [python3, "
      "train.py]?"}},
    {"command: [x]\n"
     "shell: y",
     {"2:8: `shell` and `command` are both given: which one runs?",
      "5:1: the key `shell` is here twice | it is first on line 2"}},
    {"python: {archive: {ps: x}}",
     {"4:24: `python`: there is no task type `ps` | allowed: worker"}},
    {"files: [a.py, d/a.py]",
     {"4:15: `files`: `d/a.py` and `a.py` of `files` (line 4): both become `a.py` in the work "
      "directory | rename one of them, or pack it into one of `archives`"}},
    {"files: [env]\npython: {archive: env.tgz}",
     {"5:19: `python`: `env.tgz` and `env` of `files` (line 4): both become `env` in the work "
      "directory | give one of them another name by `archives: [{path: ..., as: NAME}]`"}},
    {"archives: [{path: x, as: d}, {path: y, as: ./d//e}]",
     {"4:44: `archives`: `y` and `x` of `archives` (line 4): `d` and `d/e` lie in one another in "
      "the work directory | give one of them another name by `archives: [{path: ..., as: NAME}]`"}},
    {"files: [x/.tfyarn-lib, container_tokens]",
     {"4:9: `files`: the name `.tfyarn-lib` in the work directory is tfyarn's own | give it "
      "another name",
      "4:24: `files`: the name `container_tokens` in the work directory is YARN's own | give it "
      "another name"}},
    {"files: [d/..]", {"4:9: `files`: `d/..` gives no name in the work directory"}},
    {"archives: [{path: x, as: ../y}]", {"4:26: `as` must be a relative path, got `../y`"}},
    {"retries: {user: -1}", {"4:17: `user`: -1 is out of range: 0 to 1000000"}},
    {"heartbeat: {every: 1ms}", {"4:20: `every`: 1ms is out of range: at least 10ms, at most 1h"}},
    {"am: {memory: 512, attempts: 0}",
     {"4:14: `memory`: 512 has no unit | did you mean 512MiB or 512GiB?",
      "4:29: `attempts`: 0 is out of range: 1 to 1000"}},
    {"history: {keep: 30}", {"4:17: `keep`: 30 has no unit | did you mean 30s?"}},
    {"priority: high", {"4:11: `priority`: high is not a whole number (0 to 1000000)"}},
    {"queue: a b", {"4:8: `queue` must be a queue like default or root.ml, got `a b`"}},
    {"compat: horovod", {"4:9: `compat`: `horovod` is not one of its values | allowed: tony"}},
    {"name: b", {"4:1: the key `name` is here twice | it is first on line 1"}},
};

const Case kWhole[] = {
    {"name: a\n"
     "tasks: {worker: {memory: 1GiB}, tensorboard: {memory: 1GiB, logdir: x}}\n",
     {"2:9: the task type `worker` has nothing to run | give it, or the job, a `command` or "
      "`shell`"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {chief: {memory: 1GiB}, master: {memory: 1GiB}}\n",
     {"3:40: `tasks`: a job has one chief: `chief` and `master` mean the same"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {chief: {memory: 1GiB, instances: 2}}\n",
     {"3:42: `instances`: a job has one chief"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {worker: {memory: 1GiB, placement: {avoid: ps}}}\n",
     {"3:51: `avoid`: there is no task type `ps` | allowed: worker"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {worker: {memory: 1GiB, placement: {spread: rack, pack: rack}}}\n",
     {"3:43: `placement`: `spread: rack` and `pack: rack` contradict each other"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {worker: {memory: 1GiB, placement: {pack: node}}}\n",
     {"3:50: `pack`: `node` is not one of its values | allowed: rack"}},
    {"name: a\n"
     "tasks: {worker: {memory: 1GiB, command: [x], shell: y}}\n",
     {"2:53: `shell` and `command` are both given: which one runs?"}},
    {"name: a\n"
     "tasks: {worker: {memory: 1GiB, command: []}}\n",
     {"2:41: `command` is empty"}},
    {"name: a\n"
     "shell: x\n"
     "strategy: multi-worker\n"
     "tasks: {ps: {memory: 1GiB}}\n",
     {"3:11: `strategy`: multi-worker has no use for the task type `ps`"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB}, b: {memory: 1GiB}}\n"
     "depends: [{task: a, after: b}, {task: b, after: a}]\n",
     {"4:11: `depends`: there is a circle: `a` waits for `b` and that for it in the end"}},
    {"name: A\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB}}\n",
     {"1:7: `name` must be a name of a-z, 0-9, . _ and -, at most 100, got `A`"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB}}\n"
     "training: {steps: 1}\n",
     {"4:1: unknown field `training` in job | allowed: schema, name, user, queue, priority, tags, "
      "framework, strategy, compat, tasks, command, shell, files, archives, python, container, "
      "env, secrets, gang, "
      "policy, on_exit, depends, success, retries, and 6 more"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB, instances: 100001}}\n",
     {"3:38: `instances`: 100001 is out of range: 1 to 100000"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB, instances: 100000}, b: {memory: 1GiB, instances: 100000}, c: "
     "{memory: 1GiB, "
     "instances: 100000}, d: {memory: 1GiB, instances: 100000}, e: {memory: 1GiB, instances: "
     "100000}, f: "
     "{memory: 1GiB, instances: 100000}, g: {memory: 1GiB, instances: 100000}, h: {memory: 1GiB, "
     "instances: "
     "100000}, i: {memory: 1GiB, instances: 100000}, j: {memory: 1GiB, instances: 100000}, k: "
     "{memory: "
     "1GiB, instances: 100000}}\n",
     {"3:8: `tasks`: 1100000 tasks are more than 1000000"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB, class: side-car}}\n",
     {"3:34: `class`: `side-car` is not one of its values | allowed: tracked, service, drained, "
      "sidecar | "
      "did you mean `sidecar`?"}},
    {"name: a\n"
     "shell: x\n"
     "tasks: {a: {memory: 1GiB, resources: {fpga: 1}}}\n",
     {"3:39: unknown field `fpga` in other resources"}},
};

TEST(BadJobTest, WhatIsAddedWrongIsNamedWithPlaceAndRemedy) {
  constexpr std::string_view kJob =
      "name: a\nshell: x\ntasks: {worker: {memory: 1GiB, instances: 2}}\n";
  for (const Case& wrong : kAdded) {
    EXPECT_EQ(JobErrors(std::string(kJob) + std::string(wrong.text) + "\n"), wrong.errors)
        << wrong.text;
  }
}

TEST(BadJobTest, WholeFilesThatAreWrong) {
  for (const Case& wrong : kWhole) EXPECT_EQ(JobErrors(wrong.text), wrong.errors) << wrong.text;
}

}  // namespace
}  // namespace tfyarn::config::bad_job_test
