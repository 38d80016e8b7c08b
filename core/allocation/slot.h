// One place of a gang that needs a container, and what it may be given.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/resource.h"

namespace tfyarn::allocation {

struct SlotRequest {
  TaskId task;
  Resource resource;
  std::string node_label;  ///< Partition; "" = default.
  PlacementSpec placement;
  std::int32_t priority = 1;  ///< >= 1; one per task type, equal for all tasks of the type.
};

}  // namespace tfyarn::allocation
