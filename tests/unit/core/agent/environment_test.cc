// RenderEnvironment against golden files: one file per job and framework with the variables of
// every task. To see a difference as a diff, run with TFYARN_REWRITE=1.
#include "core/agent/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/golden_file.h"

namespace tfyarn::agent::environment_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ApplicationId kApplication{.cluster_timestamp = 1700000000000, .id = 12};

TaskTypeSpec Type(std::string name, std::int32_t instances) {
  TaskTypeSpec type;
  type.name = std::move(name);
  type.instances = instances;
  return type;
}

/// A job whose tasks listen on hosts n1, n2, n1, n2, ... at ports 5000, 5001, ..., in the order
/// given.
struct Sample {
  JobSpec job;
  ClusterSpec spec;
  std::int32_t next = 0;

  explicit Sample(Framework framework) {
    job.name = "mnist";
    job.framework = framework;
    spec.epoch = Epoch(3);
  }
  Sample& Add(const std::string& type, std::int32_t instances) {
    job.tasks.push_back(Type(type, instances));
    for (std::int32_t i = 0; i < instances; ++i, ++next) {
      spec.tasks[type].push_back({.host = next % 2 == 0 ? "n1" : "n2", .port = 5000 + next});
    }
    return *this;
  }
  std::map<std::string, std::string> Of(const std::string& type, std::int32_t index) const {
    return RenderEnvironment(job, {type, index}, {.attempt = TaskAttempt(1), .epoch = Epoch(3)},
                             spec, kApplication, true);
  }
};

std::string Text(const Sample& sample) {
  std::ostringstream out;
  for (const TaskTypeSpec& type : sample.job.tasks) {
    for (std::int32_t i = 0; i < type.instances; ++i) {
      out << "# " << type.name << ":" << i << "\n";
      for (const auto& [name, value] : sample.Of(type.name, i)) out << name << "=" << value << "\n";
      out << "\n";
    }
  }
  return out.str();
}

TEST(EnvironmentTest, TensorflowWithEveryRole) {
  Sample sample(Framework::kTensorflow);
  sample.Add("chief", 1).Add("worker", 2).Add("ps", 1).Add("evaluator", 1).Add("tensorboard", 1);
  sample.job.env = {{"A", "job"}, {"B", "job"}};
  sample.job.tasks[1].env = {{"B", "worker"}};
  ExpectGolden("env/tensorflow.txt", Text(sample));
}

TEST(EnvironmentTest, PytorchWithAMaster) {
  Sample sample(Framework::kPytorch);
  sample.Add("worker", 3).Add("master", 1).Add("tensorboard", 1);
  ExpectGolden("env/pytorch.txt", Text(sample));
}

TEST(EnvironmentTest, HorovodWithADriver) {
  Sample sample(Framework::kHorovod);
  sample.Add("driver", 1).Add("worker", 5);
  ExpectGolden("env/horovod.txt", Text(sample));
}

TEST(EnvironmentTest, HorovodWithoutADriver) {
  Sample sample(Framework::kHorovod);
  sample.Add("worker", 2);
  ExpectGolden("env/horovod-no-driver.txt", Text(sample));
}

TEST(EnvironmentTest, GenericJobsGetOnlyOurOwn) {
  Sample sample(Framework::kGeneric);
  sample.Add("loader", 1);
  ExpectGolden("env/generic.txt", Text(sample));
}

TEST(EnvironmentTest, TonyCompatibility) {
  Sample sample(Framework::kTensorflow);
  sample.Add("chief", 1).Add("worker", 2).Add("ps", 1).Add("tensorboard", 1);
  sample.job.compat_tony = true;
  ExpectGolden("env/tony.txt", Text(sample));
}

// With an evaluator in its map the chief of a parameter-server job hangs without a message.
TEST(EnvironmentTest, OnlyTheEvaluatorSeesTheEvaluator) {
  Sample sample(Framework::kTensorflow);
  sample.Add("chief", 1).Add("evaluator", 1);
  EXPECT_EQ(sample.Of("chief", 0).at("TF_CONFIG").find("evaluator"), std::string::npos);
  EXPECT_NE(sample.Of("evaluator", 0).at("TF_CONFIG").find("\"evaluator\":[\"n2:5001\"]"),
            std::string::npos);
}

TEST(EnvironmentTest, ATaskOutsideTheTrainingClusterHasNoTfConfig) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1).Add("tensorboard", 1).Add("notebook", 1);
  sample.job.tasks[2].task_class = TaskClass::kSidecar;
  EXPECT_EQ(sample.Of("tensorboard", 0).count("TF_CONFIG"), 0U);
  EXPECT_EQ(sample.Of("notebook", 0).count("TF_CONFIG"), 0U);
  EXPECT_EQ(sample.Of("worker", 0).at("TF_CONFIG"),
            R"({"cluster":{"worker":["n1:5000"]},"task":{"type":"worker","index":0}})");
}

TEST(EnvironmentTest, AddressesNotYetKnownMakeTheSparseForm) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 3);
  sample.spec.tasks["worker"][1].port = 0;
  EXPECT_EQ(
      sample.Of("worker", 2).at("TF_CONFIG"),
      R"({"cluster":{"worker":{"0":"n1:5000","2":"n1:5002"}},"task":{"type":"worker","index":2}})");
}

TEST(EnvironmentTest, AHostNameThatIsNotUtf8DoesNotThrow) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1);
  sample.spec.tasks["worker"][0].host = "n\xff";
  EXPECT_NE(sample.Of("worker", 0).at("TF_CONFIG").find(":5000"), std::string::npos);
}

TEST(EnvironmentTest, TheUserMayTurnPortReuseOff) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1);
  sample.job.env["TF_GRPC_REUSE_PORT"] = "false";
  EXPECT_EQ(sample.Of("worker", 0).at("TF_GRPC_REUSE_PORT"), "false");
}

TEST(EnvironmentTest, ACustomTypeOfDrainedClassIsLeftOutLikeAnEvaluator) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1).Add("scorer", 1);
  sample.job.tasks[1].task_class = TaskClass::kDrained;
  sample.job.tasks[0].task_class = TaskClass::kDrained;  // A worker trains whatever its class.
  EXPECT_EQ(sample.Of("worker", 0).at("TF_CONFIG").find("scorer"), std::string::npos);
  EXPECT_NE(sample.Of("scorer", 0).at("TF_CONFIG").find("\"scorer\""), std::string::npos);
  EXPECT_NE(sample.Of("scorer", 0).at("TF_CONFIG").find("\"worker\""), std::string::npos);
}

// ---------------------------------------------------------------- who listens

std::vector<std::string> Listeners(const Sample& sample) {
  std::vector<std::string> listen;
  for (const auto& [type, addresses] : sample.spec.tasks) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const TaskId task{.type = type, .index = static_cast<std::int32_t>(i)};
      if (ShouldListen(sample.job, task, sample.spec)) listen.push_back(ToString(task));
    }
  }
  return listen;
}

TEST(EnvironmentTest, FrameworksMakeTheseTasksListen) {
  Sample tensorflow(Framework::kTensorflow);
  tensorflow.Add("chief", 1)
      .Add("ps", 1)
      .Add("worker", 2)
      .Add("evaluator", 1)
      .Add("tensorboard", 1);
  tensorflow.job.strategy = Strategy::kParameterServer;
  EXPECT_THAT(Listeners(tensorflow), ElementsAre("chief:0", "ps:0", "worker:0", "worker:1"));
  tensorflow.job.strategy = Strategy::kIndependent;
  EXPECT_THAT(Listeners(tensorflow), testing::IsEmpty());
  // A strategy with one worker starts no server.
  EXPECT_THAT(Listeners(Sample(Framework::kTensorflow).Add("worker", 1)), testing::IsEmpty());
  EXPECT_THAT(Listeners(Sample(Framework::kPytorch).Add("master", 1).Add("worker", 2)),
              ElementsAre("master:0"));
  EXPECT_THAT(Listeners(Sample(Framework::kPytorch).Add("worker", 1)), testing::IsEmpty());
  EXPECT_THAT(Listeners(Sample(Framework::kHorovod).Add("driver", 1).Add("worker", 2)),
              ElementsAre("driver:0"));
  EXPECT_THAT(Listeners(Sample(Framework::kGeneric).Add("worker", 2)), testing::IsEmpty());
}

// ---------------------------------------------------------------- command line

Sample WithCommand(std::vector<std::string> command) {
  Sample sample(Framework::kTensorflow);
  sample.Add("ps", 1).Add("worker", 2).Add("chief", 1);
  sample.job.tasks[1].command = std::move(command);
  return sample;
}

TEST(EnvironmentTest, ATypesOwnPythonGoesBeforeThatOfAll) {
  JobSpec job;
  EXPECT_EQ(PythonDirectory(job, "worker"), "");
  job.archives = {{.path = "data.zip", .as = "data"},
                  {.path = "all.tar.gz", .as = "python"},
                  {.path = "worker.tar.gz", .as = "python-worker"}};
  job.python_archives = {{"worker", "worker.tar.gz"}};
  EXPECT_EQ(PythonDirectory(job, "worker"), "python-worker");
  EXPECT_EQ(PythonDirectory(job, "ps"), "");
  job.python_archives = {{"", "all.tar.gz"}, {"worker", "worker.tar.gz"}};
  EXPECT_EQ(PythonDirectory(job, "worker"), "python-worker");
  EXPECT_EQ(PythonDirectory(job, "ps"), "python");
}

TEST(CommandTest, PlaceholdersAreFilledIn) {
  const Sample sample = WithCommand({"python3", "train.py", "--ps_hosts={ps_hosts}",
                                     "--worker_hosts={worker_hosts}", "--job_name={task_type}",
                                     "--task_index={task_index}", "{port}", "{chief_hosts}"});
  EXPECT_THAT(
      RenderCommand(sample.job, {"worker", 1}, sample.spec),
      ElementsAre("python3", "train.py", "--ps_hosts=n1:5000", "--worker_hosts=n2:5001,n1:5002",
                  "--job_name=worker", "--task_index=1", "5002", "n2:5003"));
}

TEST(CommandTest, UnknownAndBrokenPlaceholdersStayAsTheyAre) {
  const Sample sample = WithCommand({"{x}", "{", "}", "{}", "{{task_index}}", "{task_index",
                                     "{_hosts}", "{evaluator_hosts}", R"({"a":{task_index}})"});
  EXPECT_THAT(RenderCommand(sample.job, {"worker", 1}, sample.spec),
              ElementsAre("{x}", "{", "}", "{}", "{1}", "{task_index", "{_hosts}",
                          "{evaluator_hosts}", R"({"a":1})"));
}

TEST(CommandTest, AJobWithoutPsHasAnEmptyList) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1);
  sample.job.tasks[0].command = {"--ps_hosts={ps_hosts}"};
  EXPECT_THAT(RenderCommand(sample.job, {"worker", 0}, sample.spec), ElementsAre("--ps_hosts="));
}

TEST(CommandTest, ADirectoryToShowBecomesTensorboardAtItsAddress) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1).Add("tensorboard", 1);
  sample.job.tasks[1].logdir = "summaries of $HOME";
  const auto argv = RenderCommand(sample.job, {"tensorboard", 0}, sample.spec);
  EXPECT_THAT(argv, ElementsAre("/bin/sh", "-c", HasSubstr("exec tensorboard --logdir \"$1\""),
                                "tensorboard", "summaries of $HOME", "n2", "5001"));
  sample.job.tasks[1].command = {"mine"};
  EXPECT_THAT(RenderCommand(sample.job, {"tensorboard", 0}, sample.spec), ElementsAre("mine"));
}

TEST(CommandTest, AShellIsUsedOnlyWhenAskedFor) {
  Sample sample(Framework::kTensorflow);
  sample.Add("worker", 1);
  sample.job.tasks[0].shell = "exec train {task_index}";
  EXPECT_THAT(RenderCommand(sample.job, {"worker", 0}, sample.spec),
              ElementsAre("/bin/sh", "-c", "exec train 0"));
  sample.job.tasks[0].command = {"train"};
  EXPECT_THAT(RenderCommand(sample.job, {"worker", 0}, sample.spec), ElementsAre("train"));
}

}  // namespace
}  // namespace tfyarn::agent::environment_test
