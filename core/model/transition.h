// A machine's transition table: what the machine is checked against at every change of state, and
// what the diagrams in docs/ are drawn from. The tables live in one file with their machines; here
// are only the rows and the questions asked of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/model/describe.h"

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

/// One allowed change. `Trigger` is a described enum where the machine names what caused a change,
/// and a string literal where it only knows the two states.
template <class State, class Trigger>
struct TransitionRow {
  State from;
  Trigger on;
  State to;
};

template <class State, class Trigger, std::size_t n>
[[nodiscard]] bool IsAllowed(const TransitionRow<State, Trigger> (&table)[n], State from,
                             Trigger on, State to) {
  return std::any_of(std::begin(table), std::end(table), [&](const auto& row) {
    return row.from == from && row.on == on && row.to == to;
  });
}

/// Whatever caused it.
template <class State, class Trigger, std::size_t n>
[[nodiscard]] bool IsAllowed(const TransitionRow<State, Trigger> (&table)[n], State from,
                             State to) {
  return std::any_of(std::begin(table), std::end(table),
                     [&](const auto& row) { return row.from == from && row.to == to; });
}

template <class State, class Trigger, std::size_t n>
void AppendTransitions(std::vector<Transition>& out, std::string_view region,
                       const TransitionRow<State, Trigger> (&table)[n]) {
  for (const auto& row : table) {
    std::string_view event;
    if constexpr (std::is_enum_v<Trigger>) {
      event = EnumeratorName(row.on);
    } else {
      event = row.on;
    }
    out.push_back({.region = region,
                   .from = EnumeratorName(row.from),
                   .event = event,
                   .to = EnumeratorName(row.to)});
  }
}

}  // namespace tfyarn
