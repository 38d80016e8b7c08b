// One-shot pieces of work waiting in the event queue: any callable, moved in, run once, with its
// place used again.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/model/check.h"

namespace tfyarn::sim {

class TaskSlab {
 public:
  template <class F>
  [[nodiscard]] std::uint32_t Add(F&& f) {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    slots_[index] = std::make_unique<TaskOf<std::decay_t<F>>>(std::forward<F>(f));
    return index;
  }

  /// Takes the task out and runs it; what it adds may take its place.
  void Run(std::uint32_t index) {
    TF_CHECK(index < slots_.size() && slots_[index] != nullptr);
    const std::unique_ptr<Task> task = std::move(slots_[index]);
    free_.push_back(index);
    task->Run();
  }

 private:
  struct Task {
    virtual ~Task() = default;
    virtual void Run() = 0;
  };
  template <class F>
  struct TaskOf final : Task {
    template <class G>
    explicit TaskOf(G&& g) : function(std::forward<G>(g)) {}
    void Run() override { function(); }
    F function;
  };

  std::vector<std::unique_ptr<Task>> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tfyarn::sim
