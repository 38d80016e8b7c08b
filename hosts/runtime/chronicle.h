// What an ApplicationMaster writes down of its job while it goes on, in files of this machine: one
// line of events.jsonl for each record, from which everything that is shown can be made at any
// time, and the journal as it was at the beginning, with what was appended to it.
//
// In memory there is only the job as it stands now. What must not be told is left out of the lines:
// the environments that containers are given, and the journal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/job_spec.h"
#include "core/trace/record.h"
#include "hosts/runtime/am_world.h"
#include "hosts/runtime/growing_file.h"
#include "hosts/runtime/live_state.h"
#include "hosts/runtime/run_documents.h"

namespace tfyarn::hosts {

struct ChronicleOptions {
  std::string version;    ///< Of the program.
  std::string job_file;   ///< Text of the effective job.
  Instant began{};        ///< What times are counted from: the application's submission.
  std::string directory;  ///< Of this machine, for the files; it must be there.
  LiveState::LogAddress logs;
};

class Chronicle {
 public:
  /// Bytes of lines; then only what makes the result is written, and at twice as much nothing.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

  Chronicle(std::shared_ptr<const JobSpec> job, ChronicleOptions options);
  Chronicle(const Chronicle&) = delete;
  Chronicle& operator=(const Chronicle&) = delete;

  /// All that the machine is told and orders, in order.
  void Observe(Instant at, const trace::Fact& fact);
  /// The same job's events.jsonl of earlier attempts, of this machine, in order: from now on they
  /// come before what is written here.
  void Precede(std::vector<std::string> files);
  [[nodiscard]] const GrowingFile& events() const { return events_; }
  [[nodiscard]] const GrowingFile& journal() const { return journal_; }

  /// The job as it stands now: LiveState's JSON.
  [[nodiscard]] std::string State() const;
  /// Result and report of what is written down, the lines of earlier attempts included.
  [[nodiscard]] RunDocuments::Made Documents(bool over) const;

 private:
  void Record(Instant at, const trace::Fact& fact);
  void Write(const std::string& line, bool needed);
  void KeepJournal(const trace::Fact& fact);
  /// Everything that is written down, in order.
  void ReadAll(const EventsReader::OnRecord& on_record) const;

  std::shared_ptr<const JobSpec> job_;
  ChronicleOptions options_;
  AmWorld world_;
  LiveState live_;
  std::vector<std::string> earlier_;
  GrowingFile events_;
  GrowingFile journal_;
  std::uint64_t seq_ = 0;
};

}  // namespace tfyarn::hosts
