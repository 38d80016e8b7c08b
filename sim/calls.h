// What calls between daemons have in common: how long callers wait, what they are told when no
// answer comes, and how a NodeManager serves one.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "core/model/hdfs.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "sim/actors.h"

namespace tfyarn::sim {

/// How long a caller waits for a daemon that gives no answer at all before its host reports
/// kUnavailable. Hadoop's own default is longer (ipc.client.rpc-timeout.ms, 120 s) for clients and
/// shorter on cut connections. Assumption.
inline constexpr Duration kRpcTimeout = 20s;

/// Hosts of ours try a refused call again so often, and begin no try after so long, before they say
/// kUnavailable. Source: hosts/yarn/yarn_cluster.cc, wire/hadoop/ipc_client.cc. (A NodeManager goes
/// on with its next heartbeat. Assumption: yarn.resourcemanager.connect.retry-interval.ms is stock
/// at 30 s.)
inline constexpr Duration kRefusedRetry = 500ms;
inline constexpr Duration kRefusedGiveUp = 3s;

[[nodiscard]] inline yarn::RpcError NotAnswered(std::string_view who) {
  return {.code = yarn::RpcErrorCode::kUnavailable,
          .message = fmt::format("{} did not answer within 20s", who)};
}

[[nodiscard]] inline yarn::RpcError Refused(std::string_view who) {
  return {.code = yarn::RpcErrorCode::kUnavailable,
          .message = fmt::format("connection to {} refused", who)};
}

[[nodiscard]] inline hdfs::HdfsError NameNodeSilent() {
  return {.code = hdfs::HdfsErrorCode::kUnavailable,
          .message = "the NameNode did not answer within 20s"};
}

/// The NodeManager serves the call now.
[[nodiscard]] yarn::NmResponse ServeCall(NmActor& nm, const fakes::Caller& caller,
                                         const yarn::Token& token, yarn::NmRequest request);

}  // namespace tfyarn::sim
