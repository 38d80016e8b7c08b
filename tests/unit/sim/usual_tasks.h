// The tasks that most tests of the simulator speak of.
#pragma once

#include "core/model/ids.h"

namespace tfyarn::sim {

inline const TaskId kChief0{"chief", 0};
inline const TaskId kWorker0{"worker", 0};
inline const TaskId kWorker1{"worker", 1};
inline const TaskId kPs0{"ps", 0};

}  // namespace tfyarn::sim
