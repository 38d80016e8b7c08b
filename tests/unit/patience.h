// How long a test waits for a fact before it says that it never came. tests/patience.py is the same
// for the tests in Python.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "core/model/time.h"

namespace tfyarn {

/// How much longer than an idle machine this one takes: measured by the first call, by a fixed
/// piece of work beside whatever else the machine does; from TFYARN_SLOWNESS where the test that
/// started this program has measured. From 1.5 to 20.
inline double Slowness() {
  static const double slowness = [] {
    if (const char* given = std::getenv("TFYARN_SLOWNESS")) return std::strtod(given, nullptr);
    // What the loop takes at -O0 on an idle core of 2020.
    constexpr double kNominalSeconds = 0.02;
    const auto start = std::chrono::steady_clock::now();
    volatile std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < 10'000'000; ++i) total = total + i;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return std::clamp(1.5 * took.count() / kNominalSeconds, 1.5, 20.0);
  }();
  return slowness;
}

/// `time` as this machine needs it.
inline Duration Patience(Duration time) {
  return std::chrono::duration_cast<Duration>(time * Slowness());
}

}  // namespace tfyarn
