// Which of several tasks that failed together is the cause?
#pragma once

#include <cstddef>
#include <vector>

#include "core/model/exit.h"
#include "core/model/time.h"

namespace tfyarn::policy {

struct Suspect {
  ExitClass exit_class = ExitClass::kUnknown;
  Instant at{};
};

/// Position of the first cause; `suspects` is not empty and in the order of the reports.
/// An end that no peer can give is a cause, the earliest such one first. Without one: a crash by
/// signal comes before exits, which programs choose when a peer is gone; then the earliest.
[[nodiscard]] std::size_t FindFirstCause(const std::vector<Suspect>& suspects);

}  // namespace tfyarn::policy
