// Looks for the progress that a job's `watch` describes: lines on stdout, or a file that changes.
//
// It says that there was progress, at most once a period; how long none may be missing is the
// agent's business (core/agent). Lines come from a program that may be hostile or broken, so the
// pattern is matched by RE2, whose time grows with the line only and which does not recurse. RE2
// knows no backreferences and no lookahead; such a pattern is refused here.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/error.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "hosts/runtime/lifetime.h"

namespace re2 {
class RE2;
}

namespace tfyarn::agent_host {

/// `watch.progress`, compiled. Matches bytes: a line need not be UTF-8.
class ProgressPattern {
 public:
  /// Errors: kInvalidArgument: no regular expression that RE2 knows, or more than one group.
  [[nodiscard]] static Expected<ProgressPattern> Compile(const std::string& pattern);
  ~ProgressPattern();
  ProgressPattern(ProgressPattern&&) noexcept;
  ProgressPattern& operator=(ProgressPattern&&) noexcept;

  /// Whether the pattern is found in `line` and, if it has a group, the group differs from what it
  /// was in the last line where it was found: the same step said twice is no progress.
  [[nodiscard]] bool Advances(std::string_view line);

 private:
  explicit ProgressPattern(std::unique_ptr<re2::RE2> pattern);

  std::unique_ptr<re2::RE2> pattern_;
  std::optional<std::string> last_;
};

/// Something that moves while a process makes progress.
class ProgressSource {
 public:
  virtual ~ProgressSource() = default;
  /// Whether it moved since the last call, or since it was made.
  [[nodiscard]] virtual bool HasMoved() = 0;
};

/// Where the attempt of a process writes.
struct AttemptFiles {
  std::string stdout_path;
  std::uint64_t stdout_from = 0;  ///< Where in that file the attempt began.
  std::string directory;          ///< Its working directory.
};

/// What `watch` asks for. Errors: as ProgressPattern::Compile.
[[nodiscard]] Expected<std::unique_ptr<ProgressSource>> MakeProgressSource(
    const WatchSpec& watch, const AttemptFiles& files);

class ProgressWatch {
 public:
  /// Asks `source` every `period` from now on, until it is destroyed, and calls `on_progress` when
  /// it has moved; that may destroy this object. `source` is not null.
  ProgressWatch(boost::asio::io_context& io, std::unique_ptr<ProgressSource> source,
                std::function<void()> on_progress, Duration period = 500ms);

 private:
  void Wait();

  boost::asio::steady_timer timer_;
  std::unique_ptr<ProgressSource> source_;
  std::function<void()> on_progress_;
  Duration period_;
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
