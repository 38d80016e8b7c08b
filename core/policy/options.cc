#include "core/policy/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tfyarn::policy {
namespace {

constexpr std::int32_t kWhole = 100;  // percent

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view Trim(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string Names() {
  std::string names;
  for (const Table* table : AllTables()) {
    if (!names.empty()) names += ", ";
    names += table->name;
  }
  return names;
}

bool IsAllowed(const OptionRow& option, std::string_view value) {
  const auto allowed = AllowedOf(option);
  return std::any_of(allowed.begin(), allowed.end(), [&](std::string_view kind) {
    if (kind == "types") return true;
    const auto range = RangeOf(kind);
    if (!range) return kind == value;
    const auto count = ParseCount(value);
    return count && *count >= range->from && (!range->to || *count <= *range->to);
  });
}

/// The option that `key` sets, for all types or for one; nullptr when there is none.
const OptionRow* FindOption(const Table& table, std::string_view key,
                            const std::optional<std::vector<std::string>>& types) {
  for (const OptionRow& option : table.options) {
    if (key == option.name) return &option;
    if (!option.per_type || !key.starts_with(option.name)) continue;
    const std::string_view rest = key.substr(option.name.size());
    if (rest.size() < 2 || rest[0] != '.') continue;
    if (!types || std::find(types->begin(), types->end(), rest.substr(1)) != types->end())
      return &option;
  }
  return nullptr;
}

std::string OptionNames(const Table& table) {
  if (table.options.empty()) return "it has none";
  std::string names = "it has ";
  for (const OptionRow& option : table.options) {
    if (&option != table.options.data()) names += ", ";
    names += option.name;
    if (option.per_type) names += fmt::format(" ({}.TYPE)", option.name);
  }
  return names;
}

std::string AllowedText(const OptionRow& option) {
  std::string text;
  for (const std::string_view kind : AllowedOf(option)) {
    if (!text.empty()) text += ", ";
    if (const auto range = RangeOf(kind)) {
      text += fmt::format("a number from {}", range->from);
      if (range->to) text += fmt::format(" to {}", *range->to);
    } else {
      text += kind.empty() ? "\"\"" : kind;
    }
  }
  return text;
}

}  // namespace

std::vector<std::string_view> AllowedOf(const OptionRow& option) {
  return Split(option.allowed, '|');
}

bool MayBe(const OptionRow& option, std::string_view kind) {
  const auto allowed = AllowedOf(option);
  return std::find(allowed.begin(), allowed.end(), kind) != allowed.end();
}

std::optional<CountRange> RangeOf(std::string_view kind) {
  if (kind == "number") return CountRange{.from = 0, .to = {}};
  if (kind == "positive") return CountRange{.from = 1, .to = {}};
  if (kind == "percent") return CountRange{.from = 0, .to = kWhole};
  return std::nullopt;
}

bool ListNames(std::string_view list, std::string_view type) {
  for (const std::string_view word : Split(Trim(list, " []"), ',')) {
    if (Trim(word, " \"'") == type) return true;
  }
  return false;
}

std::optional<std::int32_t> ParseCount(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Expected<const Table*> FindPolicy(std::string_view name) {
  const Table* table = FindTable(name);
  if (table != nullptr) return table;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("there is no policy '{}'; there are {}", name, Names()));
}

Expected<void> CheckOptions(const Table& table, const std::map<std::string, std::string>& options,
                            const std::optional<std::vector<std::string>>& types) {
  for (const auto& [key, value] : options) {
    const OptionRow* option = FindOption(table, key, types);
    if (option == nullptr) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("policy '{}' has no option '{}'; {}",
                                                           table.name, key, OptionNames(table)));
    }
    if (!IsAllowed(*option, value)) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("policy '{}': {} cannot be '{}'; allowed: {}", table.name, key, value,
                              AllowedText(*option)));
    }
  }
  return {};
}

}  // namespace tfyarn::policy
