// A list that a step fills and empties again, of which the room is kept for the next step.
#pragma once

#include <utility>
#include <vector>

namespace tfyarn::sim {

/// Takes the room of `spare` for its life, and gives it back empty. Steps may be nested: an inner
/// one finds `spare` without room, and allocates.
template <class T>
class SpareList {
 public:
  explicit SpareList(std::vector<T>& spare) : spare_(spare), list_(std::exchange(spare, {})) {}
  ~SpareList() {
    list_.clear();
    spare_ = std::move(list_);
  }
  SpareList(const SpareList&) = delete;
  SpareList& operator=(const SpareList&) = delete;

  [[nodiscard]] std::vector<T>& operator*() { return list_; }

 private:
  std::vector<T>& spare_;
  std::vector<T> list_;
};

}  // namespace tfyarn::sim
