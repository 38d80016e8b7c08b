#include "core/am/job_view.h"

namespace tfyarn::am {

bool AllTrackedEnded(const JobView& view) {
  bool any = false;
  for (const TypeCounts& type : view.types()) {
    if (!type.tracked()) continue;
    any = any || type.instances > 0;
    if (!type.all_ended()) return false;
  }
  return any;
}

}  // namespace tfyarn::am
