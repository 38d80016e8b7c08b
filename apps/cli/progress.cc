#include "apps/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "apps/cli/human.h"
#include "apps/cli/output.h"

namespace tfyarn::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kRedraw = std::chrono::milliseconds(200);
constexpr Clock::duration kLineInLog = std::chrono::minutes(1);
constexpr std::size_t kLogColumns = 160;
constexpr double kTooEarlyToTell = 0.01;

std::size_t Columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

}  // namespace

std::optional<double> SecondsLeft(const ProgressState& state) {
  double share = state.horizon_seconds > 0 ? state.simulated_seconds / state.horizon_seconds : 0;
  if (state.total > 0) {
    share = std::max(share, static_cast<double>(state.done) / static_cast<double>(state.total));
  }
  if (share < kTooEarlyToTell || share > 1) return std::nullopt;
  return state.wall_seconds / share * (1 - share);
}

std::string ProgressText(const ProgressState& state, std::size_t columns) {
  std::string text = state.total > 0 ? fmt::format("{}/{} {}s", state.done, state.total, state.noun)
                                     : Plural(state.done, state.noun);
  if (!state.more.empty()) text += "  " + state.more;
  if (state.simulated_seconds > 0) {
    text += fmt::format("  {} simulated", HumanSeconds(state.simulated_seconds));
    if (state.wall_seconds > 0)
      text += fmt::format(" ({:.0f}x)", state.simulated_seconds / state.wall_seconds);
  }
  if (const std::optional<double> left = SecondsLeft(state))
    text += fmt::format("  ~{} left", HumanSeconds(*left));
  if (text.size() > columns) text.resize(columns);
  return text;
}

ProgressLine::ProgressLine(bool quiet) : begin_(Clock::now()) {
  const char* term = std::getenv("TERM");
  enabled_ = !quiet;
  redraws_ = ::isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

double ProgressLine::wall_seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void ProgressLine::Show(ProgressState state) {
  if (!enabled_) return;
  const auto now = Clock::now();
  const Clock::duration every = redraws_ ? kRedraw : kLineInLog;
  if (now - begin_ < every || now - last_ < every) return;
  last_ = now;
  state.wall_seconds = wall_seconds();
  if (!redraws_) return WriteStderr(ProgressText(state, kLogColumns) + "\n");
  WriteStderr("\r" + ProgressText(state, Columns() - 1) + "\x1b[K");
  drawn_ = true;
}

void ProgressLine::Clear() {
  if (drawn_) WriteStderr("\r\x1b[K");
  drawn_ = false;
}

}  // namespace tfyarn::cli
