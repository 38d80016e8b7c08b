#include "hosts/agent/progress_watch.h"

#include <re2/re2.h>
#include <sys/stat.h>

#include <tuple>
#include <utility>

#include "core/model/check.h"
#include "hosts/agent/line_follower.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::int64_t kPatternMemory = 4 << 20;

class LineProgress : public ProgressSource {
 public:
  LineProgress(const AttemptFiles& files, ProgressPattern pattern)
      : lines_(files.stdout_path, files.stdout_from), pattern_(std::move(pattern)) {}

  bool HasMoved() override {
    bool moved = false;
    lines_.Look([&](std::string_view line) { moved = pattern_.Advances(line) || moved; });
    return moved;
  }

 private:
  LineFollower lines_;
  ProgressPattern pattern_;
};

/// A file, or a directory, whose entries come and go. A file that vanishes has not moved.
class FileProgress : public ProgressSource {
 public:
  explicit FileProgress(std::string path) : path_(std::move(path)), last_(Read()) {}

  bool HasMoved() override {
    const std::optional<State> state = Read();
    if (!state || state == last_) return false;
    last_ = state;
    return true;
  }

 private:
  using State = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;

  [[nodiscard]] std::optional<State> Read() const {
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0) return std::nullopt;
    return State{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                 status.st_mtim.tv_nsec};
  }

  std::string path_;
  std::optional<State> last_;
};

}  // namespace

ProgressPattern::ProgressPattern(std::unique_ptr<re2::RE2> pattern)
    : pattern_(std::move(pattern)) {}
ProgressPattern::~ProgressPattern() = default;
ProgressPattern::ProgressPattern(ProgressPattern&&) noexcept = default;
ProgressPattern& ProgressPattern::operator=(ProgressPattern&&) noexcept = default;

Expected<ProgressPattern> ProgressPattern::Compile(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_unique<re2::RE2>(pattern, options);
  if (!compiled->ok()) {
    return Fail(ErrorCode::kInvalidArgument,
                "watch.progress: \"" + pattern + "\" is not a pattern: " + compiled->error());
  }
  if (compiled->NumberOfCapturingGroups() > 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "watch.progress: \"" + pattern + "\" has more than one group");
  }
  return ProgressPattern(std::move(compiled));
}

bool ProgressPattern::Advances(std::string_view line) {
  const re2::StringPiece text(line.data(), line.size());
  if (pattern_->NumberOfCapturingGroups() == 0) return re2::RE2::PartialMatch(text, *pattern_);
  std::string group;
  if (!re2::RE2::PartialMatch(text, *pattern_, &group) || last_ == group) return false;
  last_ = std::move(group);
  return true;
}

Expected<std::unique_ptr<ProgressSource>> MakeProgressSource(const WatchSpec& watch,
                                                             const AttemptFiles& files) {
  if (!watch.progress_file.empty()) {
    return std::make_unique<FileProgress>(files.directory + "/" + watch.progress_file);
  }
  auto pattern = ProgressPattern::Compile(watch.progress);
  if (!pattern) return tl::unexpected(pattern.error());
  return std::make_unique<LineProgress>(files, std::move(*pattern));
}

ProgressWatch::ProgressWatch(boost::asio::io_context& io, std::unique_ptr<ProgressSource> source,
                             std::function<void()> on_progress, Duration period)
    : timer_(io),
      source_(std::move(source)),
      on_progress_(std::move(on_progress)),
      period_(period) {
  TF_CHECK(source_ != nullptr);
  TF_CHECK(period_ > Duration{});
  Wait();
}

void ProgressWatch::Wait() {
  timer_.expires_after(period_);
  timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error) return;
    Wait();
    if (source_->HasMoved()) on_progress_();
  }));
}

}  // namespace tfyarn::agent_host
