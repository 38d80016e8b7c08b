// Measured durations in messages to people: "9m59.799816191s" says no more than "10m".
#pragma once

#include <string>

#include "core/model/time.h"

namespace tfyarn {

/// As ToString, of the nearest millisecond below a second, tenth of a second below ten, second
/// below an hour and minute from then on. A duration that a user wrote is shown as it is, by
/// ToString.
[[nodiscard]] std::string RoundedText(Duration duration);

}  // namespace tfyarn
