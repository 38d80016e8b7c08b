#include "wire/hadoop/yarn_errors.h"

#include <fmt/format.h>

#include <array>

#include "core/model/check.h"

namespace tfyarn::hadoop {
namespace {

using yarn::RpcErrorCode;

struct Row {
  RpcErrorCode code;
  std::string_view exception;
};

/// The first row of a code is what a daemon throws.
constexpr std::array kRows = {
    Row{RpcErrorCode::kUnavailable, kRetriableException},
    Row{RpcErrorCode::kUnavailable, kStandbyException},
    Row{RpcErrorCode::kUnavailable, "org.apache.hadoop.ipc.ObserverRetryOnActiveException"},
    Row{RpcErrorCode::kApplicationMasterNotRegistered,
        "org.apache.hadoop.yarn.exceptions.ApplicationMasterNotRegisteredException"},
    Row{RpcErrorCode::kApplicationAttemptNotFound,
        "org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException"},
    Row{RpcErrorCode::kApplicationNotFound,
        "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException"},
    Row{RpcErrorCode::kInvalidApplicationMasterRequest,
        "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException"},
    Row{RpcErrorCode::kInvalidResourceRequest,
        "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException"},
    Row{RpcErrorCode::kInvalidResourceRequest,
        "org.apache.hadoop.yarn.exceptions.SchedulerInvalidResoureRequestException"},
    Row{RpcErrorCode::kInvalidResourceRequest,
        "org.apache.hadoop.yarn.exceptions.ResourceNotFoundException"},
    Row{RpcErrorCode::kInvalidLabelResourceRequest,
        "org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException"},
    Row{RpcErrorCode::kInvalidResourceBlacklistRequest,
        "org.apache.hadoop.yarn.exceptions.InvalidResourceBlacklistRequestException"},
    Row{RpcErrorCode::kInvalidContainerRelease,
        "org.apache.hadoop.yarn.exceptions.InvalidContainerReleaseException"},
    Row{RpcErrorCode::kInvalidContainer,
        "org.apache.hadoop.yarn.exceptions.InvalidContainerException"},
    Row{RpcErrorCode::kInvalidToken, "org.apache.hadoop.security.token.SecretManager$InvalidToken"},
    Row{RpcErrorCode::kNmNotYetReady, "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException"},
    Row{RpcErrorCode::kYarn, "org.apache.hadoop.yarn.exceptions.YarnException"},
    Row{RpcErrorCode::kNullPointer, "java.lang.NullPointerException"},
};

}  // namespace

RpcErrorCode CodeOfException(std::string_view exception) {
  for (const Row& row : kRows) {
    if (row.exception == exception) return row.code;
  }
  return RpcErrorCode::kYarn;
}

std::string_view ExceptionOfCode(RpcErrorCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row.exception;
  }
  TF_CHECK(false);
}

yarn::RpcError ToYarnError(const IpcError& error) {
  if (!error.exception.empty()) {
    const auto simple = error.exception.substr(error.exception.rfind('.') + 1);
    return {.code = CodeOfException(error.exception),
            .message = fmt::format("{} ({})", error.message, simple)};
  }
  switch (error.kind) {
    case IpcErrorKind::kConnect:
    case IpcErrorKind::kBroken:
    case IpcErrorKind::kTimeout:
      return {.code = RpcErrorCode::kUnavailable, .message = error.message};
    case IpcErrorKind::kRemote:
    case IpcErrorKind::kFatal:
    case IpcErrorKind::kSecurity:
    case IpcErrorKind::kProtocol:
      break;
  }
  return {.code = RpcErrorCode::kYarn, .message = error.message};
}

}  // namespace tfyarn::hadoop
