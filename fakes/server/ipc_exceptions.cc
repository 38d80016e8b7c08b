#include "fakes/server/ipc_exceptions.h"

#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::fakes {

IpcException IpcExceptionOf(const yarn::RpcError& error) {
  return {.name = std::string(hadoop::ExceptionOfCode(error.code)), .message = error.message};
}

IpcException IpcExceptionOf(const Error& error) {
  constexpr std::uint32_t kNoSuchMethod = 2;
  if (error.code == ErrorCode::kNotFound)
    return {.name = "org.apache.hadoop.ipc.RpcNoSuchMethodException",
            .message = error.message,
            .detail = kNoSuchMethod};
  // What is missing is a null to Java.
  return {.name = "java.lang.NullPointerException", .message = error.message};
}

}  // namespace tfyarn::fakes
