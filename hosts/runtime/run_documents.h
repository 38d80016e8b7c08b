// The documents of one run of a job, made of its records: the lines of events.jsonl, result.json
// and report.html. Every host makes them here, and all of them count time from the run's beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/client.h"
#include "core/model/error.h"
#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::hosts {

/// Makes result and report.
class RunDocuments {
 public:
  struct Made {
    trace::Result result;
    std::string json;            ///< result.json.
    Expected<std::string> html;  ///< report.html.
  };

  /// `version` of the program; `job_file`: text of the effective job.
  RunDocuments(std::string version, std::string job_file)
      : version_(std::move(version)), job_file_(std::move(job_file)) {}

  /// The next record, in order of time. Its maker vouches for it: for what others wrote there is
  /// EventsReader.
  void Observe(const trace::TraceRecord& record);
  /// The run's result so far, after it took so long; `over` false: it goes on, or is not known.
  /// This object is spent then.
  [[nodiscard]] Made Make(Duration took, bool over);
  /// The same of a run that has ended `at` so, which its records do not tell, or not all of it. A
  /// JobCreated must be among them. Where no rule of an AM decided, the rule names YARN and the
  /// end.
  [[nodiscard]] Made MakeEnded(Instant at, const JobEnded& ended);

 private:
  [[nodiscard]] Made Finish(Duration took, const JobEnded* ended);

  std::string version_;
  std::string job_file_;
  trace::ResultBuilder builder_{trace::ResultOptions{.always_tasks = true}};
  std::uint64_t records_ = 0;
  Instant last_{};
};

/// Reads events.jsonl of one job, one piece after the other, and gives the records that
/// RunDocuments may have: nothing that was written is trusted. Left out are lines that cannot be
/// read (an append that was cut), that were given before (an append that was repeated), and what
/// contradicts the records before; a time that runs backwards stands still.
class EventsReader {
 public:
  using OnRecord = std::function<void(const trace::TraceRecord&)>;

  /// Longest line, in bytes; a longer one is left out.
  static constexpr std::size_t kLongestLine = std::size_t{8} << 20;

  explicit EventsReader(OnRecord on_record) : on_record_(std::move(on_record)) {}

  void Feed(std::string_view bytes);
  /// Another file begins, whose lines count from 1 again and whose job is the same.
  void NextFile();
  /// Lines that could not be read.
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

 private:
  void TakeLine(std::string_view line);
  [[nodiscard]] bool Fits(const trace::Fact& fact);

  OnRecord on_record_;
  std::string rest_;
  bool too_long_ = false;  ///< The line that `rest_` was part of.
  std::uint64_t seq_ = 0;
  std::uint64_t unreadable_ = 0;
  Instant last_{};
  bool created_ = false;
  std::set<ContainerId> granted_;
};

}  // namespace tfyarn::hosts
