#include "hosts/yarn/history_sweep.h"

#include <algorithm>
#include <utility>

namespace tfyarn::hosts {
namespace {

using Files = tl::expected<std::vector<wire::WebHdfsFile>, hdfs::HdfsError>;

bool IsApplication(const wire::WebHdfsFile& file) {
  const std::string& path = file.status.path;
  return file.status.directory && path.substr(path.rfind('/') + 1).starts_with("application_");
}

}  // namespace

void HistorySweep::Run(WallTime now, Duration keep, std::function<void()> done) {
  done_ = std::move(done);
  oldest_ =
      now - std::chrono::duration_cast<CalendarClock::duration>(std::max(keep, kShortestKeep));
  files_.List(directory_, lifetime_.Guard([this](Files files) {
    for (const wire::WebHdfsFile& file : files ? *files : std::vector<wire::WebHdfsFile>()) {
      if (candidates_.size() < kMost && IsApplication(file) && IsOld({file}))
        candidates_.push_back(file.status.path);
    }
    Next();
  }));
}

/// The directory's own time is that of its newest attempt's beginning.
void HistorySweep::Next() {
  if (candidates_.empty()) return done_();
  const std::string path = std::move(candidates_.back());
  candidates_.pop_back();
  files_.List(path, lifetime_.Guard([this, path](Files files) {
    if (files && IsOld(*files)) return Remove(path);
    Next();
  }));
}

void HistorySweep::Remove(const std::string& path) {
  files_.Call(hdfs::DeleteRequest{.path = path, .recursive = true},
              lifetime_.Guard([this](const hdfs::HdfsResponse&) { Next(); }));
}

bool HistorySweep::IsOld(const std::vector<wire::WebHdfsFile>& files) const {
  return std::all_of(files.begin(), files.end(), [this](const wire::WebHdfsFile& file) {
    return WallTime(std::chrono::milliseconds(file.status.modification_time)) < oldest_;
  });
}

}  // namespace tfyarn::hosts
