#include "hosts/agent/signs_watch.h"

#include <signal.h>

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "hosts/agent/proc_table.h"
#include "hosts/agent/stacks.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::size_t kLongestStatus = 16U << 10;
/// A tree of more is looked at in part.
constexpr std::size_t kMostLookedAt = 64;

/// What stands behind NAME at the start of a line.
std::string_view FieldOf(const std::string& status, std::string_view name) {
  const std::size_t at = status.find("\n" + std::string(name) + ":");
  if (at == std::string::npos) return {};
  std::string_view value(status);
  value.remove_prefix(at + name.size() + 2);
  value = value.substr(0, value.find('\n'));
  while (value.starts_with('\t') || value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

std::uint64_t CountIn(const std::string& status, std::string_view name) {
  const std::string_view text = FieldOf(status, name);
  std::uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

}  // namespace

StatusSigns ParseStatus(const std::string& status) {
  const std::string_view state = FieldOf(status, "State");
  return {.state = state.empty() ? '?' : state.front(),
          .switches = CountIn(status, "voluntary_ctxt_switches") +
                      CountIn(status, "nonvoluntary_ctxt_switches"),
          .catches_term = CatchesSignal(status, SIGTERM)};
}

Signs SignsReader::Look() {
  Signs signs;
  std::map<pid_t, std::uint64_t> in_disk_sleep;
  std::vector<pid_t> processes{root_};
  for (std::size_t i = 0; i < processes.size() && i < kMostLookedAt; ++i) {
    const pid_t pid = processes[i];
    const auto text = ReadSmallFile("/proc/" + std::to_string(pid) + "/status", kLongestStatus);
    if (!text) continue;
    const StatusSigns one = ParseStatus(*text);
    signs.catches_term = signs.catches_term || one.catches_term;
    if (one.state == 'T') signs.standstill = Standstill::kStopped;
    if (one.state == 'D') {
      in_disk_sleep.emplace(pid, one.switches);
      const auto before = in_disk_sleep_.find(pid);
      const bool stood = before != in_disk_sleep_.end() && before->second == one.switches;
      if (stood && signs.standstill == Standstill::kNone)
        signs.standstill = Standstill::kUninterruptible;
    }
    for (const pid_t child : ReadChildren(pid, 1)) processes.push_back(child);
  }
  in_disk_sleep_ = std::move(in_disk_sleep);
  return signs;
}

SignsWatch::SignsWatch(boost::asio::io_context& io, pid_t root,
                       std::function<void(const Signs&)> on_change, Duration period)
    : timer_(io), reader_(root), on_change_(std::move(on_change)), period_(period) {
  TF_CHECK(period_ > Duration{});
  Wait();
}

void SignsWatch::Wait() {
  timer_.expires_after(period_);
  timer_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error) return;
    Wait();
    const Signs now = reader_.Look();
    if (now == std::exchange(last_, now)) return;
    on_change_(now);
  }));
}

}  // namespace tfyarn::agent_host
