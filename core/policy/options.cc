#include "core/policy/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tfyarn::policy {
namespace {

constexpr std::array<std::string_view, 3> kLaterRelease = {"slider-tf", "framework-launcher",
                                                           "hbox"};

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
  if (option.allowed == "types") return true;
  if (option.allowed == "number") return ParseCount(value).has_value();
  const auto words = Split(option.allowed, '|');
  return std::find(words.begin(), words.end(), value) != words.end();
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
  if (option.allowed == "number") return "a number from 0";
  std::string text;
  for (const std::string_view word : Split(option.allowed, '|')) {
    if (!text.empty()) text += ", ";
    text += word.empty() ? "\"\"" : word;
  }
  return text;
}

}  // namespace

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
  const bool later =
      std::find(kLaterRelease.begin(), kLaterRelease.end(), name) != kLaterRelease.end();
  return Fail(
      ErrorCode::kInvalidArgument,
      later ? fmt::format("policy '{}' comes with a later release; this one has {}", name, Names())
            : fmt::format("there is no policy '{}'; there are {}", name, Names()));
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
