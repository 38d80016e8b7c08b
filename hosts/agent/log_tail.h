// The end of a log file as text that can be sent and shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfyarn::agent_host {

inline constexpr std::size_t kStderrTail = 64U << 10;  ///< Bytes.

/// The last `limit` bytes of the file at `path`, but nothing before byte `from`: where the file
/// ended when the attempt began. A file that has become shorter than `from` was started anew and
/// counts from its beginning. Empty when there is no such file. Clean as CleanText makes it, and
/// never longer than `limit`; a character that the cut has torn is left out.
[[nodiscard]] std::string ReadLogTail(const std::string& path, std::uint64_t from,
                                      std::size_t limit = kStderrTail);

/// Valid UTF-8 without control characters but \n and \t, not longer than `bytes`. Carriage returns
/// (progress bars) end a line; every other control character and every byte that is no UTF-8
/// becomes a question mark.
[[nodiscard]] std::string CleanText(std::string_view bytes);

}  // namespace tfyarn::agent_host
