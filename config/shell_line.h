// What a `shell` line of a job does to exit codes, as far as its text tells. No shell is asked, and
// nothing is refused for what is found here.
#pragma once

#include <string>
#include <string_view>

namespace tfyarn::config {

/// The last program of the line's first pipe, without its directory: its exit code is the pipe's,
/// whatever those before it end with. "" where there is no pipe, or the line sees to that itself
/// (pipefail, PIPESTATUS). Pipes in quotes and in $(...) are not the line's.
[[nodiscard]] std::string LastOfPipe(std::string_view line);

}  // namespace tfyarn::config
