// Messages that others can cause without end, for a log that must not grow with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/time.h"

namespace tfyarn::hosts {

/// Lets the first few through, and then one in each period, which says how many there were besides.
class RareNotes {
 public:
  explicit RareNotes(int first = 5, Duration period = 1min) : first_(first), period_(period) {}

  /// What to write now; nullopt: nothing.
  [[nodiscard]] std::optional<std::string> Take(Instant now, std::string text) {
    const bool early = told_ < first_;
    if (!early && now < last_ + period_) {
      ++kept_;
      return std::nullopt;
    }
    if (early) ++told_;
    last_ = now;
    if (kept_ > 0) text += " (and " + std::to_string(kept_) + " more such messages before)";
    kept_ = 0;
    return text;
  }

 private:
  int first_;
  Duration period_;
  int told_ = 0;
  std::uint64_t kept_ = 0;  ///< Not written since the last that was.
  Instant last_{};
};

}  // namespace tfyarn::hosts
