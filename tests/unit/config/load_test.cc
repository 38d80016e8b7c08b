#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/text.h"
#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::load_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Scenario Load(std::string_view text, const LoadOptions& options = NoFiles()) {
  auto scenario = LoadScenarioText(text, "s", options);
  if (!scenario) {
    ADD_FAILURE() << Render(scenario.error());
    return {};
  }
  return std::move(*scenario);
}

JobSpec LoadOneJob(std::string_view text) {
  auto job = LoadJobText(text, "s", NoFiles());
  if (!job) {
    ADD_FAILURE() << Render(job.error());
    return {};
  }
  return std::move(*job);
}

TEST(LoadTest, ASmallScenarioHasHadoopsDefaults) {
  const Scenario s = Load(kSmall);
  EXPECT_EQ(s.name, "small");
  EXPECT_EQ(s.seed, 1U);
  EXPECT_EQ(s.horizon, 24h);
  EXPECT_EQ(s.cluster.racks, 2);
  ASSERT_EQ(s.cluster.nodes.size(), 1U);
  EXPECT_EQ(s.cluster.nodes[0].resources,
            (Resource{.memory_mb = 16384, .vcores = 8, .gpus = 2, .others = {}}));
  EXPECT_THAT(s.cluster.nodes[0].labels, ElementsAre("gpu"));
  EXPECT_EQ(s.yarn.scheduler, "capacity");
  EXPECT_EQ(s.yarn.nm_expiry, 600s);
  EXPECT_EQ(s.yarn.minimum_allocation.memory_mb, 1024);
  EXPECT_EQ(s.hdfs.bandwidth_bps, 10'000'000'000);
  ASSERT_EQ(s.jobs.size(), 1U);
  const JobSpec& job = s.jobs[0].spec;
  EXPECT_EQ(job.user, "user");
  EXPECT_EQ(job.strategy, Strategy::kParameterServer);
  ASSERT_EQ(job.tasks.size(), 2U);
  EXPECT_EQ(job.tasks[0].name, "worker");
  EXPECT_EQ(job.tasks[0].instances, 2);
  EXPECT_EQ(job.tasks[1].name, "ps");
  EXPECT_EQ(job.tasks[1].instances, 1);
  EXPECT_EQ(job.tasks[1].resource.vcores, 1);
  EXPECT_EQ(job.gang.hold, 5min);
  EXPECT_FALSE(s.jobs[0].training.peer_loss.has_value());
}

TEST(LoadTest, EveryBlockOfYarnAndHdfsIsRead) {
  const Scenario s = Load(Small(R"(yarn:
  scheduler: capacity
  queues:
    - {path: root.ml, capacity: 60%, max_capacity: 80%, user_limit: 50%, user_limit_factor: 1.5, am_share: 20%}
  heartbeat: {nm: 2s}
  expiry: {nm: 300s, am: 200s, container: 400s}
  am_max_attempts: 3
  work_preserving_restart: false
  preemption: true
  tokens: {nm: 12h, amrm: 6h}
  minimum_allocation: {memory: 512MiB, vcores: 1}
  maximum_allocation: {memory: 8GiB}
  offswitch_per_heartbeat: 2
  node_locality_delay: 7
  sigkill_delay: 1s
  scheduling_wait: 3s
  preemption_notice: 5s
  localize: {dist: uniform, min: 1s, max: 2s}
  localize_again: 3ms
  launch: 200ms
  am_launch: 600ms
hdfs: {latency: 1ms, bandwidth: 1Gbps, replicas: 2, quota: 1TiB}
)"));
  const YarnSpec& yarn = s.yarn;
  ASSERT_EQ(yarn.queues.size(), 1U);
  EXPECT_EQ(yarn.queues[0].capacity_permille, 600);
  EXPECT_EQ(yarn.queues[0].max_capacity_permille, 800);
  EXPECT_EQ(yarn.queues[0].user_limit_permille, 500);
  EXPECT_EQ(yarn.queues[0].user_limit_factor_permille, 1500);
  EXPECT_EQ(yarn.queues[0].am_share_permille, 200);
  EXPECT_EQ(yarn.nm_heartbeat, 2s);
  EXPECT_EQ(yarn.nm_expiry, 300s);
  EXPECT_EQ(yarn.am_expiry, 200s);
  EXPECT_EQ(yarn.container_expiry, 400s);
  EXPECT_EQ(yarn.am_max_attempts, 3);
  EXPECT_FALSE(yarn.work_preserving_restart);
  EXPECT_TRUE(yarn.preemption);
  EXPECT_EQ(yarn.nm_token_roll, 12h);
  EXPECT_EQ(yarn.amrm_token_roll, 6h);
  EXPECT_EQ(yarn.minimum_allocation.memory_mb, 512);
  EXPECT_EQ(yarn.maximum_allocation.memory_mb, 8192);
  EXPECT_EQ(yarn.offswitch_per_heartbeat, 2);
  EXPECT_EQ(yarn.node_locality_delay, 7);
  EXPECT_EQ(yarn.sigkill_delay, 1s);
  EXPECT_EQ(yarn.scheduling_wait, 3s);
  EXPECT_EQ(yarn.preemption_notice, 5s);
  EXPECT_EQ(yarn.localize, (Distribution{.law = Law::kUniform, .a = 1, .b = 2, .values = {}}));
  EXPECT_EQ(yarn.localize_again, Distribution::Constant(0.003));
  EXPECT_EQ(yarn.launch, Distribution::Constant(0.2));
  EXPECT_EQ(yarn.am_launch, Distribution::Constant(0.6));
  EXPECT_EQ(s.hdfs.replicas, 2);
  EXPECT_EQ(s.hdfs.quota_bytes, 1LL << 40);
}

TEST(LoadTest, EveryLawIsRead) {
  const auto latency = [](const std::string& law) {
    return Load(Small("hdfs: {latency: " + law + "}\n")).hdfs.latency;
  };
  EXPECT_EQ(latency("{dist: const, value: 3s}"), Distribution::Constant(3));
  EXPECT_EQ(latency("{dist: exponential, mean: 2m}"),
            (Distribution{.law = Law::kExponential, .a = 120, .b = 0, .values = {}}));
  EXPECT_EQ(latency("{dist: weibull, shape: 0.7, scale: 1h}"),
            (Distribution{.law = Law::kWeibull, .a = 0.7, .b = 3600, .values = {}}));
  EXPECT_EQ(latency("{dist: lognormal, median: 59m, sigma: 1.4}"),
            (Distribution{.law = Law::kLognormal, .a = 3540, .b = 1.4, .values = {}}));
  EXPECT_EQ(latency("{dist: gamma, shape: 2, scale: 1s}"),
            (Distribution{.law = Law::kGamma, .a = 2, .b = 1, .values = {}}));
  EXPECT_EQ(latency("{dist: pareto, shape: 2, min: 1s}"),
            (Distribution{.law = Law::kPareto, .a = 2, .b = 1, .values = {}}));
  EXPECT_EQ(latency("{dist: empirical, values: [1s, 250ms]}"),
            (Distribution{.law = Law::kEmpirical, .a = 0, .b = 0, .values = {1, 0.25}}));
  const Scenario s =
      Load(Small("defaults: {training: {steps: {dist: zipf, n: 10, s: 1.5}, step_time: 1s}}\n"));
  EXPECT_EQ(s.jobs[0].training.steps,
            (Distribution{.law = Law::kZipf, .a = 10, .b = 1.5, .values = {}}));
}

TEST(LoadTest, DefaultsGoUnderEveryJobAndTemplate) {
  const Scenario s = Load(R"(name: x
cluster: {nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}
defaults:
  gang: {policy: hold, hold: 1m}
  tasks: {worker: {memory: 2GiB, instances: 3}, evaluator: {memory: 1GiB}}
  env: {A: "1"}
jobs:
  - {name: a, gang: {hold: 2m}, tasks: {evaluator: null}, env: {B: "2"}}
arrivals:
  - {poisson: {rate: 20/h}, count: 5, prefix: p, template: {tasks: {worker: {instances: 1}}}}
)");
  const JobSpec& a = s.jobs[0].spec;
  EXPECT_EQ(a.gang.policy, GangPolicy::kHold);
  EXPECT_EQ(a.gang.hold, 2min);
  ASSERT_EQ(a.tasks.size(), 1U);
  EXPECT_EQ(a.tasks[0].instances, 3);
  EXPECT_EQ(a.env, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  ASSERT_EQ(s.arrivals.size(), 1U);
  EXPECT_EQ(s.arrivals[0].prefix, "p");
  EXPECT_EQ(s.arrivals[0].count, 5);
  EXPECT_EQ(s.arrivals[0].interarrival,
            (Distribution{.law = Law::kExponential, .a = 180, .b = 0, .values = {}}));
  const JobConfig& p = *s.arrivals[0].job;
  EXPECT_EQ(p.spec.gang.hold, 1min);
  EXPECT_EQ(p.spec.tasks.size(), 2U);
  EXPECT_EQ(p.spec.tasks[0].instances, 1);
  EXPECT_EQ(p.spec.name, "");
}

TEST(LoadTest, TrainingAndBehaviorOfASimulatedJob) {
  const Scenario s = Load(R"(name: x
cluster: {nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]}
jobs:
  - name: a
    submit: 5s
    files_size: 2GiB
    tasks: {worker: {instances: 2, memory: 1GiB}}
    training: {steps: 100, step_time: 100ms, checkpoint: {every: 60s, cost: 1s}, restore: 5s, peer_loss: {after: 10s}}
    behavior:
      - {task: "worker:1", attempt: 0, after: 30s, signal: KILL, out_of_memory: true}
      - {task: worker, on_term: {checkpoint: true, after: 5s, exit: 0}, start: 1s, writes: [m]}
      - {runs: forever}
      - {runs: 600s, exit: 3}
      - {hang: true, after: 1s}
  - {name: b, tasks: {worker: {memory: 1GiB}}, training: {peer_loss: none}}
)");
  const JobConfig& a = s.jobs[0];
  EXPECT_EQ(a.submit, 5s);
  EXPECT_EQ(a.files_bytes, 2LL << 30);
  EXPECT_EQ(a.training.steps, Distribution::Constant(100));
  EXPECT_EQ(a.training.step_time, Distribution::Constant(0.1));
  EXPECT_EQ(a.training.checkpoint.every, 60s);
  EXPECT_EQ(a.training.restore, 5s);
  ASSERT_TRUE(a.training.peer_loss);
  EXPECT_EQ(a.training.peer_loss->after, 10s);
  EXPECT_EQ(a.training.peer_loss->exit, 1);
  ASSERT_EQ(a.behavior.size(), 5U);
  EXPECT_EQ(a.behavior[0].task, "worker:1");
  EXPECT_EQ(a.behavior[0].attempt, 0);
  EXPECT_EQ(a.behavior[0].signal, 9);
  EXPECT_TRUE(a.behavior[0].out_of_memory);
  ASSERT_TRUE(a.behavior[1].on_term);
  EXPECT_EQ(a.behavior[1].on_term->exit, 0);
  EXPECT_EQ(a.behavior[1].on_term->after, Distribution::Constant(5));
  EXPECT_THAT(a.behavior[1].writes, ElementsAre("m"));
  EXPECT_TRUE(a.behavior[2].forever);
  EXPECT_EQ(a.behavior[3].runs, Distribution::Constant(600));
  EXPECT_TRUE(a.behavior[4].hang);
  EXPECT_TRUE(s.jobs[1].training.peer_loss->wait);
}

TEST(LoadTest, SelectorsOfEveryKind) {
  const Scenario s = Load(Small(R"(faults:
  - {kind: node_crash, at: 1s, target: {node: n-2}}
  - {kind: node_crash, at: 1s, target: {rack: r2}}
  - {kind: node_crash, at: 1s, target: {label: gpu}}
  - {kind: node_crash, at: 1s, target: nodes}
  - {kind: node_crash, at: 1s, target: {job: a, task: "worker:1"}}
  - {kind: node_crash, at: 1s, target: {am: a}}
  - {kind: node_crash, at: 1s, target: {random: 2, of: {label: gpu}}}
  - {kind: node_crash, at: 1s, target: {fraction: 0.5, of: {random: 1}}}
  - {kind: rm_restart, at: 1s, target: rm}
  - {kind: hdfs_down, at: 1s, target: hdfs}
  - {kind: client_kill, at: 1s, target: {job: a}}
)"));
  const auto target = [&](std::size_t i) { return *s.faults[i].target; };
  EXPECT_EQ(target(0).kind, TargetKind::kNode);
  EXPECT_EQ(target(0).name, "n-2");
  EXPECT_EQ(target(1).kind, TargetKind::kRack);
  EXPECT_EQ(target(2).kind, TargetKind::kLabel);
  EXPECT_EQ(target(3).kind, TargetKind::kAllNodes);
  EXPECT_EQ(target(4).kind, TargetKind::kTask);
  EXPECT_EQ(target(4).task, "worker:1");
  EXPECT_EQ(target(5).kind, TargetKind::kAm);
  EXPECT_EQ(target(6).kind, TargetKind::kRandom);
  EXPECT_EQ(target(6).amount, 2);
  EXPECT_EQ(target(6).of->kind, TargetKind::kLabel);
  EXPECT_EQ(target(7).kind, TargetKind::kFraction);
  EXPECT_EQ(target(7).of->of->kind, TargetKind::kAllNodes);
  EXPECT_EQ(target(8).kind, TargetKind::kRm);
  EXPECT_EQ(target(9).kind, TargetKind::kHdfs);
  EXPECT_EQ(target(10).kind, TargetKind::kTask);
  EXPECT_EQ(target(10).task, "");
}

TEST(LoadTest, FaultsKnowWhenAndForHowLong) {
  const Scenario s = Load(Small(R"(faults:
  - {kind: container_exit, when: {job: a, state: running}, after: 10s, target: {job: a, task: ps}, exit: 137}
  - {kind: node_crash, every: {dist: exponential, mean: 30d}, per: node, for: {dist: lognormal, median: 59m, sigma: 1.4}}
  - {kind: am_pause, when: {job: a, state: registered, task: "worker:0"}, target: {am: a}}
  - {kind: drop, message: TaskRegistered}
  - {kind: rm_restart, at: 1m, for: 5s}
)"));
  EXPECT_EQ(s.faults[0].when.job, "a");
  EXPECT_EQ(s.faults[0].when.state, "running");
  EXPECT_EQ(s.faults[0].when.after, 10s);
  EXPECT_EQ(s.faults[0].numbers.at("exit"), 137);
  EXPECT_TRUE(s.faults[1].when.per_node);
  EXPECT_EQ(s.faults[1].target->kind, TargetKind::kAllNodes);
  EXPECT_EQ(s.faults[1].when.every->a, 30 * 86400.0);
  EXPECT_EQ(s.faults[1].duration->law, Law::kLognormal);
  EXPECT_EQ(s.faults[2].when.task, "worker:0");
  EXPECT_EQ(s.faults[2].duration, Distribution::Constant(30));
  EXPECT_EQ(s.faults[3].when.at, Duration(0));
  EXPECT_EQ(s.faults[3].words.at("message"), "RegisterAgent");
  EXPECT_EQ(s.faults[3].numbers.at("nth"), 1);
  EXPECT_EQ(s.faults[4].when.at, 1min);
  EXPECT_EQ(s.faults[4].duration, Distribution::Constant(5));
}

TEST(LoadTest, ExpectationsBecomeComparisons) {
  const Scenario s = Load(Small(R"(faults: [{kind: am_crash, at: 1s, target: {am: a}}]
expect:
  - {job: a, status: [SUCCEEDED, UNFINISHED]}
  - {job: a, epochs: 2, restarts: {gang: 1, task: {at_most: 3}}, cause: null}
  - {metric: job/a.lost_work_seconds, at_least: 1s, at_most: 62s}
  - {metric: gpu_utilization, between: [50%, 1]}
  - {never: "job/a.leaked_containers > 0"}
  - {eventually: "job/a.status == SUCCEEDED", within: 30s, after: fault/0}
  - {metric: jct_mean_seconds.p99, at_most: 1h, where: {defaults.gang.policy: all}}
sweep: {matrix: {defaults.gang.policy: [hold, all]}, seeds: 0..99}
)"));
  ASSERT_EQ(s.expect.size(), 7U);
  EXPECT_EQ(s.expect[0].text, "{job: a, status: [SUCCEEDED, UNFINISHED]}");
  EXPECT_EQ(s.expect[0].all_of[0].metric, "job/a.status");
  EXPECT_EQ(s.expect[0].all_of[0].op, ExpectOp::kIn);
  EXPECT_THAT(s.expect[0].all_of[0].words, ElementsAre("SUCCEEDED", "UNFINISHED"));
  ASSERT_EQ(s.expect[1].all_of.size(), 4U);
  EXPECT_EQ(s.expect[1].all_of[0].low, 2);
  EXPECT_EQ(s.expect[1].all_of[1].metric, "job/a.restarts.gang");
  EXPECT_EQ(s.expect[1].all_of[2].op, ExpectOp::kAtMost);
  EXPECT_THAT(s.expect[1].all_of[3].words, ElementsAre("null"));
  ASSERT_EQ(s.expect[2].all_of.size(), 2U);
  EXPECT_EQ(s.expect[2].all_of[1].high, 62);
  EXPECT_EQ(s.expect[3].all_of[0].low, 0.5);
  EXPECT_EQ(s.expect[4].kind, ExpectKind::kNever);
  EXPECT_GT(s.expect[4].all_of[0].low, 0);
  EXPECT_LT(s.expect[4].all_of[0].low, 1e-300);
  EXPECT_EQ(s.expect[5].kind, ExpectKind::kEventually);
  EXPECT_EQ(s.expect[5].within, 30s);
  EXPECT_EQ(s.expect[5].after, "fault/0");
  EXPECT_EQ(s.expect[6].where.at("defaults.gang.policy"), "all");
  ASSERT_TRUE(s.sweep);
  EXPECT_EQ(s.sweep->first_seed, 0U);
  EXPECT_EQ(s.sweep->last_seed, 99U);
  EXPECT_THAT(s.sweep->matrix[0].second, ElementsAre("hold", "all"));
}

TEST(LoadTest, JobNamesOfArrivalsAreKnown) {
  EXPECT_THAT(
      ScenarioErrors(Small(
          "arrivals:\n"
          "  - {poisson: {rate: 1/h}, count: 5, prefix: p, template: {tasks: {worker: {memory: "
          "1GiB}}}}\n"
          "expect: [{job: p-5, status: SUCCEEDED}]\n")),
      IsEmpty());
  EXPECT_THAT(
      ScenarioErrors(Small(
          "arrivals:\n"
          "  - {poisson: {rate: 1/h}, count: 5, prefix: p, template: {tasks: {worker: {memory: "
          "1GiB}}}}\n"
          "expect: [{job: p-6, status: SUCCEEDED}]\n")),
      ElementsAre("8:16: `job`: there is no job `p-6` | allowed: a, p-1 | did you mean `p-1`?"));
}

TEST(LoadTest, ASeedGivenOutsideWins) {
  LoadOptions options = NoFiles();
  options.seed = 7;
  EXPECT_EQ(Load(Small("seed: 3\n"), options).seed, 7U);
}

TEST(LoadTest, ASweepWithoutSeedsHasTheScenariosOwn) {
  const Scenario s = Load(Small("seed: 3\nsweep: {matrix: {yarn.scheduler: [fifo, gang]}}\n"));
  EXPECT_EQ(s.sweep->first_seed, 3U);
  EXPECT_EQ(s.sweep->last_seed, 3U);
}

TEST(LoadTest, TheDigestIsOfWhatTheScenarioDoes) {
  const std::uint64_t digest = Load(kSmall).digest;
  EXPECT_EQ(Load(std::string("# a comment\n") + std::string(kSmall)).digest, digest);
  EXPECT_EQ(
      Load(R"({cluster: {nodes: [{labels: [gpu], name: n, count: 3, resources: {gpus: 2, vcores: 8,
    memory: 16GiB}}], racks: 2}, name: small,
    jobs: [{name: a, tasks: {worker: {memory: 1GiB, instances: 2}, ps: {memory: 1GiB}}}]})")
          .digest,
      digest);
  EXPECT_EQ(Load(Small("seed: 9\n")).digest, digest);
  EXPECT_NE(Load(Small("horizon: 23h\n")).digest, digest);
  // The order of tasks is the order of indices in the cluster.
  EXPECT_NE(Load(R"(name: small
cluster: {racks: 2, nodes: [{name: n, count: 3, labels: [gpu], resources: {memory: 16GiB, vcores: 8, gpus: 2}}]}
jobs:
  - name: a
    tasks: {ps: {memory: 1GiB}, worker: {instances: 2, memory: 1GiB}}
)")
                .digest,
            digest);
}

TEST(LoadTest, TheEffectiveDocumentIsTheSameScenario) {
  LoadOptions options = NoFiles();
  options.sets = {"jobs.a.tasks.worker.instances=4", "defaults.env.X=a: b"};
  options.sets[1] = "defaults.env.X='a: b'";
  const Scenario first = Load(Small("description: what it shows\n"), options);
  const Scenario second = Load(first.effective_yaml);
  EXPECT_EQ(second.description, "what it shows");
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.effective_yaml, second.effective_yaml);
  EXPECT_EQ(second.jobs[0].spec.tasks[0].instances, 4);
  EXPECT_EQ(second.jobs[0].spec.env.at("X"), "a: b");
}

TEST(LoadTest, TheScenarioOfInitIsSound) {
  const Scenario s = Load(InitScenarioText());
  EXPECT_EQ(s.jobs.size(), 1U);
  EXPECT_EQ(s.faults.size(), 1U);
}

// ---------------------------------------------------------------- job.yaml

TEST(LoadJobTest, EveryFieldOfAJobIsRead) {
  const JobSpec job = LoadOneJob(R"yaml(schema: tfyarn.job/v1
name: mnist
user: eve
queue: root.ml
priority: 3
tags: [nightly]
framework: pytorch
strategy: independent
compat: tony
tasks:
  chief:
    instances: 1
    memory: 4GiB
    vcores: 2
    gpus: 1
    resources: {yarn.io/fpga: 1}
    node_label: gpu
    placement: {spread: node, avoid: [ps]}
    command: [python3, train.py, "--ps_hosts={ps_hosts}"]
    class: tracked
    env: {TF_CPP_MIN_LOG_LEVEL: "1"}
  worker: {instances: 3, memory: 4GiB}
  ps: {memory: 2GiB, shell: "run | tee log", placement: {pack: rack}}
  tensorboard: {memory: 1GiB, logdir: checkpoints}
command: [python3, other.py]
files: [train.py]
archives: [{path: env.tar.gz, as: e}, data/x.zip]
python: {archive: {worker: cpu.tar.gz, chief: gpu.tar.gz}}
container: {image: repo/tf:2}
env: {A: "1", B: 2}
gang: {policy: none, deadline: 1h, hold: 1m, backoff: {first: 1s, max: 2s}}
policy: {name: tfjob, restart_policy: {worker: ExitCode, ps: Never}, backoff_limit: 3}
on_exit:
  - {task: worker, class: oom, do: {raise-memory: {factor: 2, max: 32GiB}}}
  - {exit: [75, -100], do: restart-gang, pays: infrastructure}
depends: [{task: ps, after: chief, state: ended, within: 60s, do: ignore}]
success: "ok(chief) and count(worker) >= 2"
retries: {user: 1, infrastructure: 2, window: 3h, resubmit: 4}
finish: {drain: {worker: 10s}, require: [{path: model.bin}, other]}
deadlines: {registration: 1m, start: 2m, run: 3h, listen: 4m, stop: 4s, stop_broken: 2s, blame: 5s, orphan: 6m, am_start: 7m,
            nodes: 9m}
heartbeat: {every: 2s, missed: 7}
watch: {progress: "step (\\d+)", stalled: 20m, do: fail}
am: {memory: 1GiB, vcores: 2, attempts: 5}
history: {keep: 7d}
)yaml");
  EXPECT_EQ(
      ToText(job),
      "JobSpec{name=\"mnist\" user=\"eve\" queue=\"root.ml\" priority=3 tags=[\"nightly\"] "
      "framework=pytorch "
      "strategy=independent compat_tony=yes tasks=[TaskTypeSpec{name=\"chief\" instances=1 "
      "resource=4 GiB, 2 vcores, 1 "
      "GPU, 1 yarn.io/fpga node_label=\"gpu\" placement=PlacementSpec{spread=node pack_rack=no "
      "avoid=[\"ps\"]} "
      "command=[\"python3\", \"train.py\", \"--ps_hosts={ps_hosts}\"] task_class=tracked "
      "env=[\"TF_CPP_MIN_LOG_LEVEL\":\"1\"]}, TaskTypeSpec{name=\"worker\" instances=3 resource=4 "
      "GiB, 1 vcore "
      "placement=PlacementSpec{pack_rack=no} command=[\"python3\", \"other.py\"]}, "
      "TaskTypeSpec{name=\"ps\" instances=1 "
      "resource=2 GiB, 1 vcore placement=PlacementSpec{pack_rack=yes} shell=\"run | tee log\"}, "
      "TaskTypeSpec{name=\"tensorboard\" instances=1 resource=1 GiB, 1 vcore "
      "placement=PlacementSpec{pack_rack=no} "
      "logdir=\"checkpoints\"}] files=[\"train.py\"] archives=[ArchiveSpec{path=\"env.tar.gz\" "
      "as=\"e\"}, "
      "ArchiveSpec{path=\"data/x.zip\" as=\"x\"}, "
      "ArchiveSpec{path=\"gpu.tar.gz\" as=\"gpu\"}, ArchiveSpec{path=\"cpu.tar.gz\" as=\"cpu\"}] "
      "python_archives=[\"chief\":\"gpu.tar.gz\", "
      "\"worker\":\"cpu.tar.gz\"] "
      "container_image=\"repo/tf:2\" env=[\"A\":\"1\", \"B\":\"2\"] gang=GangSpec{policy=none "
      "deadline=1h hold=1m "
      "backoff=Backoff{first=1s max=2s}} policy=PolicySpec{name=\"tfjob\" "
      "options=[\"backoff_limit\":\"3\", "
      "\"restart_policy.ps\":\"Never\", \"restart_policy.worker\":\"ExitCode\"]} "
      "on_exit=[ExitRule{task_type=\"worker\" "
      "classes=[oom] action=raise-memory raise_factor_percent=200 raise_max_memory_mb=32768}, "
      "ExitRule{exits=[75, -100] "
      "action=restart-gang pays=infrastructure raise_factor_percent=150 raise_max_memory_mb=0}] "
      "depends=[Dependency{task=\"ps\" after=\"chief\" state=ended within=1m action=ignore}] "
      "success=SuccessExpr{op=and "
      "number=0 children=[SuccessExpr{op=ok task_type=\"chief\" number=0}, "
      "SuccessExpr{op=count-at-least "
      "task_type=\"worker\" number=2}]} retries=RetrySpec{user=1 infrastructure=2 window=3h "
      "resubmit=4} "
      "finish=FinishSpec{drain=[\"worker\":10s] require_paths=[\"model.bin\", \"other\"]} "
      "deadlines=DeadlineSpec{registration=1m start=2m run=3h listen=4m stop=4s stop_broken=2s "
      "blame=5s "
      "orphan=6m "
      "am_start=7m nodes=9m} "
      "heartbeat=HeartbeatSpec{every=2s "
      "missed=7} watch=WatchSpec{progress=\"step (\\d+)\" stalled=20m action=fail} "
      "am=AmSpec{resource=1 GiB, 2 vcores "
      "attempts=5} history_keep=7d}");
}

TEST(LoadJobTest, TheStrategyFollowsFromThePs) {
  EXPECT_EQ(LoadOneJob("{name: a, shell: x, tasks: {worker: {memory: 1GiB}}}").strategy,
            Strategy::kMultiWorker);
  EXPECT_EQ(LoadOneJob("{name: a, shell: x, tasks: {worker: {memory: 1GiB}, ps: {memory: 1GiB}}}")
                .strategy,
            Strategy::kParameterServer);
}

TEST(LoadJobTest, PoliciesTakeShortAndLongForms) {
  const auto policy = [](const std::string& text) {
    return ToText(
        LoadOneJob("{name: a, shell: x, tasks: {worker: {memory: 1GiB}}, policy: " + text + "}")
            .policy);
  };
  EXPECT_EQ(policy("tony"), "PolicySpec{name=\"tony\"}");
  EXPECT_EQ(policy("{name: tony, untracked: [ps, worker], fail_on_worker_failure: true}"),
            "PolicySpec{name=\"tony\" options=[\"fail_on_worker_failure\":\"true\", "
            "\"untracked\":\"ps,worker\"]}");
  EXPECT_EQ(policy("{name: tfjob, restart_policy: OnFailure}"),
            "PolicySpec{name=\"tfjob\" options=[\"restart_policy\":\"OnFailure\"]}");
}

TEST(LoadJobTest, OneArchiveServesAll) {
  EXPECT_EQ(LoadOneJob("{name: a, shell: x, tasks: {w: {memory: 1GiB}}, python: {archive: e.tgz}}")
                .python_archives,
            (std::map<std::string, std::string>{{"", "e.tgz"}}));
}

TEST(LoadJobTest, AFileCanShowProgress) {
  const JobSpec job = LoadOneJob(
      "{name: a, shell: x, tasks: {w: {memory: 1GiB}}, watch: {progress: {file: out/p}}}");
  ASSERT_TRUE(job.watch);
  EXPECT_EQ(job.watch->progress_file, "out/p");
  EXPECT_EQ(job.watch->stalled, 10min);
}

}  // namespace
}  // namespace tfyarn::config::load_test
