// Where the documents allow more than one outcome for one set of facts, and why.
//
// The order in which the AM hears of things is no fact, so it must not decide anything, but for
// what docs/policies.md says of it. Whatever is not allowed here is a finding.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tests/exhaustive/facts.h"
#include "tests/exhaustive/scope.h"

namespace tfyarn::exhaustive {

/// Why both outcomes are right after these facts; nullopt: one of them is wrong.
[[nodiscard]] std::optional<std::string_view> WhyAllowed(const Scope& scope,
                                                         const std::vector<Fact>& facts,
                                                         const Outcome& a, const Outcome& b);

}  // namespace tfyarn::exhaustive
