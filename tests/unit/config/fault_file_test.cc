#include "config/fault_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::fault_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JobSpec Job() {
  const auto job = LoadJobText(
      "schema: tfyarn.job/v1\nname: a\ntasks: {worker: {instances: 2, memory: 1GiB, command: "
      "[true]}, ps: {memory: 1GiB, command: [true]}}\n",
      "job.yaml", NoFiles());
  EXPECT_TRUE(job) << (job ? "" : Render(job.error()));
  return job.value_or(JobSpec{});
}

tl::expected<std::vector<FaultSpec>, Diagnostics> Load(const std::string& fault) {
  return LoadRealFaults("s", Job(), {.open = OpenVirtual({{"s", "faults:\n- " + fault + "\n"}})});
}

std::vector<std::string> Errors(const std::string& fault) {
  const auto faults = Load(fault);
  return faults ? std::vector<std::string>{} : Short(faults.error());
}

TEST(FaultFileTest, EveryKindThatThisMachineKnowsIsReadAsInAScenario) {
  for (const std::string entry :
       {"{kind: container_signal, at: 1s, target: {job: a, task: \"worker:1\"}, signal: SEGV}",
        "{kind: container_lost, at: 1s, target: {job: a, task: ps}, exit: 137}",
        "{kind: am_crash, when: {job: a, state: running}, after: 2s, target: {am: a}}",
        "{kind: am_pause, at: 1s, target: {am: a}, for: 2s}",
        "{kind: hang, when: {job: a, task: \"ps:0\", state: registered}, target: {job: a}}",
        "{kind: preempt, at: 1s, target: {job: a}, notice: 500ms}",
        "{kind: port_in_use, target: {job: a, task: \"worker:0\"}}",
        "{kind: client_kill, at: 1s, target: {job: a}}",
        "{kind: hdfs_quota, at: 1s, bytes: 1MiB, for: 1s}"}) {
    EXPECT_THAT(Errors(entry), ElementsAre()) << entry;
  }
  const auto signal =
      Load("{kind: container_signal, at: 1s, target: {job: a, task: \"worker:1\"}, signal: SEGV}");
  ASSERT_TRUE(signal);
  EXPECT_EQ(signal->at(0).numbers.at("signal"), 11);
  EXPECT_EQ(signal->at(0).when.at, Duration(1s));
  EXPECT_EQ(signal->at(0).target->task, "worker:1");
}

TEST(FaultFileTest, WhatOneMachineCannotDoIsAnErrorThatListsWhatItCan) {
  EXPECT_THAT(
      Errors("{kind: node_crash, at: 1s, target: {node: n-1}}"),
      ElementsAre("2:10: faults of kind `node_crash` cannot be made real on one machine: this "
                  "machine is one node, and the run ends with it | "
                  "allowed: am_crash, am_pause, container_signal, container_lost, preempt, "
                  "hang, port_in_use, client_kill, hdfs_quota | `tfsim run` simulates the "
                  "others"));
}

TEST(FaultFileTest, WhatIsRandomOrComesAgainIsForTheSimulator) {
  EXPECT_THAT(Errors("{kind: hang, every: 10s, target: {job: a}}"),
              ElementsAre(HasSubstr("`every`: for the simulator; here a fault strikes once")));
  EXPECT_THAT(Errors("{kind: hang, at: 1s, target: {random: 1, of: {job: a}}}"),
              ElementsAre(HasSubstr("random targets are for the simulator; name the tasks")));
  EXPECT_THAT(Errors("{kind: hang, at: 1s, target: {job: a}, for: {dist: exponential, mean: 1s}}"),
              ElementsAre(HasSubstr("a random length is for the simulator")));
  EXPECT_THAT(Errors("{kind: port_in_use, at: 2s, target: {job: a, task: \"ps:0\"}}"),
              ElementsAre(HasSubstr("the first start of a task")));
  EXPECT_THAT(Errors("{kind: port_in_use, count: 2, target: {job: a, task: \"ps:0\"}}"),
              ElementsAre(HasSubstr("the first start of a task")));
  EXPECT_THAT(Errors("{kind: port_in_use, target: {job: a, task: ps}}"),
              ElementsAre(HasSubstr("happens to one task, TYPE:INDEX")));
  EXPECT_THAT(Errors("{kind: container_lost, at: 1s, target: {job: a}}"),
              ElementsAre(HasSubstr("say `exit: 137`")));
}

TEST(FaultFileTest, TargetsAreThisJobsTasks) {
  EXPECT_THAT(Errors("{kind: hang, at: 1s, target: {job: b}}"),
              ElementsAre(HasSubstr("there is no job `b`")));
  EXPECT_THAT(Errors("{kind: hang, at: 1s, target: {job: a, task: \"worker:2\"}}"),
              ElementsAre(HasSubstr("there is no task worker:2, worker has 2 instances")));
  EXPECT_THAT(Errors("{kind: am_crash, when: {job: b, state: running}, target: {am: b}}").size(),
              2U);
  EXPECT_THAT(Errors("{kind: hang, at: 1s, target: {node: n-1}}"),
              ElementsAre(HasSubstr("not something that hang happens to")));
}

TEST(FaultFileTest, OtherKeysAndAnEmptyFileAreErrors) {
  const auto load = [](const std::string& text) {
    const auto faults = LoadRealFaults("s", Job(), {.open = OpenVirtual({{"s", text}})});
    return faults ? std::vector<std::string>{} : Short(faults.error());
  };
  EXPECT_THAT(load("jobs: []\nfaults: []\n"), ElementsAre(HasSubstr("unknown field `jobs`")));
  EXPECT_EQ(load("{}\n").size(), 1U);
  EXPECT_EQ(load("faults: []\n").size(), 0U);
}

}  // namespace
}  // namespace tfyarn::config::fault_file_test
