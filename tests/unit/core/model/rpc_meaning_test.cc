// What each error of YARN's daemons means to the caller.
#include "core/model/rpc_meaning.h"

#include <gtest/gtest.h>

#include <map>

#include "core/model/describe.h"

namespace tfyarn::yarn::rpc_meaning_test {
namespace {

TEST(RpcMeaningTest, EachCodeHasOne) {
  const std::map<RpcErrorCode, RpcMeaning> meanings = {
      {RpcErrorCode::kUnavailable, RpcMeaning::kNoAnswer},
      {RpcErrorCode::kApplicationMasterNotRegistered, RpcMeaning::kUnregistered},
      {RpcErrorCode::kApplicationAttemptNotFound, RpcMeaning::kOver},
      {RpcErrorCode::kApplicationNotFound, RpcMeaning::kOver},
      {RpcErrorCode::kInvalidApplicationMasterRequest, RpcMeaning::kOutOfTurn},
      {RpcErrorCode::kInvalidResourceRequest, RpcMeaning::kPartRefused},
      {RpcErrorCode::kInvalidLabelResourceRequest, RpcMeaning::kPartRefused},
      {RpcErrorCode::kInvalidResourceBlacklistRequest, RpcMeaning::kPartRefused},
      {RpcErrorCode::kInvalidContainerRelease, RpcMeaning::kPartRefused},
      {RpcErrorCode::kInvalidContainer, RpcMeaning::kFailed},
      {RpcErrorCode::kInvalidToken, RpcMeaning::kTokenRefused},
      {RpcErrorCode::kNmNotYetReady, RpcMeaning::kFailed},
      {RpcErrorCode::kYarn, RpcMeaning::kFailed},
      {RpcErrorCode::kNullPointer, RpcMeaning::kFailed}};
  for (const auto& [code, meaning] : meanings)
    EXPECT_EQ(MeaningOf({.code = code}), meaning) << EnumeratorName(code);
}

// Source: ApplicationMasterService.throwApplicationDoesNotExistInCacheException: the class is that
// of a second registration.
TEST(RpcMeaningTest, AnAttemptThatTheRmHasForgottenIsOver) {
  EXPECT_EQ(MeaningOf({.code = RpcErrorCode::kInvalidApplicationMasterRequest,
                       .message = "Application doesn't exist in cache appattempt_1_0001_000001"}),
            RpcMeaning::kOver);
  EXPECT_EQ(MeaningOf({.code = RpcErrorCode::kInvalidApplicationMasterRequest,
                       .message = "Application Master is already registered : a"}),
            RpcMeaning::kOutOfTurn);
}

}  // namespace
}  // namespace tfyarn::yarn::rpc_meaning_test
