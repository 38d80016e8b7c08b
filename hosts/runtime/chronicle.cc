#include "hosts/runtime/chronicle.h"

#include <fstream>
#include <utility>

#include "core/trace/json.h"
#include "core/trace/routine.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/run_records.h"

namespace tfyarn::hosts {
namespace {

constexpr std::size_t kPiece = 64 << 10;

/// A fact without what must not be told, or is told elsewhere.
trace::Fact Lean(const trace::Fact& fact) {
  trace::Fact lean = fact;
  if (auto* told = std::get_if<trace::AmTold>(&lean)) {
    if (auto* read = std::get_if<JournalRead>(&told->event)) read->bytes.clear();
    if (auto* started = std::get_if<AmStarted>(&told->event)) started->nodes = {};
  } else if (auto* ordered = std::get_if<trace::AmOrdered>(&lean)) {
    if (auto* append = std::get_if<AppendJournal>(&ordered->action)) append->bytes.clear();
    auto* call = std::get_if<CallNm>(&ordered->action);
    auto* start =
        call == nullptr ? nullptr : std::get_if<yarn::StartContainersRequest>(&call->request);
    if (start == nullptr) return lean;
    for (yarn::StartContainerRequest& container : start->containers) container.context = {};
  }
  return lean;
}

/// Whether result and report are made of it.
bool IsNeeded(const trace::Fact& fact) {
  const auto* told = std::get_if<trace::AmTold>(&fact);
  if (told != nullptr) return std::holds_alternative<AmStarted>(told->event);
  const auto* ordered = std::get_if<trace::AmOrdered>(&fact);
  return ordered == nullptr || !(std::holds_alternative<CallRm>(ordered->action) ||
                                 std::holds_alternative<CallNm>(ordered->action) ||
                                 std::holds_alternative<CallHdfs>(ordered->action) ||
                                 std::holds_alternative<SendToAgent>(ordered->action) ||
                                 std::holds_alternative<AppendJournal>(ordered->action) ||
                                 std::holds_alternative<Note>(ordered->action));
}

/// What was so before this attempt began.
bool IsOfTheBeginning(const trace::Fact& fact) {
  return std::holds_alternative<trace::JobRunStarted>(fact) ||
         std::holds_alternative<trace::NodeDeclared>(fact) ||
         std::holds_alternative<trace::JobCreated>(fact);
}

}  // namespace

Chronicle::Chronicle(std::shared_ptr<const JobSpec> job, ChronicleOptions options)
    : job_(std::move(job)),
      options_(std::move(options)),
      world_(job_),
      live_(*job_, Instant{}, options_.logs),
      events_(options_.directory + "/events.jsonl", false),
      journal_(options_.directory + "/journal", false) {}

void Chronicle::Observe(Instant at, const trace::Fact& fact) {
  for (const trace::Fact& before : world_.Before(fact))
    Record(IsOfTheBeginning(before) ? options_.began : at, before);
  KeepJournal(fact);
  Record(at, fact);
  for (const trace::Fact& after : world_.After(fact)) Record(at, after);
}

void Chronicle::Record(Instant at, const trace::Fact& fact) {
  const bool routine = trace::IsRoutine(fact);
  std::vector<trace::TraceRecord> record(1);
  record[0] = {.at = at, .fact = routine ? fact : Lean(fact)};
  CountFrom(options_.began, record);
  std::string text = live_.Observe(record[0]);
  if (routine) return;
  const std::string line =
      trace::RecordJson(record[0], {.seq = seq_ + 1, .text = std::move(text)}) + "\n";
  Write(line, IsNeeded(fact));
}

/// A line that is not taken is one that is missing: nothing else depends on it.
void Chronicle::Write(const std::string& line, bool needed) {
  const std::uint64_t after = events_.size() + line.size();
  if (after > 2 * kMostBytes || (after > kMostBytes && !needed)) return;
  if (events_.Append(line)) ++seq_;
}

std::string Chronicle::State() const {
  return live_.Json(Instant(Now() - options_.began));
}

void Chronicle::KeepJournal(const trace::Fact& fact) {
  const auto* told = std::get_if<trace::AmTold>(&fact);
  const auto* ordered = std::get_if<trace::AmOrdered>(&fact);
  const auto* read = told == nullptr ? nullptr : std::get_if<JournalRead>(&told->event);
  const auto* append = ordered == nullptr ? nullptr : std::get_if<AppendJournal>(&ordered->action);
  if (read == nullptr && append == nullptr) return;
  const std::string& bytes = read != nullptr ? read->bytes : append->bytes;
  if (journal_.size() + bytes.size() <= kMostBytes) journal_.Append(bytes);
}

void Chronicle::ReadAll(const EventsReader::OnRecord& on_record) const {
  EventsReader reader(on_record);
  for (const std::string& path : earlier_) {
    std::ifstream in(path, std::ios::binary);
    std::vector<char> piece(kPiece);
    while (in.read(piece.data(), kPiece) || in.gcount() > 0)
      reader.Feed({piece.data(), static_cast<std::size_t>(in.gcount())});
    reader.NextFile();
  }
  std::uint64_t at = 0;
  for (std::string piece = events_.Read(at, kPiece); !piece.empty();
       piece = events_.Read(at, kPiece)) {
    reader.Feed(piece);
    at += piece.size();
  }
  reader.NextFile();
}

void Chronicle::Precede(std::vector<std::string> files) {
  earlier_ = std::move(files);
  LiveState live(*job_, Instant{}, options_.logs);
  ReadAll([&](const trace::TraceRecord& record) { live.Observe(record); });
  live_ = std::move(live);
}

RunDocuments::Made Chronicle::Documents(bool over) const {
  RunDocuments documents(options_.version, options_.job_file);
  ReadAll([&](const trace::TraceRecord& record) { documents.Observe(record); });
  return documents.Make(Now() - options_.began, over);
}

}  // namespace tfyarn::hosts
