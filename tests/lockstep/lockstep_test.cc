// The fake ResourceManager in lock-step with the model of the allocate contract, under sequences of
// operations that seeds draw (tests/fuzz/allocate_fuzz.cc searches for more).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "fakes/yarn-rm/schedulers.h"
#include "tests/lockstep/hand_cluster.h"
#include "tests/lockstep/world.h"
#include "tests/unit/golden_file.h"

namespace tfyarn::lockstep::lockstep_test {
namespace {

std::uint64_t Number(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::stoull(value);
}

class LockstepTest : public ::testing::TestWithParam<const fakes::SchedulerKind*> {};

TEST_P(LockstepTest, TheFakeAnswersAsTheContractSays) {
  const std::uint64_t first = Number("TFYARN_LOCKSTEP_SEED", 1);
  const std::uint64_t last = first + Number("TFYARN_LOCKSTEP_SEQUENCES", 1500);
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string bytes = BytesOf(seed, 4096);
    Draws draws(bytes);
    HandCluster cluster(*GetParam());
    const Outcome outcome = RunSequence(cluster, draws, 200);
    ASSERT_TRUE(outcome.broken.empty()) << "seed " << seed << "\n" << ToText(outcome);
  }
}

// The contract leaves much open: what the fake makes of it is recorded, for each hundred sequences.
TEST_P(LockstepTest, TheFakeAnswersAsItDid) {
  if (std::getenv("TFYARN_SANITIZED") != nullptr)
    GTEST_SKIP() << "under sanitizers the sequences of the test above are enough";
  constexpr std::uint64_t kLines = 20, kSequences = 100;
  std::string text;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    std::uint64_t digest = 0;
    for (std::uint64_t i = 0; i < kSequences; ++i) {
      const std::string bytes = BytesOf(line * kSequences + i, 4096);
      Draws draws(bytes);
      HandCluster cluster(*GetParam());
      static_cast<void>(RunSequence(cluster, draws, 200));
      digest = digest * 31 + cluster.digest();
    }
    text += fmt::format("{:016x}\n", digest);
  }
  ExpectGolden(fmt::format("lockstep/{}.txt", GetParam()->name), text);
}

INSTANTIATE_TEST_SUITE_P(Schedulers, LockstepTest, ::testing::ValuesIn(fakes::AllSchedulers()),
                         [](const auto& kind) { return std::string(kind.param->name); });

// ---------------------------------------------------------------- the model itself

/// An application with one container that was delivered, and what its AM is answered next.
class AllocateModelTest : public ::testing::Test {
 protected:
  AllocateModelTest() {
    model_.AttemptBegins(kAttempt);
    model_.NodeIs(kNode, yarn::NodeState::kRunning);
    model_.Judge(
        Answer<yarn::RegisterApplicationMasterResponse>(yarn::RegisterApplicationMasterResponse{}));
    Allocate({.ask = {Row(2)}}, {});
    model_.Granted(held_);
    Allocate({}, {.allocated_containers = {held_}, .nm_tokens = {{.node = kNode, .token = {}}}});
    EXPECT_TRUE(model_.broken().empty()) << model_.broken().front();
  }

  static yarn::ResourceRequest Row(std::int32_t count) {
    return {.priority = 1, .capability = {.memory_mb = 1024, .vcores = 1}, .num_containers = count};
  }
  static yarn::Container Container(std::int64_t id) {
    return {.id = {.application_attempt = kAttempt, .id = id},
            .node = kNode,
            .resource = {.memory_mb = 1024, .vcores = 1},
            .priority = 1,
            .token = {}};
  }
  /// The next allocate, answered so; ids and node counts are right.
  void Allocate(yarn::AllocateRequest request, yarn::AllocateResponse answer) {
    request.response_id = model_.response_id();
    answer.response_id = request.response_id + 1;
    answer.num_cluster_nodes = 1;
    model_.Judge(request, answer);
  }
  yarn::ContainerStatus Ended(std::int32_t status) const {
    return {.id = held_.id,
            .state = yarn::ContainerState::kComplete,
            .exit_status = status,
            .diagnostics = {}};
  }
  /// What the model says since the beginning contains this.
  void ExpectBroken(const std::string& what) {
    ASSERT_FALSE(model_.broken().empty()) << "nothing is broken, not even: " << what;
    EXPECT_NE(model_.broken().front().find(what), std::string::npos) << model_.broken().front();
  }

  static constexpr ApplicationAttemptId kAttempt{.application = {.id = 1}, .attempt = 1};
  inline static const NodeId kNode{.host = "h", .port = 1};
  AllocateModel model_{{.keep_containers = true,
                        .minimum = {.memory_mb = 1024, .vcores = 1},
                        .maximum = {.memory_mb = 4096, .vcores = 4},
                        .places = {{"h", {.rack = "/r", .partition = ""}}}}};
  yarn::Container held_ = Container(2);
};

TEST_F(AllocateModelTest, AGoodAnswerIsGood) {
  model_.Ends(held_.id, 3);
  Allocate({}, {.completed_containers = {Ended(3)}});
  Allocate({.release = {held_.id, Container(99).id}}, {});
  EXPECT_TRUE(model_.broken().empty());
}

TEST_F(AllocateModelTest, AContainerIsDeliveredOnce) {
  Allocate({}, {.allocated_containers = {held_}});
  ExpectBroken("delivered again");
}

TEST_F(AllocateModelTest, AGrantIsInTheNextAnswer) {
  model_.Granted(Container(3));
  Allocate({}, {});
  ExpectBroken("not in the next answer");
}

TEST_F(AllocateModelTest, NoMoreIsGrantedThanIsOutstanding) {
  model_.Granted(Container(3));
  model_.Granted(Container(4));
  ExpectBroken("nothing is outstanding");
}

TEST_F(AllocateModelTest, ABlacklistedNodeGetsNothing) {
  Allocate({.blacklist_additions = {"/r"}}, {});
  model_.Granted(Container(3));
  ExpectBroken("blacklisted");
}

TEST_F(AllocateModelTest, AnEndIsToldOnceAndWithItsStatus) {
  model_.Ends(held_.id, 3);
  Allocate({}, {.completed_containers = {Ended(3)}});
  Allocate({}, {.completed_containers = {Ended(3)}});
  ExpectBroken("completed again");
}

TEST_F(AllocateModelTest, AnEndHasItsStatus) {
  model_.Ends(held_.id, 3);
  Allocate({}, {.completed_containers = {Ended(-100)}});
  ExpectBroken("is reported with -100");
}

TEST_F(AllocateModelTest, AReleaseIsAnsweredAtOnce) {
  Allocate({.release = {held_.id}}, {});
  ExpectBroken("has ended and is not in the next answer");
}

TEST_F(AllocateModelTest, AnEndThatWasNotAcknowledgedIsToldToTheNextAttempt) {
  model_.Ends(held_.id, 3);
  Allocate({}, {.completed_containers = {Ended(3)}});
  model_.AttemptEnds();
  model_.AttemptBegins({.application = kAttempt.application, .attempt = 2});
  model_.Judge(
      Answer<yarn::RegisterApplicationMasterResponse>(yarn::RegisterApplicationMasterResponse{}));
  Allocate({}, {});
  ExpectBroken("has ended and is not in the next answer");
}

TEST_F(AllocateModelTest, ARepeatedAllocateIsAnsweredAgainAndNotCarriedOut) {
  model_.Judge({.response_id = model_.response_id() - 1, .release = {held_.id}},
               yarn::AllocateResponse{.response_id = model_.response_id()});
  ExpectBroken("a repeated answer says something else");
}

TEST_F(AllocateModelTest, AnotherIdIsRefused) {
  model_.Judge({.response_id = model_.response_id() + 1},
               yarn::AllocateResponse{.response_id = model_.response_id() + 2});
  ExpectBroken("was taken for");
}

TEST_F(AllocateModelTest, RunningContainersAreGivenToTheNextAttempt) {
  model_.Runs(held_.id);
  model_.AttemptEnds();
  model_.AttemptBegins({.application = kAttempt.application, .attempt = 2});
  model_.Judge(
      Answer<yarn::RegisterApplicationMasterResponse>(yarn::RegisterApplicationMasterResponse{}));
  ExpectBroken("was not given to the next attempt");
}

TEST_F(AllocateModelTest, ANodesTokenComesWithItsFirstContainer) {
  model_.Granted(Container(3));
  Allocate({},
           {.allocated_containers = {Container(3)}, .nm_tokens = {{.node = kNode, .token = {}}}});
  ExpectBroken("came again");
}

TEST_F(AllocateModelTest, ChangedNodesAreTold) {
  model_.NodeChanges(kNode, yarn::NodeState::kLost);
  Allocate({}, {});
  ExpectBroken("has changed and is not among the updated nodes");
}

TEST_F(AllocateModelTest, OnlyWhatIsHeldIsToBePreempted) {
  model_.Ends(held_.id, 3);
  Allocate({}, {.completed_containers = {Ended(3)}, .preempt_strict = {held_.id}});
  ExpectBroken("is to be preempted and is not held");
}

TEST_F(AllocateModelTest, AfterARestartAnAmRegistersAgain) {
  model_.RmRestarts();
  Allocate({}, {});
  ExpectBroken("an AM that is not registered was served");
}

}  // namespace
}  // namespace tfyarn::lockstep::lockstep_test
