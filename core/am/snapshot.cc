#include "core/am/snapshot.h"

namespace tfyarn::am {

const TaskSnapshot* FindTask(const AmSnapshot& snapshot, const TaskId& task) {
  // Tasks of a type lie together, in the order of their indexes.
  for (std::size_t i = 0; i < snapshot.tasks.size(); ++i) {
    if (snapshot.tasks[i].task.type != task.type) continue;
    const std::size_t at = i + static_cast<std::size_t>(task.index);
    if (task.index < 0 || at >= snapshot.tasks.size() || snapshot.tasks[at].task != task)
      return nullptr;
    return &snapshot.tasks[at];
  }
  return nullptr;
}

}  // namespace tfyarn::am
