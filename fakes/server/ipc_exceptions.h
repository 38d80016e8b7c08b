// Errors as Java's exceptions.
#pragma once

#include "core/model/error.h"
#include "core/model/yarn.h"
#include "fakes/server/ipc_server.h"

namespace tfyarn::fakes {

[[nodiscard]] IpcException IpcExceptionOf(const yarn::RpcError& error);
/// Of a call that cannot be decoded: kNotFound is a method that there is not.
[[nodiscard]] IpcException IpcExceptionOf(const Error& error);

}  // namespace tfyarn::fakes
