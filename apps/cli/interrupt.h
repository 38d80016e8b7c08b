// Ctrl-C and SIGTERM as a flag: the code that works looks at it and stops in good order. A second
// signal ends the process.
#pragma once

#include <atomic>

namespace tfyarn::cli {

/// Catches SIGINT and SIGTERM from now on, and ignores SIGPIPE: a closed pipe is an error of a
/// write. Returns the flag; it lives as long as the process.
const std::atomic<bool>& CatchInterrupts();

/// The signal that came; 0 = none.
[[nodiscard]] int InterruptSignal();

}  // namespace tfyarn::cli
