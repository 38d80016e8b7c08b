// Something that is wrong with a run, in one sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/time.h"
#include "core/trace/result.h"

namespace tfyarn::explore {

/// Something that is wrong.
struct Problem {
  /// Of two with one key the second is the first again: the sentence without numbers and names.
  std::string key;
  std::string sentence;  ///< One line: what broke, which id, what was expected.
  std::optional<Instant> at;
  bool expectation = false;  ///< Of the scenario, not an invariant.
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The problem that the sentence tells.
[[nodiscard]] Problem ProblemOf(std::string sentence, std::optional<Instant> at = std::nullopt);
/// Its key. An invariant that only the other run of a pair breaks is the same finding as where a
/// run breaks it by itself.
[[nodiscard]] std::string KeyOf(std::string_view sentence);

/// What is wrong with one run by itself: invariants, expectations.
[[nodiscard]] std::vector<Problem> ProblemsOf(const trace::Result& result);

/// A sentence without what differs from one occurrence to the next: numbers, ids, names of hosts.
[[nodiscard]] std::string Anonymous(std::string_view sentence);

}  // namespace tfyarn::explore
