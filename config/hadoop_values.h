// The values of Hadoop's configuration: how its clients read numbers, times and sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/time.h"

namespace tfyarn::config {

/// Decimal or 0x..., with a minus in front or not.
[[nodiscard]] std::optional<std::int64_t> ParseHadoopWhole(std::string_view text);
/// A whole number with ns, us, ms, s, m, h or d behind it, in any letter case; `unit` without one.
/// At most kLongest; a longer one counts as that, as "for ever" is written with large numbers.
[[nodiscard]] std::optional<Duration> ParseHadoopTime(std::string_view text, Duration unit);
/// A whole number of bytes with k, m, g, t, p or e behind it, in any letter case.
[[nodiscard]] std::optional<std::int64_t> ParseHadoopBytes(std::string_view text);
[[nodiscard]] std::vector<std::string> SplitHadoopList(std::string_view text);
/// Without blanks around it.
[[nodiscard]] std::string_view TrimBlanks(std::string_view text);
[[nodiscard]] std::string LowerCase(std::string_view text);

}  // namespace tfyarn::config
