#include "core/model/rpc_meaning.h"

#include <string_view>

namespace tfyarn::yarn {
namespace {

/// The RM knows no such attempt any more: it says so of a registration, and of an end, by the error
/// that it has for a second one, and another text. Source: ApplicationMasterService.java
/// (throwApplicationDoesNotExistInCacheException).
constexpr std::string_view kForgotten = "doesn't exist in cache";

}  // namespace

RpcMeaning MeaningOf(const RpcError& error) {
  switch (error.code) {
    case RpcErrorCode::kUnavailable:
      return RpcMeaning::kNoAnswer;
    case RpcErrorCode::kApplicationMasterNotRegistered:
      return RpcMeaning::kUnregistered;
    case RpcErrorCode::kApplicationAttemptNotFound:
    case RpcErrorCode::kApplicationNotFound:
      return RpcMeaning::kOver;
    case RpcErrorCode::kInvalidToken:
      return RpcMeaning::kTokenRefused;
    case RpcErrorCode::kInvalidApplicationMasterRequest:
      return error.message.find(kForgotten) == std::string::npos ? RpcMeaning::kOutOfTurn
                                                                 : RpcMeaning::kOver;
    case RpcErrorCode::kInvalidResourceRequest:
    case RpcErrorCode::kInvalidLabelResourceRequest:
    case RpcErrorCode::kInvalidResourceBlacklistRequest:
    case RpcErrorCode::kInvalidContainerRelease:
      return RpcMeaning::kPartRefused;
    case RpcErrorCode::kInvalidContainer:
    case RpcErrorCode::kNmNotYetReady:
    case RpcErrorCode::kYarn:
    case RpcErrorCode::kNullPointer:
      return RpcMeaning::kFailed;
  }
  return RpcMeaning::kFailed;
}

}  // namespace tfyarn::yarn
