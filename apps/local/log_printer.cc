#include "apps/local/log_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/cli/output.h"

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAttempt = ".attempt-";

/// "812 MiB"; bytes below one KiB.
std::string SizeText(std::uint64_t bytes) {
  if (bytes >= std::uint64_t{10} << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= std::uint64_t{1} << 10) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

std::string ReadPart(const std::string& path, std::uint64_t offset, std::uint64_t most) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::string part(most, '\0');
  in.read(part.data(), static_cast<std::streamsize>(part.size()));
  part.resize(static_cast<std::size_t>(in.gcount()));
  return part;
}

cli::LineCutter::Use ShownIn(std::string& out, const std::string& prefix) {
  return [&](std::string_view line) { out += prefix + cli::TerminalText(line) + "\n"; };
}

}  // namespace

LogPrinter::LogPrinter(std::string directory, bool color)
    : directory_(std::move(directory)), color_(color), watch_(directory_) {}

std::string LogPrinter::Take() {
  Find();
  ++looks_;
  std::string out;
  // In turn, beginning after the one that was last: where all together write too much, each is
  // shown a part of the time.
  std::vector<std::string> names(behind_.upper_bound(turn_), behind_.end());
  names.insert(names.end(), behind_.begin(), behind_.upper_bound(turn_));
  std::uint64_t left = kPerLook;
  for (const std::string& name : names) {
    if (left == 0) break;
    File& file = files_.at(name);
    if (looks_ - file.look >= kLooksBetween && BacklogOf(name, file) > kLongestBacklog) {
      PassOver(name, file, kPerFile, out);
      file.look = looks_;
    }
    const std::uint64_t most = std::min<std::uint64_t>(left, kPerFile);
    const std::uint64_t taken = TakeFrom(name, file, most, out);
    left -= taken;
    turn_ = name;
    if (taken < most) behind_.erase(name);
  }
  return out;
}

std::string LogPrinter::TakeLast() {
  AddAll();
  std::string out;
  const std::uint64_t keep =
      std::max(kLeastAtEnd, kAtEnd / std::max<std::uint64_t>(files_.size(), 1));
  for (auto& [name, file] : files_) {
    if (BacklogOf(name, file) > keep) PassOver(name, file, keep, out);
    TakeFrom(name, file, keep, out);
    file.lines.Flush(ShownIn(out, file.prefix));
  }
  behind_.clear();
  return out;
}

void LogPrinter::Find() {
  if (const auto changed = watch_.Changed()) {
    for (const std::string& name : *changed) Add(name);
  } else {
    AddAll();
  }
}

void LogPrinter::AddAll() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory_, failed))
    Add(entry.path().filename().string());
}

void LogPrinter::Add(const std::string& name) {
  if (name.find(kAttempt) == std::string::npos) return;
  const auto [file, fresh] = files_.try_emplace(name);
  if (fresh) file->second.prefix = PrefixOf(name);
  behind_.insert(name);
}

/// "worker-1.attempt-2.stderr" becomes "worker:1 | ".
std::string LogPrinter::PrefixOf(const std::string& name) const {
  std::string task = name.substr(0, name.find(kAttempt));
  const auto dash = task.rfind('-');
  if (dash != std::string::npos) task[dash] = ':';
  return cli::LinePrefix(task, color_);
}

std::uint64_t LogPrinter::BacklogOf(const std::string& name, const File& file) const {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(fs::path(directory_) / name, failed);
  return failed || size < file.offset ? 0 : size - file.offset;
}

void LogPrinter::PassOver(const std::string& name, File& file, std::uint64_t keep,
                          std::string& out) const {
  const std::string path = directory_ + "/" + name;
  const std::uint64_t begin = file.offset + BacklogOf(name, file) - keep;
  const std::string part = ReadPart(path, begin, keep);
  // From the first whole line on, where there is one.
  const std::size_t end = part.find('\n');
  const std::uint64_t next = begin + (end == std::string::npos ? 0 : end + 1);
  file.lines.Flush(ShownIn(out, file.prefix));
  out += fmt::format("{}({} not shown; whole in {})\n", file.prefix, SizeText(next - file.offset),
                     path);
  file.offset = next;
}

std::uint64_t LogPrinter::TakeFrom(const std::string& name, File& file, std::uint64_t budget,
                                   std::string& out) const {
  const std::string fresh = ReadPart(directory_ + "/" + name, file.offset, budget);
  file.offset += fresh.size();
  file.lines.Add(fresh, ShownIn(out, file.prefix));
  return fresh.size();
}

}  // namespace tfyarn::local
