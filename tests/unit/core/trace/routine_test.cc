#include "core/trace/routine.h"

#include <gtest/gtest.h>

namespace tfyarn::trace::routine_test {
namespace {

TEST(RoutineTest, IdleHeartbeatsAndTheirAnswersStayOut) {
  EXPECT_TRUE(
      IsRoutine(AmOrdered{.action = CallRm{.request = yarn::AllocateRequest{.response_id = 4}}}));
  EXPECT_TRUE(
      IsRoutine(AmTold{.event = RmReplied{.response = yarn::AllocateResponse{.response_id = 5}}}));
  EXPECT_TRUE(IsRoutine(AmTold{.event = AgentSaid{.message = AgentHeartbeat{}}}));
  EXPECT_TRUE(IsRoutine(AgentTold{.event = AmSaid{.message = HeartbeatSeen{}}}));
  EXPECT_TRUE(IsRoutine(AgentTold{.event = HeartbeatsElided{}}));
  EXPECT_TRUE(IsRoutine(ClientTold{.event = DeadlineReached{}}));
}

TEST(RoutineTest, AHeartbeatThatSaysSomethingStays) {
  yarn::AllocateRequest asking;
  asking.ask.emplace_back();
  EXPECT_FALSE(IsRoutine(AmOrdered{.action = CallRm{.request = asking}}));
  yarn::AllocateResponse resync;
  resync.am_command = yarn::AmCommand::kResync;
  EXPECT_FALSE(IsRoutine(AmTold{.event = RmReplied{.response = resync}}));
  EXPECT_FALSE(IsRoutine(AmTold{.event = RmReplied{.response = yarn::RpcError{}}}));
  EXPECT_FALSE(IsRoutine(AgentOrdered{.action = SendToAm{.message = RegisterAgent{}}}));
}

TEST(RoutineTest, FactsOfTheWorldAlwaysStay) {
  EXPECT_FALSE(IsRoutine(Fact{RunStarted{}}));
  EXPECT_FALSE(IsRoutine(Fact{TrainingAccounted{}}));
}

}  // namespace
}  // namespace tfyarn::trace::routine_test
