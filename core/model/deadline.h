// Deadlines that may not be set: what machines ask of them.
#pragma once

#include <optional>

#include "core/model/time.h"

namespace tfyarn {

/// Makes `least` the earlier of the two; an unset one never is.
inline void Earliest(std::optional<Instant>& least, const std::optional<Instant>& other) {
  if (other && (!least || *other < *least)) least = other;
}

[[nodiscard]] inline bool IsDue(const std::optional<Instant>& deadline, Instant now) {
  return deadline && *deadline <= now;
}

}  // namespace tfyarn
