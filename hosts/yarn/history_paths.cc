#include "hosts/yarn/history_paths.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace tfyarn::hosts {
namespace {

constexpr std::string_view kAttempt = "attempt-";

}  // namespace

std::string HistoryDirectory(std::string wanted, const std::string& user) {
  if (wanted.empty()) return fmt::format("/user/{}/.tfyarn/history", user);
  while (wanted.size() > 1 && wanted.back() == '/') wanted.pop_back();
  return wanted;
}

std::string AttemptDirectory(const std::string& history, const ApplicationAttemptId& attempt) {
  return fmt::format("{}/{}/{}{}", history, ToString(attempt.application), kAttempt,
                     attempt.attempt);
}

std::optional<std::int32_t> AttemptOf(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (!path.starts_with(kAttempt)) return std::nullopt;
  path.remove_prefix(kAttempt.size());
  std::int32_t number = 0;
  const auto [stop, failed] = std::from_chars(path.data(), path.data() + path.size(), number);
  if (failed != std::errc{} || stop != path.data() + path.size() || number <= 0)
    return std::nullopt;
  return number;
}

}  // namespace tfyarn::hosts
