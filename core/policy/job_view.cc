#include "core/policy/job_view.h"

namespace tfyarn::policy {

bool IsTraining(TaskClass task_class, std::string_view type) {
  const bool counts = task_class == TaskClass::kTracked || task_class == TaskClass::kService;
  return counts && type != "evaluator" && type != "tensorboard";
}

void AddTo(const TypeCounts& type, TypeCounts& sum) {
  sum.instances += type.instances;
  sum.ok += type.ok;
  sum.failed += type.failed;
  sum.ignored += type.ignored;
}

TypeCounts SumOfTracked(const JobView& view) {
  TypeCounts sum;
  for (const TypeCounts& type : view.types()) {
    if (type.tracked()) AddTo(type, sum);
  }
  return sum;
}

bool AllTrackedEnded(const JobView& view) {
  bool any = false;
  for (const TypeCounts& type : view.types()) {
    if (!type.tracked()) continue;
    any = any || type.instances > 0;
    if (!type.all_ended()) return false;
  }
  return any;
}

}  // namespace tfyarn::policy
