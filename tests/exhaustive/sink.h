// The list of actions of the step under way.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tfyarn::exhaustive {

/// A machine may remember where it is, and its memory is compared: it is always at one place, and
/// outside the arena. One at a time.
template <class Action>
class Sink {
 public:
  Sink() : actions_(*new (memory) std::vector<Action>) {}
  ~Sink() { actions_.~vector(); }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  std::vector<Action>& operator*() { return actions_; }

 private:
  alignas(std::vector<Action>) static inline std::byte memory[sizeof(std::vector<Action>)];
  std::vector<Action>& actions_;
};

}  // namespace tfyarn::exhaustive
