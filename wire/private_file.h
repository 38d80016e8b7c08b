// Files that hold keys: at every moment only their owner can read them.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::wire {

/// Writes `bytes` with mode 0600, whole or not at all: beside `path` first, then renamed to it. A
/// file or a link that was at `path` is replaced, never followed. It may be lost when the machine
/// goes down, as are the processes that it is for.
/// Errors: kUnavailable with the system's reason.
[[nodiscard]] Expected<void> WritePrivateFile(const std::string& path, std::string_view bytes);

/// Errors: kNotFound when there is none; kFailedPrecondition when it is a link or no plain file, is
/// another user's, can be read or written by others, or is beyond 1 MiB; kUnavailable when reading
/// fails.
[[nodiscard]] Expected<std::string> ReadPrivateFile(const std::string& path);

}  // namespace tfyarn::wire
