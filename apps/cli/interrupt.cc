#include "apps/cli/interrupt.h"

#include <csignal>

namespace tfyarn::cli {
namespace {

std::atomic<bool> was_interrupted{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void OnSignal(int number) {
  signal_number.store(number);
  was_interrupted.store(true);
}

}  // namespace

const std::atomic<bool>& CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  // The second one does what it always did.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, nullptr);
  return was_interrupted;
}

int InterruptSignal() {
  return signal_number.load();
}

}  // namespace tfyarn::cli
