// Preemption by this machine's RM. Rule: hadoop-yarn, AllocateResponse.getPreemptionMessage: the
// strict contract names containers, once, and each is taken with -102 when its notice is over.
#include <gmock/gmock.h>

#include "core/model/exit.h"
#include "hosts/local/local_rm.h"
#include "tests/unit/hosts/local/rm_rig.h"

namespace tfyarn::hosts::local_rm_preemption_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LocalRmPreemptionTest : public RmRig {
 protected:
  LocalRmPreemptionTest() {
    Submit();
    (void)Register();
    worker_ = Run({Row(1)}).at(0);
    (void)Orders();
  }

  ContainerId worker_;
};

TEST_F(LocalRmPreemptionTest, TheNextAnswerHasTheNoticeAndLaterOnesDoNot) {
  rm_.AnnouncePreemption(worker_);
  EXPECT_THAT(Allocate().preempt_strict, ElementsAre(worker_));
  EXPECT_THAT(Allocate().preempt_strict, IsEmpty());
  EXPECT_THAT(Orders(), IsEmpty());
}

TEST_F(LocalRmPreemptionTest, ANoticeIsForTheAttemptThatRuns) {
  rm_.AnnouncePreemption(worker_);
  End(IdOf(1, 1), 137);
  (void)Register(2);
  EXPECT_THAT(Allocate({}, {}, 2).preempt_strict, IsEmpty());
}

TEST_F(LocalRmPreemptionTest, ItEndsWithTheStatusOfPreemption) {
  rm_.Preempt(worker_);
  EXPECT_THAT(Orders(), ElementsAre("stop " + ToString(worker_) + " -102"));
  EXPECT_THAT(Allocate().completed_containers, IsEmpty()) << "its processes still end";
  End(worker_, container_exit::kPreempted);
  const auto completed = Allocate().completed_containers;
  ASSERT_THAT(completed, SizeIs(1));
  EXPECT_EQ(completed[0].exit_status, -102);
}

TEST_F(LocalRmPreemptionTest, WhereNothingRunsItEndsAtOnce) {
  started_.erase(worker_);
  rm_.Preempt(worker_);
  const auto completed = Allocate().completed_containers;
  ASSERT_THAT(completed, SizeIs(1));
  EXPECT_EQ(completed[0].exit_status, -102);
  EXPECT_EQ(rm_.GrantOf(worker_), std::nullopt);
}

TEST_F(LocalRmPreemptionTest, WhatIsHeldNoMoreIsNotPreempted) {
  End(worker_, 0);
  EXPECT_THAT(Allocate().completed_containers, SizeIs(1));
  rm_.AnnouncePreemption(worker_);
  rm_.Preempt(worker_);
  const auto answer = Allocate();
  EXPECT_THAT(answer.preempt_strict, IsEmpty());
  EXPECT_THAT(answer.completed_containers, IsEmpty());
  EXPECT_THAT(Orders(), IsEmpty());
}

}  // namespace
}  // namespace tfyarn::hosts::local_rm_preemption_test
