// Java's exceptions and the codes of core/model/yarn.h, both ways. Only these names are known: an
// exception of any other class is a permanent failure of its call.
//
// Source: org.apache.hadoop.yarn.exceptions, org.apache.hadoop.ipc, org.apache.hadoop.security.
#pragma once

#include <string>
#include <string_view>

#include "core/model/yarn.h"
#include "wire/hadoop/ipc_error.h"

namespace tfyarn::hadoop {

/// `exception`: with its package.
[[nodiscard]] yarn::RpcErrorCode CodeOfException(std::string_view exception);
/// The class that a daemon would throw.
[[nodiscard]] std::string_view ExceptionOfCode(yarn::RpcErrorCode code);

/// A call's end as the machines know it. What may come right by itself is kUnavailable; refusals of
/// who we are are kInvalidToken or kYarn.
[[nodiscard]] yarn::RpcError ToYarnError(const IpcError& error);

}  // namespace tfyarn::hadoop
