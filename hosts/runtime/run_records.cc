#include "hosts/runtime/run_records.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/trace/routine.h"

namespace tfyarn::hosts {

namespace fs = std::filesystem;

std::vector<trace::TraceRecord> RecordingsReader::Take(bool routine) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory_, failed)) {
    if (entry.path().extension() == ".record") files_.try_emplace(entry.path().string());
  }
  std::vector<trace::TraceRecord> records;
  for (auto& [path, file] : files_) {
    if (file.broken) continue;
    std::ifstream in(path, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(file.offset));
    const std::string fresh((std::istreambuf_iterator<char>(in)), {});
    file.offset += fresh.size();
    const auto parsed = file.parser.Feed(fresh, [&](trace::TraceRecord& record) {
      if (routine || !trace::IsRoutine(record.fact)) records.push_back(std::move(record));
    });
    if (parsed) continue;
    file.broken = true;
    problems_.push_back(path + ": " + parsed.error().message);
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return records;
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
    auto* verdict = std::get_if<VerdictReached>(&ordered->action);
    if (verdict != nullptr && verdict->cause) count(verdict->cause->at);
  }
}

}  // namespace tfyarn::hosts
