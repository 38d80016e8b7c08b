#include "hosts/runtime/run_records.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "core/trace/routine.h"

namespace tfyarn::hosts {

namespace fs = std::filesystem;

namespace {

/// In the directory, or of those in `changed`.
std::vector<std::string> RecordingsIn(const std::string& directory,
                                      const std::optional<std::set<std::string>>& changed) {
  std::vector<std::string> paths;
  const auto add = [&](const fs::path& path) {
    if (path.extension() == ".record") paths.push_back(path.string());
  };
  if (changed) {
    for (const std::string& name : *changed) add(fs::path(directory) / name);
    return paths;
  }
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed)) add(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::vector<trace::TraceRecord> RecordingsReader::Take(bool routine) {
  std::vector<trace::TraceRecord> records;
  for (const std::string& path : RecordingsIn(directory_, watch_.Changed()))
    TakeFrom(path, files_[path], routine, records);
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return records;
}

void RecordingsReader::TakeFrom(const std::string& path, File& file, bool routine,
                                std::vector<trace::TraceRecord>& records) {
  if (file.broken) return;
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(file.offset));
  const std::string fresh((std::istreambuf_iterator<char>(in)), {});
  file.offset += fresh.size();
  const auto parsed = file.parser.Feed(fresh, [&](trace::TraceRecord& record) {
    if (routine || !trace::IsRoutine(record.fact)) records.push_back(std::move(record));
  });
  if (parsed) return;
  file.broken = true;
  problems_.push_back(path + ": " + parsed.error().message);
}

void CountFrom(Instant origin, std::vector<trace::TraceRecord>& records) {
  const auto count = [origin](Instant& at) {
    at = Instant(std::max(at - origin, Duration::zero()));
  };
  for (trace::TraceRecord& record : records) {
    count(record.at);
    auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
    if (ordered == nullptr) continue;
    if (auto* restart = std::get_if<RestartDecided>(&ordered->action)) count(restart->cause.at);
    if (auto* over = std::get_if<RestartTakenOver>(&ordered->action)) count(over->decided.cause.at);
    auto* verdict = std::get_if<VerdictReached>(&ordered->action);
    if (verdict != nullptr && verdict->cause) count(verdict->cause->at);
  }
}

}  // namespace tfyarn::hosts
