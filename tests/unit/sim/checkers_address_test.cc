// own-address: a process starts only under a cluster spec whose entry for its task is the node that
// it is on and the port that its agent holds there.
#include <gtest/gtest.h>

#include "sim/node_table.h"
#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_address_test {
namespace {

/// The job of CheckerScript up to two containers whose agents have leased a port each.
class AddressScript : public CheckerScript {
 public:
  AddressScript() {
    Grant(1, "n1", 0, true);
    StartAm();
    Grant(2, "n1");
    Grant(3, "n2");
    StartAgent(2, kWorker0);
    StartAgent(3, kWorker1);
    Lease(2, 40001);
    Lease(3, 50001);
  }

  void StartAgent(std::int64_t container, const TaskId& task) {
    Say(trace::AgentTold{
        .job = kJob,
        .container = Container(container),
        .event = AgentStarted{.fence = {.container = Container(container), .task = task}}});
    AskForPort(container);
  }
  void AskForPort(std::int64_t container) {
    Say(trace::AgentOrdered{.job = kJob, .container = Container(container), .action = LeasePort{}});
  }
  void Lease(std::int64_t container, std::int32_t port) {
    Say(trace::AgentTold{
        .job = kJob, .container = Container(container), .event = PortLeased{.port = port}});
  }
  void SpawnUnder(std::int64_t container, const TaskId& task, std::vector<HostPort> workers) {
    ClusterSpec spec{.epoch = Epoch(1), .tasks = {{"worker", std::move(workers)}}};
    Say(trace::AgentOrdered{
        .job = kJob,
        .container = Container(container),
        .action = SpawnProcess{
            .task = task, .process = {.epoch = Epoch(1)}, .spec = Share(std::move(spec))}});
  }
};

TEST(CheckersAddressTest, EachUnderItsOwnAddressBreaksNothing) {
  AddressScript script;
  script.SpawnUnder(2, kWorker0, {{"n1", 40001}, {"n2", 50001}});
  script.SpawnUnder(3, kWorker1, {{"n1", 40001}, {"n2", 50001}});
  EXPECT_EQ(script.Broken(), Names());
}

// A task that has not said its address yet is no matter of the one that starts.
TEST(CheckersAddressTest, APeersAddressMayBeUnknown) {
  AddressScript script;
  script.SpawnUnder(2, kWorker0, {{"n1", 40001}, {"", 0}});
  EXPECT_EQ(script.Broken(), Names());
}

TEST(CheckersAddressTest, ItsOwnMayBeUnknownOnlyWhereItDoesNotTrain) {
  AddressScript script;
  script.SpawnUnder(2, kWorker0, {{"n1", 0}, {"n2", 50001}});
  EXPECT_EQ(script.Broken(), Names{"own-address"});
  const TaskId tensorboard{"tensorboard", 0};
  script.Grant(4);
  script.StartAgent(4, tensorboard);
  script.Lease(4, 40002);
  const auto spawn = [&](std::int32_t port) {
    script.Say(trace::AgentOrdered{
        .job = CheckerScript::kJob,
        .container = CheckerScript::Container(4),
        .action = SpawnProcess{
            .task = tensorboard,
            .process = {.epoch = Epoch(2)},
            .spec = Share({.epoch = Epoch(2), .tasks = {{"tensorboard", {{"n1", port}}}}})}});
  };
  spawn(0);
  for (const std::string& name : script.Broken()) EXPECT_NE(name, "own-address");
  spawn(40003);
  const Names broken = script.Broken();
  EXPECT_EQ(std::count(broken.begin(), broken.end(), "own-address"), 1);
}

TEST(CheckersAddressTest, AnotherNodeBreaksOwnAddress) {
  AddressScript script;
  script.SpawnUnder(2, kWorker0, {{"n2", 40001}, {"n2", 50001}});
  EXPECT_EQ(script.Broken(), Names{"own-address"});
}

TEST(CheckersAddressTest, ThePortOfAPeerBreaksOwnAddress) {
  AddressScript script;
  script.SpawnUnder(3, kWorker1, {{"n1", 40001}, {"n2", 40001}});
  EXPECT_EQ(script.Broken(), Names{"own-address"});
}

TEST(CheckersAddressTest, AnEntryOfItsOwnIsNeeded) {
  AddressScript script;
  script.SpawnUnder(3, kWorker1, {{"n1", 40001}});
  EXPECT_EQ(script.Broken(), Names{"own-address"});
}

TEST(CheckersAddressTest, APortThatWasGivenUpIsNotItsOwn) {
  AddressScript script;
  script.AskForPort(2);
  script.Lease(2, 40002);
  script.SpawnUnder(2, kWorker0, {{"n1", 40002}, {"n2", 50001}});
  EXPECT_EQ(script.Broken(), Names());
  script.AskForPort(3);
  script.Lease(3, 50002);
  script.SpawnUnder(3, kWorker1, {{"n1", 40002}, {"n2", 50001}});
  EXPECT_EQ(script.Broken(), Names{"own-address"});
}

TEST(CheckersAddressTest, NoPortIsHeldWhileAnotherIsLeased) {
  AddressScript script;
  script.AskForPort(2);
  script.SpawnUnder(2, kWorker0, {{"n1", 40001}, {"n2", 50001}});
  EXPECT_EQ(script.Broken(), Names{"own-address"});
}

// Else a wrong node or task could have the right port by chance.
TEST(CheckersAddressTest, TheFirstFreePortDiffersFromNodeToNodeAndFromSeedToSeed) {
  config::ClusterSpecConfig cluster;
  cluster.nodes = {
      {.name = "n", .count = 4, .rack = {}, .labels = {}, .partition = {}, .resources = {}}};
  std::set<std::int32_t> ports;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}}) {
    NodeTable nodes(cluster);
    nodes.DrawPorts(seed, 0);
    for (std::int32_t i = 0; i < nodes.size(); ++i) {
      EXPECT_GE(nodes[i].next_port, kFirstPort);
      EXPECT_LE(nodes[i].next_port, kLastPort);
      ports.insert(nodes[i].next_port);
    }
  }
  EXPECT_EQ(ports.size(), 12U);
}

}  // namespace
}  // namespace tfyarn::sim::checkers_address_test
