#include "apps/cli/task_lines.h"

#include <fmt/format.h>

#include <array>

namespace tfyarn::cli {
namespace {

/// Readable on dark and on light ground: cyan, green, yellow, magenta, blue, red.
constexpr std::array<int, 6> kColors{36, 32, 33, 35, 34, 31};

}  // namespace

std::string LinePrefix(const std::string& name, bool color) {
  const std::string prefix = fmt::format("{:<10} | ", name);
  if (!color) return prefix;
  std::size_t sum = 0;
  for (const char c : name) sum = sum * 31 + static_cast<unsigned char>(c);
  return fmt::format("\033[{}m{}\033[0m", kColors[sum % kColors.size()], prefix);
}

void LineCutter::Add(std::string_view text, const Use& use) {
  rest_ += text;
  const std::string_view all = rest_;
  std::size_t from = 0;
  for (std::size_t end = all.find('\n'); end != std::string_view::npos;
       end = all.find('\n', from)) {
    use(all.substr(from, end - from));
    from = end + 1;
  }
  if (all.size() - from > kLongestLine) {
    use(all.substr(from));
    from = all.size();
  }
  rest_.erase(0, from);
}

void LineCutter::Flush(const Use& use) {
  if (!rest_.empty()) use(rest_);
  rest_.clear();
}

}  // namespace tfyarn::cli
