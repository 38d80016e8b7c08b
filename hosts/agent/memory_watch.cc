#include "hosts/agent/memory_watch.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::agent_host {

MemoryUse MemoryMeter::Look(const std::vector<ProcessInfo>& processes) {
  MemoryUse use;
  std::map<pid_t, std::uint64_t> now;
  for (const ProcessInfo& process : processes) {
    now.emplace(process.pid, process.start_time);
    use.bytes += process.rss_bytes;
    const auto before = seen_.find(process.pid);
    if (before != seen_.end() && before->second == process.start_time) {
      use.aged_bytes += process.rss_bytes;
    }
  }
  seen_ = std::move(now);
  return use;
}

bool MemoryMeter::IsTooMuch(const MemoryUse& use, std::uint64_t limit_bytes) {
  return use.bytes > 2 * limit_bytes || use.aged_bytes > limit_bytes;
}

MemoryWatch::MemoryWatch(boost::asio::io_context& io, Source source, MemoryLimit limit,
                         std::function<void(const MemoryUse&)> on_excess)
    : timer_(io), source_(std::move(source)), limit_(limit), on_excess_(std::move(on_excess)) {
  TF_CHECK(limit_.bytes > 0);
  TF_CHECK(limit_.period > Duration{});
  Wait();
}

void MemoryWatch::Wait() {
  timer_.expires_after(limit_.period);
  timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error) return;
    Wait();
    Look();
  }));
}

void MemoryWatch::Look() {
  last_ = meter_.Look(source_());
  peak_bytes_ = std::max(peak_bytes_, last_.bytes);
  if (!on_excess_ || !MemoryMeter::IsTooMuch(last_, limit_.bytes)) return;
  const auto on_excess = std::exchange(on_excess_, nullptr);
  const MemoryUse use = last_;
  on_excess(use);
}

}  // namespace tfyarn::agent_host
