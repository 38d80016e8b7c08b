// Which processes SIGTERM is for, in trees of each kind.
#include "hosts/agent/term_plan.h"

#include <gmock/gmock.h>

#include <set>

namespace tfyarn::agent_host::term_plan_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr pid_t kRoot = 10;

struct Row {
  pid_t pid;
  pid_t parent;
  pid_t group = kRoot;
};

TermPlan Plan(const std::vector<Row>& rows, const std::set<pid_t>& catching) {
  std::vector<ProcessInfo> members;
  for (const Row& row : rows) {
    ProcessInfo info;
    info.pid = row.pid;
    info.parent = row.parent;
    info.group = row.group;
    members.push_back(info);
  }
  return PlanTerm(kRoot, members, [&](pid_t pid) { return catching.contains(pid); });
}

std::vector<pid_t> Pids(const std::vector<ProcessInfo>& processes) {
  std::vector<pid_t> pids;
  for (const ProcessInfo& process : processes) pids.push_back(process.pid);
  return pids;
}

TEST(TermPlan, AGroupWithoutAnyHandlerIsToldAsOne) {
  const TermPlan plan = Plan({{kRoot, 1}, {11, kRoot}}, {});
  EXPECT_TRUE(plan.whole_group);
  EXPECT_THAT(plan.told, IsEmpty());
}

TEST(TermPlan, ARootWithAHandlerDecidesForItsGroup) {
  const TermPlan plan = Plan({{kRoot, 1}, {11, kRoot}, {12, kRoot}}, {kRoot, 12});
  EXPECT_TRUE(plan.whole_group);
  EXPECT_THAT(plan.saving, IsEmpty());
}

TEST(TermPlan, TheOtherEndOfAPipeLivesOn) {
  // sh -c 'python3 train.py | tee log', and what python3 has started.
  const TermPlan plan = Plan({{kRoot, 1}, {11, kRoot}, {12, kRoot}, {13, 11}}, {11});
  EXPECT_FALSE(plan.whole_group);
  EXPECT_THAT(plan.told, ElementsAre(11, kRoot, 13));
  EXPECT_THAT(Pids(plan.saving), ElementsAre(11));
  EXPECT_THAT(Pids(plan.passive), ElementsAre(12));
}

TEST(TermPlan, OneInAGroupOfItsOwnIsToldUnlessSomebodyAboveItPassesItOn) {
  // sh -c 'timeout 1h python3 train.py | tee log'.
  const TermPlan plan = Plan({{kRoot, 1}, {11, kRoot, 11}, {12, 11, 11}, {13, kRoot}}, {11, 12});
  EXPECT_THAT(plan.told, ElementsAre(11, kRoot));
  EXPECT_THAT(Pids(plan.saving), ElementsAre(11));
  EXPECT_THAT(Pids(plan.passive), ElementsAre(13));
}

TEST(TermPlan, AReadingThatIsNoTreeEnds) {
  const TermPlan plan = Plan({{kRoot, 1}, {11, 12}, {12, 11}}, {11});
  EXPECT_THAT(plan.told, ElementsAre(11, 12));
}

}  // namespace
}  // namespace tfyarn::agent_host::term_plan_test
