// Numbers with units, as people write them: 30s, 1d12h, 16GiB, 10Gbps, 60%, 20/h.
//
// Exact: decimal text becomes an integer in the base unit or an error, never a rounded number. An
// error comes with what was probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "core/model/time.h"

namespace tfyarn::config {

struct QuantityError {
  std::string problem;     ///< Goes behind the text as given: "has no unit".
  std::string suggestion;  ///< "" = none; "30s".
};

template <class T>
using Quantity = tl::expected<T, QuantityError>;

/// ns us ms s m h d w, several parts from large to small; >= 0, at most kLongest.
[[nodiscard]] Quantity<Duration> ParseDuration(std::string_view text);
inline constexpr Duration kLongest = 100LL * 365 * 24h;
/// B KiB MiB GiB TiB -> bytes; >= 0, at most 8,191 PiB.
[[nodiscard]] Quantity<std::int64_t> ParseBytes(std::string_view text);
/// The same in whole MiB, as YARN counts memory.
[[nodiscard]] Quantity<std::int64_t> ParseMemoryMb(std::string_view text);
/// bps Kbps Mbps Gbps Tbps (powers of 1000) -> bits a second; > 0.
[[nodiscard]] Quantity<std::int64_t> ParseBandwidth(std::string_view text);
/// 60%, 12.5% -> 600, 125; at most one decimal.
[[nodiscard]] Quantity<std::int64_t> ParsePermille(std::string_view text);
/// 20/h, 0.5/s, 3/m, 10/d -> mean seconds between two.
[[nodiscard]] Quantity<double> ParseRate(std::string_view text);
/// A whole number, with an optional minus. No leading zeros, no exponent, no separators.
[[nodiscard]] Quantity<std::int64_t> ParseWhole(std::string_view text);
/// A decimal number without exponent; finite.
[[nodiscard]] Quantity<double> ParseNumber(std::string_view text);
/// Number of a signal by its name with or without SIG, or by number 1..64.
[[nodiscard]] Quantity<std::int32_t> ParseSignal(std::string_view text);
/// "KILL" for 9; the number where it has no name here.
[[nodiscard]] std::string SignalName(std::int32_t number);

/// "16GiB", "512MiB", "1536MiB" / bytes likewise / "10Gbps" / "12.5%": the shortest exact text.
[[nodiscard]] std::string MemoryText(std::int64_t mb);
[[nodiscard]] std::string BytesText(std::int64_t bytes);
[[nodiscard]] std::string BandwidthText(std::int64_t bps);
[[nodiscard]] std::string PermilleText(std::int64_t permille);
/// "0.25", "3": no exponent, no trailing zeros.
[[nodiscard]] std::string NumberText(double number);

}  // namespace tfyarn::config
