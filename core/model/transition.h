// One row of a machine's transition table: what the diagrams in docs/ are drawn from, and what the
// machine itself is checked against at every change of state. The rows live in one file with the
// machine.
#pragma once

#include <string_view>

namespace tfyarn {

/// `region`: a machine may have several regions that change independently ("link", "process"); "" =
/// it has one. `to` == "" never occurs. The strings live as long as the program.
struct Transition {
  std::string_view region;
  std::string_view from;
  std::string_view event;
  std::string_view to;
  friend bool operator==(const Transition&, const Transition&) = default;
};

}  // namespace tfyarn
