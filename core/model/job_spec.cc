#include "core/model/job_spec.h"

namespace tfyarn {

const TaskTypeSpec* JobSpec::FindType(std::string_view type) const {
  for (const TaskTypeSpec& task : tasks) {
    if (task.name == type) return &task;
  }
  return nullptr;
}

std::int32_t JobSpec::task_count() const {
  std::int32_t count = 0;
  for (const TaskTypeSpec& task : tasks) count += task.instances;
  return count;
}

TaskClass DefaultClass(std::string_view task_type) {
  if (task_type == "ps") return TaskClass::kService;
  if (task_type == "evaluator") return TaskClass::kDrained;
  if (task_type == "tensorboard") return TaskClass::kSidecar;
  return TaskClass::kTracked;
}

}  // namespace tfyarn
