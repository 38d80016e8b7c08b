// What chooses one of the mutants that a generated copy of the sources holds.
#pragma once

#include <concepts>
#include <cstdlib>

namespace tfyarn_mutation {

/// The mutant to be, from the environment; 0 = none. Before it is initialized there is none either.
inline const int kActive = [] {
  const char* number = std::getenv("TFYARN_MUTANT");
  return number == nullptr ? 0 : std::atoi(number);
}();

inline bool On(int mutant) {
  return kActive == mutant;
}

/// Takes what is a bool already: of a pointer or an optional the negation has another type.
template <std::same_as<bool> T>
bool Negated(bool on, T value) {
  return on != value;
}

}  // namespace tfyarn_mutation
