// "did you mean ...?": the nearest of some names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfyarn::config {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`,
/// each place edited at most once (optimal string alignment). Returns limit + 1 when it is more
/// than `limit`.
[[nodiscard]] std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit);

/// The nearest name at a distance of at most 2, the first of equals; "" when none is near. Case and
/// the choice between
/// `-` and `_` count for nothing.
[[nodiscard]] std::string Nearest(std::string_view name, const std::vector<std::string>& names);

/// "allowed: a, b, c", cut after 24 names; and, when one is near, "did you mean `b`?".
[[nodiscard]] std::vector<std::string> NotesForNames(std::string_view given,
                                                     const std::vector<std::string>& names);

}  // namespace tfyarn::config
