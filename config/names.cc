#include "config/names.h"

#include <algorithm>
#include <charconv>

namespace tfyarn::config {
namespace {

bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsOneOf(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

bool IsIndex(std::string_view text) {
  return !text.empty() && text.size() <= 9 && std::all_of(text.begin(), text.end(), IsDigit) &&
         (text.size() == 1 || text[0] != '0');
}

}  // namespace

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsScenarioName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return IsLower(c) || IsDigit(c) || c == '-'; });
}

// Files and directories are named after jobs and task types, and file systems take 255 bytes.
constexpr std::size_t kLongestJobName = 100;
constexpr std::size_t kLongestTaskType = 64;

bool IsJobName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestJobName &&
         (IsLower(text[0]) || IsDigit(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLower(c) || IsDigit(c) || IsOneOf(c, "._-"); });
}

bool IsTaskType(std::string_view text) {
  return !text.empty() && text.size() <= kLongestTaskType && IsLower(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLower(c) || IsDigit(c) || IsOneOf(c, "_-"); });
}

bool IsTaskSelector(std::string_view text) {
  const std::size_t colon = text.find(':');
  return IsTaskType(text.substr(0, colon)) &&
         (colon == std::string_view::npos || IsIndex(text.substr(colon + 1)));
}

bool IsPlainName(std::string_view text) {
  const auto letter = [](char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || IsOneOf(c, "._-");
  });
}

bool IsQueuePath(std::string_view text) {
  return IsPlainName(text) && text.back() != '.' && text.find("..") == std::string_view::npos;
}

bool IsResourceType(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && IsPlainName(text.substr(0, slash)) &&
         IsPlainName(text.substr(slash + 1));
}

bool IsEnvironmentName(std::string_view text) {
  return !text.empty() && !IsDigit(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '_';
  });
}

bool IsRelativePath(std::string_view text) {
  if (text.empty() || text[0] == '/') return false;
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    if (text.substr(0, slash) == "..") return false;
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  }
  return true;
}

Type<std::string> ScenarioName() {
  return TextLike("^[a-z0-9-]+$", "a name of a-z, 0-9 and -", IsScenarioName);
}
Type<std::string> JobName() {
  return TextLike("^[a-z0-9][a-z0-9._-]{0,99}$", "a name of a-z, 0-9, . _ and -, at most 100",
                  IsJobName);
}
Type<std::string> TaskTypeName() {
  return TextLike("^[a-z][a-z0-9_-]{0,63}$",
                  "a task type like worker (a-z, 0-9, _ and -; at most 64)", IsTaskType);
}
Type<std::string> TaskSelector() {
  return TextLike("^[a-z][a-z0-9_-]{0,63}(:[0-9]+)?$",
                  "a task type like worker or one task like worker:1", IsTaskSelector);
}
Type<std::string> PlainName() {
  return TextLike("^[A-Za-z0-9][A-Za-z0-9._-]*$", "a name of letters, digits, . _ and -",
                  IsPlainName);
}
Type<std::string> QueueName() {
  return TextLike("^[A-Za-z0-9][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)*$",
                  "a queue like default or root.ml", IsQueuePath);
}
Type<std::string> SomeText() {
  Type<std::string> type =
      TextLike("^[^\\u0000]+$", "text that is not empty", [](std::string_view text) {
        return !text.empty() && text.find('\0') == std::string_view::npos;
      });
  type.info.text = "text";
  return type;
}

KeyRule TaskTypeKeys() {
  return {.pattern = "^[a-z][a-z0-9_-]{0,63}$",
          .what = "a task type like worker (a-z, 0-9, _ and -; at most 64)",
          .matches = IsTaskType};
}
KeyRule EnvironmentKeys() {
  return {.pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
          .what = "a name of a variable",
          .matches = IsEnvironmentName};
}
KeyRule AnyKeys() {
  return {.pattern = "", .what = "", .matches = nullptr};
}

std::string Counted(std::int64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

SelectedTask SplitTask(std::string_view text) {
  const std::size_t colon = text.find(':');
  SelectedTask task{.type = std::string(text.substr(0, colon)), .index = std::nullopt};
  if (colon != std::string_view::npos) {
    std::int32_t index = 0;
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), index);
    task.index = index;
  }
  return task;
}

}  // namespace tfyarn::config
