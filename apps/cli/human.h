// Numbers as people read them: three significant digits, a unit, no more.
#pragma once

#include <cstdint>
#include <string>

namespace tfyarn::cli {

/// "12.3 ms", "5.6 s", "18m20s", "2h05m", "3d04h". Negative and non-finite values as "-".
[[nodiscard]] std::string HumanSeconds(double seconds);
/// "93 %", "0.3 %".
[[nodiscard]] std::string HumanPercent(double share);
/// "12,345,678".
[[nodiscard]] std::string HumanCount(std::uint64_t count);
/// "1 job", "2 jobs".
[[nodiscard]] std::string Plural(std::uint64_t count, const std::string& noun);

}  // namespace tfyarn::cli
