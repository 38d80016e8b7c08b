// Options of a policy as text: known ones, checked values, lists of task types. Used by the engine,
// and by those who read, explain and draw options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"
#include "core/policy/table.h"

namespace tfyarn::policy {

/// Errors: kInvalidArgument for an unknown policy.
[[nodiscard]] Expected<const Table*> FindPolicy(std::string_view name);

/// Errors: kInvalidArgument for an option that the table has not, or a value not allowed. With
/// `types`, per-type options must name one of them.
[[nodiscard]] Expected<void> CheckOptions(const Table& table,
                                          const std::map<std::string, std::string>& options,
                                          const std::optional<std::vector<std::string>>& types);

/// The kinds and words of OptionRow::allowed.
[[nodiscard]] std::vector<std::string_view> AllowedOf(const OptionRow& option);
/// Whether the kind or word is among them.
[[nodiscard]] bool MayBe(const OptionRow& option, std::string_view kind);

/// The numbers that a kind of OptionRow::allowed takes.
struct CountRange {
  std::int32_t from = 0;
  std::optional<std::int32_t> to;  ///< nullopt: without end.
};
/// nullopt: it is "types" or a word.
[[nodiscard]] std::optional<CountRange> RangeOf(std::string_view kind);

/// "ps, worker" or "[ps, worker]" names `type`.
[[nodiscard]] bool ListNames(std::string_view list, std::string_view type);

/// A number from 0 that fits 32 bits; nullopt otherwise.
[[nodiscard]] std::optional<std::int32_t> ParseCount(std::string_view text);

}  // namespace tfyarn::policy
