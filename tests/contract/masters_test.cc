// What the ResourceManager answers an ApplicationMaster: registration, response ids, the end.
#include "tests/contract/contract.h"

namespace tfyarn::contract::masters_test {
namespace {

using ::testing::HasSubstr;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

class Masters : public Contract {};

// Source: ApplicationMasterService.java#allocate (AMLivelinessMonitor comes first, then
// hasApplicationMasterRegistered).
TEST_F(Masters, AllocateBeforeRegistrationIsRefused) {
  const auto am = Run(Waiting());
  const auto answer = am->Allocate({});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, RpcErrorCode::kApplicationMasterNotRegistered);
}

// Source: ApplicationMasterService.java#registerApplicationMaster.
TEST_F(Masters, ASecondRegistrationIsRefused) {
  const auto am = RunAndRegister();
  // The RM's books follow its answer.
  WaitUntil("the application to run", [&] {
    return Report(am->attempt().application).state == YarnApplicationState::kRunning;
  });
  const auto again = am->Register();
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, RpcErrorCode::kInvalidApplicationMasterRequest);
  EXPECT_THAT(again.error().message, HasSubstr("is already registered"));
}

// Source: ApplicationMasterService.java#allocate: getNextResponseId(lastResponseId).
TEST_F(Masters, EachAllocateRaisesTheResponseIdByOne) {
  const auto am = RunAndRegister();
  EXPECT_EQ(am->Beat().response_id, 1);
  EXPECT_EQ(am->Beat().response_id, 2);
  am->Reconnect();
  EXPECT_EQ(am->Beat().response_id, 3) << "the id belongs to the attempt, not to a connection";
}

// Source: ApplicationMasterService.java#allocate: lastResponse is returned.
TEST_F(Masters, ARepeatedAllocateGetsTheSameAnswerAgain) {
  const auto am = RunAndRegister();
  am->Beat({.ask = {Row(2)}});
  yarn::AllocateRequest request;
  yarn::AllocateResponse first;
  WaitUntil("a grant", [&] {
    request.response_id = am->response_id;
    first = am->Beat();
    return !first.allocated_containers.empty();
  });
  const auto again = am->Allocate(request);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->response_id, first.response_id);
  EXPECT_EQ(IdsOf(again->allocated_containers), IdsOf(first.allocated_containers));
  am->BeatUntilGranted(2);
  RunFor(io_, 300ms);
  am->Beat();
  EXPECT_EQ(am->granted.size(), 2U);
}

// Source: ApplicationMasterService.java#allocate.
TEST_F(Masters, AnyOtherResponseIdIsRefusedAndChangesNothing) {
  const auto am = RunAndRegister();
  am->Beat();
  am->Beat();
  am->Beat();
  for (const std::int32_t id : {0, 1, 4, -1}) {
    const auto answer = am->Allocate({.response_id = id});
    ASSERT_FALSE(answer.has_value()) << id;
    EXPECT_EQ(answer.error().code, RpcErrorCode::kInvalidApplicationMasterRequest) << id;
    EXPECT_THAT(answer.error().message, HasSubstr("3"));
  }
  EXPECT_EQ(am->Beat().response_id, 4);
}

// Source: DefaultAMSProcessor.java#finishApplicationMaster, RMAppAttemptImpl.java (FINAL_SAVING).
TEST_F(Masters, FinishIsRepeatedUntilItIsStored) {
  const auto am = RunAndRegister();
  am->Beat();
  const auto first = am->Finish();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_FALSE(first->is_unregistered);
  WaitUntil("the end of unregistering", [&] {
    const auto again = am->Finish();
    return again && again->is_unregistered;
  });
  const auto report = Report(am->attempt().application);
  EXPECT_EQ(report.state, YarnApplicationState::kFinished);
  EXPECT_EQ(report.final_status, yarn::FinalApplicationStatus::kSucceeded);
  am->EndProcess(0);
  WaitUntil("the attempt's end", [&] {
    const auto late = am->Allocate({.response_id = am->response_id});
    return !late && late.error().code == RpcErrorCode::kApplicationAttemptNotFound;
  });
}

}  // namespace
}  // namespace tfyarn::contract::masters_test
