#include "core/policy/exit_classifier.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/text.h"

namespace tfyarn::policy::exit_classifier_test {
namespace {

using enum ExitClass;

ProcessExit Code(std::int32_t code) {
  return {.code = code, .signal = std::nullopt};
}
ProcessExit Signal(std::int32_t signal) {
  return {.code = std::nullopt, .signal = signal};
}
ProcessExit Stopped(ProcessExit exit) {
  exit.stopped_by_agent = true;
  return exit;
}
ProcessExit OutOfMemory() {
  return {.code = std::nullopt, .signal = 9, .out_of_memory = true};
}

struct Case {
  std::string name;
  ExitEvidence evidence;
  ExitRecord expected;
};

const std::string kReleased = "Container released by application";
const std::string kExpired = "Container expired since it was unused";
const std::string kOfEnded = "Container of a completed application";
const std::string kLostNode = "Container released on a *lost* node";

std::vector<Case> AgentCases() {
  return {
      {"exit 0", {.process = Code(0)}, {kOk, 0, ExitSource::kAgent}},
      {"exit 1", {.process = Code(1)}, {kUserPermanent, 1, ExitSource::kAgent}},
      {"exit 127", {.process = Code(127)}, {kUserPermanent, 127, ExitSource::kAgent}},
      {"exit 75", {.process = Code(75)}, {kUserRetryable, 75, ExitSource::kAgent}},
      {"exit 138", {.process = Code(138)}, {kUserRetryable, 138, ExitSource::kAgent}},
      {"exit 154", {.process = Code(154)}, {kUserRetryable, 154, ExitSource::kAgent}},
      {"exit 193", {.process = Code(193)}, {kUserRetryable, 193, ExitSource::kAgent}},
      {"SIGILL", {.process = Signal(4)}, {kSignalCrash, 132, ExitSource::kAgent}},
      {"SIGABRT", {.process = Signal(6)}, {kSignalCrash, 134, ExitSource::kAgent}},
      {"SIGBUS", {.process = Signal(7)}, {kSignalCrash, 135, ExitSource::kAgent}},
      {"SIGFPE", {.process = Signal(8)}, {kSignalCrash, 136, ExitSource::kAgent}},
      {"SIGSEGV", {.process = Signal(11)}, {kSignalCrash, 139, ExitSource::kAgent}},
      {"code 139 of a shell", {.process = Code(139)}, {kSignalCrash, 139, ExitSource::kAgent}},
      {"SIGINT", {.process = Signal(2)}, {kKilledExternal, 130, ExitSource::kAgent}},
      {"SIGKILL", {.process = Signal(9)}, {kKilledExternal, 137, ExitSource::kAgent}},
      {"SIGTERM", {.process = Signal(15)}, {kKilledExternal, 143, ExitSource::kAgent}},
      {"SIGKILL with proof", {.process = OutOfMemory()}, {kOom, 137, ExitSource::kAgent}},
      {"SIGHUP", {.process = Signal(1)}, {kUnknown, 129, ExitSource::kAgent}},
      {"exit 255", {.process = Code(255)}, {kUnknown, 255, ExitSource::kAgent}},
      {"port taken",
       {.process = Code(1), .port_conflict = true},
       {kPortConflict, 1, ExitSource::kAgent}},
      {"never ran",
       {.launch_error = "no such file"},
       {kLaunchError, std::nullopt, ExitSource::kAgent}},
      {"never ran, and its container ended with 1",
       {.yarn_exit = 1, .launch_error = "no such file"},
       {kLaunchError, std::nullopt, ExitSource::kAgent}},
      {"found no AM",
       {.process = Stopped(Signal(15)), .am_lost = true},
       {kAmLost, 143, ExitSource::kAgent}},
      {"agent before container status",
       {.process = Code(3), .yarn_exit = 1},
       {kUserPermanent, 3, ExitSource::kAgent}},
      {"agent before silence", {.process = Code(0), .silent = true}, {kOk, 0, ExitSource::kAgent}},
  };
}

std::vector<Case> YarnCases() {
  return {
      {"-1000", {.yarn_exit = -1000}, {kLaunchError, -1000, ExitSource::kYarnStatus}},
      {"-100", {.yarn_exit = -100}, {kNodeLost, -100, ExitSource::kPlatform}},
      {"-100, said so",
       {.yarn_exit = -100, .diagnostics = kLostNode},
       {kNodeLost, -100, ExitSource::kPlatform}},
      {"-100 released",
       {.yarn_exit = -100, .diagnostics = kReleased},
       {kKilledByUs, -100, ExitSource::kOurOrder}},
      {"-100 expired",
       {.yarn_exit = -100, .diagnostics = kExpired},
       {kLaunchError, -100, ExitSource::kPlatform}},
      {"-100 of an ended attempt",
       {.yarn_exit = -100, .diagnostics = kOfEnded},
       {kAmLost, -100, ExitSource::kPlatform}},
      {"-100 that we ordered",
       {.yarn_exit = -100, .we_stopped = true},
       {kKilledByUs, -100, ExitSource::kOurOrder}},
      {"-101", {.yarn_exit = -101}, {kNodeBad, -101, ExitSource::kPlatform}},
      {"-102", {.yarn_exit = -102}, {kPreempted, -102, ExitSource::kPlatform}},
      {"-103", {.yarn_exit = -103}, {kOom, -103, ExitSource::kPlatform}},
      {"-104", {.yarn_exit = -104}, {kOom, -104, ExitSource::kPlatform}},
      {"-105", {.yarn_exit = -105}, {kKilledByUs, -105, ExitSource::kOurOrder}},
      {"-106", {.yarn_exit = -106}, {kPreempted, -106, ExitSource::kPlatform}},
      {"-107", {.yarn_exit = -107}, {kKilledByUs, -107, ExitSource::kOurOrder}},
      {"-108", {.yarn_exit = -108}, {kPreempted, -108, ExitSource::kPlatform}},
      {"-109", {.yarn_exit = -109}, {kUserPermanent, -109, ExitSource::kPlatform}},
      {"a code that YARN has not", {.yarn_exit = -777}, {kUnknown, -777, ExitSource::kYarnStatus}},
      {"container 137", {.yarn_exit = 137}, {kKilledExternal, 137, ExitSource::kYarnStatus}},
      {"container that its NodeManager lost sight of",
       {.yarn_exit = 154},
       {kKilledExternal, 154, ExitSource::kYarnStatus}},
      {"container 1", {.yarn_exit = 1}, {kUserPermanent, 1, ExitSource::kYarnStatus}},
      {"the agent found no AM", {.yarn_exit = 122}, {kAmLost, 122, ExitSource::kYarnStatus}},
      {"silent, because it found no AM",
       {.yarn_exit = 122, .silent = true},
       {kAmLost, 122, ExitSource::kYarnStatus}},
      {"no AM owned the agent", {.yarn_exit = 121}, {kAmLost, 121, ExitSource::kYarnStatus}},
      {"the agent found no port",
       {.yarn_exit = 120},
       {kPortConflict, 120, ExitSource::kYarnStatus}},
      {"a user's 122 is not the agent's",
       {.process = Code(122), .yarn_exit = 0},
       {kUserPermanent, 122, ExitSource::kAgent}},
      {"container 0 proves no success", {.yarn_exit = 0}, {kUnknown, 0, ExitSource::kYarnStatus}},
      {"node lost", {.node_lost = true}, {kNodeLost, std::nullopt, ExitSource::kPlatform}},
  };
}

std::vector<Case> DisagreementCases() {
  return {
      {"memory explains a SIGKILL",
       {.process = Signal(9), .yarn_exit = -104},
       {kOom, -104, ExitSource::kPlatform}},
      {"preemption explains a SIGTERM",
       {.process = Signal(15), .yarn_exit = -102},
       {kPreempted, -102, ExitSource::kPlatform}},
      {"preemption explains even an exit 0 on SIGTERM",
       {.process = Code(0), .yarn_exit = -102},
       {kPreempted, -102, ExitSource::kPlatform}},
      {"lost node after an exit 1",
       {.process = Code(1), .node_lost = true},
       {kNodeLost, {}, ExitSource::kPlatform}},
      {"bad disks explain a SIGKILL",
       {.process = Signal(9), .yarn_exit = -101},
       {kNodeBad, -101, ExitSource::kPlatform}},
      {"excess logs explain a SIGKILL",
       {.process = Signal(9), .yarn_exit = -109},
       {kUserPermanent, -109, ExitSource::kPlatform}},
      {"silence of a lost node",
       {.node_lost = true, .silent = true},
       {kNodeLost, {}, ExitSource::kPlatform}},
      {"silence, then -100",
       {.yarn_exit = -100, .silent = true},
       {kNodeLost, -100, ExitSource::kPlatform}},
      {"silence alone", {.silent = true}, {kHeartbeatLost, {}, ExitSource::kSilence}},
      {"silence, then our cleaning up",
       {.yarn_exit = -105, .silent = true},
       {kHeartbeatLost, {}, ExitSource::kSilence}},
      {"silence, then our release",
       {.yarn_exit = -100, .diagnostics = kReleased, .silent = true},
       {kHeartbeatLost, {}, ExitSource::kSilence}},
      {"silence, then the agent stops on our cleaning up",
       {.process = Stopped(Signal(15)), .yarn_exit = 143, .silent = true},
       {kHeartbeatLost, {}, ExitSource::kSilence}},
      {"silence, then the container's own end",
       {.yarn_exit = 137, .silent = true},
       {kKilledExternal, 137, ExitSource::kYarnStatus}},
  };
}

std::vector<Case> OrderCases() {
  return {
      {"we stopped it",
       {.process = Stopped(Signal(15)), .we_stopped = true},
       {kKilledByUs, 143, ExitSource::kOurOrder}},
      {"it left with 0 on our SIGTERM",
       {.process = Stopped(Code(0))},
       {kKilledByUs, 0, ExitSource::kOurOrder}},
      {"it ended by itself before our order came",
       {.process = Code(1), .we_stopped = true},
       {kUserPermanent, 1, ExitSource::kAgent}},
      {"it had succeeded before our order came",
       {.process = Code(0), .yarn_exit = -105, .we_stopped = true},
       {kOk, 0, ExitSource::kAgent}},
      {"our order before preemption",
       {.yarn_exit = -102, .we_stopped = true},
       {kKilledByUs, -102, ExitSource::kOurOrder}},
      {"our order before a lost node",
       {.we_stopped = true, .node_lost = true},
       {kKilledByUs, {}, ExitSource::kOurOrder}},
      {"our order before silence",
       {.we_stopped = true, .silent = true},
       {kKilledByUs, {}, ExitSource::kOurOrder}},
      {"our order before memory proof",
       {.process = Stopped(OutOfMemory()), .we_stopped = true},
       {kKilledByUs, 137, ExitSource::kOurOrder}},
      {"a deadline", {.timed_out = true}, {kTimeout, {}, ExitSource::kDeadline}},
      {"a deadline, then our stop",
       {.process = Stopped(Signal(9)), .yarn_exit = -105, .we_stopped = true, .timed_out = true},
       {kTimeout, 137, ExitSource::kDeadline}},
      {"a deadline of a task on a lost node",
       {.node_lost = true, .timed_out = true},
       {kNodeLost, {}, ExitSource::kPlatform}},
      {"a deadline that a process met by failing",
       {.process = Code(1), .timed_out = true},
       {kUserPermanent, 1, ExitSource::kAgent}},
      {"a deadline in silence",
       {.silent = true, .timed_out = true},
       {kTimeout, {}, ExitSource::kDeadline}},
  };
}

void ExpectAll(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(tfyarn::ToText(Classify(c.evidence)), tfyarn::ToText(c.expected)) << c.name;
  }
}

TEST(ExitClassifierTest, TheAgentsReportIsReadByItsStatus) {
  ExpectAll(AgentCases());
}
TEST(ExitClassifierTest, YarnsCodesHaveTheirClasses) {
  ExpectAll(YarnCases());
}
TEST(ExitClassifierTest, BetterSourcesWinWhenSourcesDisagree) {
  ExpectAll(DisagreementCases());
}
TEST(ExitClassifierTest, OurOwnOrdersAndDeadlinesAreTold) {
  ExpectAll(OrderCases());
}

TEST(ExitClassifierTest, RetryableCodesCanBeConfigured) {
  EXPECT_EQ(Classify({.process = Code(42)}, {42}).exit_class, kUserRetryable);
  EXPECT_EQ(Classify({.process = Code(75)}, {42}).exit_class, kUserPermanent);
  EXPECT_EQ(Classify({.process = Signal(15)}, {143}).exit_class, kUserRetryable);
}

TEST(ExitClassifierTest, EveryStatusHasAClassAndOnlyZeroIsOk) {
  for (std::int32_t status = 0; status < 256; ++status) {
    EXPECT_EQ(ClassOfStatus(status, DefaultRetryableCodes()) == kOk, status == 0) << status;
  }
}

TEST(ExitClassifierTest, ABetterSourceReplacesAWorseOneUntilADecisionIsMade) {
  const ExitRecord silent = Classify({.silent = true});
  const ExitRecord report = Classify({.process = Signal(9)});
  const ExitRecord memory = Classify({.process = Signal(9), .yarn_exit = -104});
  const ExitRecord ok = Classify({.process = Code(0)});
  EXPECT_TRUE(IsBetter(silent, report, false));
  EXPECT_TRUE(IsBetter(report, memory, false));
  EXPECT_FALSE(IsBetter(memory, report, false));
  EXPECT_FALSE(IsBetter(report, report, false));
  EXPECT_TRUE(IsBetter(silent, ok, true));
  EXPECT_TRUE(IsBetter(report, memory, true));
  EXPECT_FALSE(IsBetter(report, silent, true));
}

TEST(ExitClassifierTest, ASuccessThatWasCountedIsNotUndoneByItsContainersFate) {
  const ExitRecord ok = Classify({.process = Code(0)});
  EXPECT_FALSE(IsBetter(ok, Classify({.process = Code(0), .node_lost = true}), true));
}

TEST(ExitClassifierTest, BudgetsAreThoseOfTheJobPage) {
  for (const ExitClass c : {kUserRetryable, kSignalCrash, kUnknown, kUserPermanent, kOom}) {
    EXPECT_EQ(DefaultBudget(c), Budget::kUser) << KebabName(c);
  }
  for (const ExitClass c : {kNodeLost, kNodeBad, kHeartbeatLost, kKilledExternal, kPreempted,
                            kLaunchError, kPortConflict, kTimeout, kAmLost}) {
    EXPECT_EQ(DefaultBudget(c), Budget::kInfrastructure) << KebabName(c);
  }
  for (const ExitClass c : {kOk, kKilledByUs, kGangTimeout, kInfeasible}) {
    EXPECT_EQ(DefaultBudget(c), Budget::kNone) << KebabName(c);
  }
}

TEST(ExitClassifierTest, OnlyWhatTheUserPaysAndIsNotOomMayBeAPeersFault) {
  for (int i = 0; i <= static_cast<int>(kUnknown); ++i) {
    const auto c = static_cast<ExitClass>(i);
    EXPECT_EQ(PeerMayHaveCaused(c), DefaultBudget(c) == Budget::kUser && c != kOom) << KebabName(c);
  }
}

}  // namespace
}  // namespace tfyarn::policy::exit_classifier_test
