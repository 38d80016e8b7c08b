#include "apps/local/log_printer.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>

#include "apps/cli/output.h"

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAtOnce = std::size_t{64} << 10;
/// A line without an end is shown in parts.
constexpr std::size_t kLongestLine = std::size_t{8} << 10;
constexpr std::string_view kAttempt = ".attempt-";
/// Readable on dark and on light ground: cyan, green, yellow, magenta, blue, red.
constexpr std::array<int, 6> kColors{36, 32, 33, 35, 34, 31};

}  // namespace

LogPrinter::LogPrinter(std::string directory, bool color)
    : directory_(std::move(directory)), color_(color) {}

std::string LogPrinter::Take(bool last) {
  Find();
  at_end_ = true;
  std::string out;
  for (auto& [name, file] : files_) TakeFrom(name, file, last, out);
  return out;
}

void LogPrinter::Find() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory_, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.find(kAttempt) == std::string::npos || files_.contains(name)) continue;
    files_[name].prefix = PrefixOf(name);
  }
}

/// "worker-1.attempt-2.stderr" becomes "worker:1 | ".
std::string LogPrinter::PrefixOf(const std::string& name) const {
  std::string task = name.substr(0, name.find(kAttempt));
  const auto dash = task.rfind('-');
  if (dash != std::string::npos) task[dash] = ':';
  const std::string prefix = fmt::format("{:<10} | ", task);
  if (!color_) return prefix;
  std::size_t sum = 0;
  for (const char c : task) sum = sum * 31 + static_cast<unsigned char>(c);
  return fmt::format("\033[{}m{}\033[0m", kColors[sum % kColors.size()], prefix);
}

void LogPrinter::TakeFrom(const std::string& name, File& file, bool last, std::string& out) {
  std::ifstream in(directory_ + "/" + name, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(file.offset));
  std::string fresh(kMostAtOnce, '\0');
  in.read(fresh.data(), static_cast<std::streamsize>(fresh.size()));
  fresh.resize(static_cast<std::size_t>(in.gcount()));
  if (!fresh.empty()) at_end_ = false;
  file.offset += fresh.size();
  file.rest += fresh;
  std::size_t from = 0;
  const auto show = [&](std::size_t to) {
    out +=
        file.prefix + cli::TerminalText(std::string_view(file.rest).substr(from, to - from)) + "\n";
  };
  for (std::size_t end = file.rest.find('\n'); end != std::string::npos;
       end = file.rest.find('\n', from)) {
    show(end);
    from = end + 1;
  }
  const bool too_long = file.rest.size() - from > kLongestLine;
  if (from < file.rest.size() && (too_long || (last && fresh.empty()))) {
    show(file.rest.size());
    from = file.rest.size();
  }
  file.rest.erase(0, from);
}

}  // namespace tfyarn::local
