// What the kinds of faults share. A file in config/faults is a kind: x_y.cc defines
// `KindOf<FaultId::kXY>()`, which fault_kinds.cc gathers by the names in fault_id.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault_id.h"
#include "config/fault_kinds.h"

namespace tfyarn::config {

/// The kind of that name.
template <FaultId id>
[[nodiscard]] FaultKind KindOf();
#define TF_KIND_OF(Name) \
  template <>            \
  FaultKind KindOf<FaultId::k##Name>();
TF_FAULT_KINDS(TF_KIND_OF)
#undef TF_KIND_OF

/// What recoveries are made of comes more often than what they seldom meet.
inline constexpr std::int64_t kOften = 3;

/// The parameter `count`: how many times.
[[nodiscard]] FaultParam Times(std::string doc);
/// The parameter `factor`, from 1.
[[nodiscard]] FaultParam Factor(std::string text, std::string doc);
/// The parameters `offset` and `direction`: how wrong a clock is.
[[nodiscard]] std::vector<FaultParam> ClockParams();
/// The parameter `noticed`: when a node's health check looks at its disks.
[[nodiscard]] FaultParam Noticed();
/// The parameters `message` and `nth`: which single message.
[[nodiscard]] FaultParam Message();
[[nodiscard]] FaultParam Nth();
/// The parameter `method`: answers to which calls of the RM.
[[nodiscard]] FaultParam Method();

/// Finds fault with that field of the entry, where it is there: what it says is for the simulator.
void OnlySimulated(Decoder& decoder, const Node& node, std::string_view name,
                   std::string_view instead);

}  // namespace tfyarn::config
