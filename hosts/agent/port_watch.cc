#include "hosts/agent/port_watch.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::agent_host {
namespace {

/// People are told no more of the ports on which it listens instead.
constexpr std::size_t kMostPorts = 4;

}  // namespace

PortWatch::PortWatch(boost::asio::io_context& io, const PortWatchOptions& options, PidSource ours,
                     std::function<void(const PortUse&)> on_look)
    : timer_(io),
      options_(options),
      ours_(std::move(ours)),
      on_look_(std::move(on_look)),
      period_(options.first),
      due_(Clock::now() + options.deadline) {
  TF_CHECK(options_.first > Duration{} && options_.longest >= options_.first);
  Wait();
}

void PortWatch::Wait() {
  Clock::time_point at = Clock::now() + period_;
  if (due_) at = std::min(at, *due_);
  timer_.expires_at(at);
  timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error) return;
    period_ = std::min(period_ * 2, options_.longest);
    const bool due = due_ && Clock::now() >= *due_;
    if (due) due_.reset();
    Look(due);
  }));
}

void PortWatch::Look(bool due) {
  PortUse use;
  switch (WhoListens(options_.port, ours_)) {
    case Listener::kNobody:
      // A handful of microseconds for each open descriptor, so only when it is going to be told.
      if (due || !due_) use.elsewhere = PortsOf(ours_);
      if (use.elsewhere.size() > kMostPorts) use.elsewhere.resize(kMostPorts);
      break;
    case Listener::kStranger:
      use.listener = PortListener::kStranger;
      break;
    case Listener::kOurs:
    case Listener::kUnknown:  // It may be the task's own.
      use.listener = PortListener::kOurs;
      break;
  }
  if (use.listener != PortListener::kOurs) Wait();
  const bool same = use == std::exchange(last_, use);
  if (!same || due) on_look_(use);
}

}  // namespace tfyarn::agent_host
