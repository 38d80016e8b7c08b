#include "apps/yarn/history_watch.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/yarn/whole_lines.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

/// Bytes of one read. A line that is longer has nothing of ours to say.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;

}  // namespace

void HistoryWatch::Look(const ApplicationAttemptId& attempt, std::function<void()> done) {
  if (attempt != attempt_) {
    attempt_ = attempt;
    next_ = 0;
    news_.NextAttempt();
  }
  std::string path = hosts::AttemptDirectory(applications_, attempt) + "/" + hosts::kEventsFile;
  hdfs_.Status(path, [this, path, done = std::move(done)](auto status) mutable {
    if (!status) return done();
    Read(path, static_cast<std::uint64_t>(status->status.size), std::move(done));
  });
}

void HistoryWatch::LookNow(boost::asio::io_context& loop, const ApplicationAttemptId& attempt) {
  Look(attempt, [&loop] { loop.stop(); });
  loop.restart();
  loop.run();
}

void HistoryWatch::Read(const std::string& path, std::uint64_t size, std::function<void()> done) {
  if (size <= next_) return done();
  const std::uint64_t length = std::min(size - next_, kPiece);
  hdfs_.OpenRange(
      path, next_, length, [this, path, size, length, done = std::move(done)](auto bytes) mutable {
        if (!bytes) return done();
        const std::uint64_t before = next_;
        next_ += ForEachWholeLine(*bytes, [this](std::string_view line) { news_.Take(line); });
        // Without a whole line in it there is more of it to come, or it is too long.
        if (next_ == before && length == kPiece) next_ += length;
        if (next_ == before) return done();
        Read(path, size, std::move(done));
      });
}

}  // namespace tfyarn::apps
