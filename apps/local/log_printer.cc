#include "apps/local/log_printer.h"

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
constexpr std::string_view kAttempt = ".attempt-";

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
  return cli::LinePrefix(task, color_);
}

void LogPrinter::TakeFrom(const std::string& name, File& file, bool last, std::string& out) {
  std::ifstream in(directory_ + "/" + name, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(file.offset));
  std::string fresh(kMostAtOnce, '\0');
  in.read(fresh.data(), static_cast<std::streamsize>(fresh.size()));
  fresh.resize(static_cast<std::size_t>(in.gcount()));
  if (!fresh.empty()) at_end_ = false;
  file.offset += fresh.size();
  const auto show = [&](std::string_view line) {
    out += file.prefix + cli::TerminalText(line) + "\n";
  };
  file.lines.Add(fresh, show);
  if (last && fresh.empty()) file.lines.Flush(show);
}

}  // namespace tfyarn::local
