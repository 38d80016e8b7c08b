// A cluster spec as bytes: message ClusterSpec of wire/am_agent.proto. It is the one large message
// of the channel, and every agent gets it; so hosts are written once, as what differs from the one
// before, and addresses are arrays of numbers.
#pragma once

#include <string>
#include <string_view>

#include "core/model/cluster_spec.h"
#include "core/model/error.h"

namespace tfyarn::wire {

[[nodiscard]] std::string EncodeSpec(const ClusterSpec& spec);
/// Errors: kInvalidArgument naming the type, task or host and what is wrong with it.
[[nodiscard]] Expected<ClusterSpec> DecodeSpec(std::string_view bytes);

}  // namespace tfyarn::wire
