// What this machine has for the tasks of a job.
#pragma once

#include <string>

#include "core/model/resource.h"

namespace tfyarn::hosts {

/// Processors that this process may use (affinity, cgroup quota), and memory of the machine or of
/// its cgroup, whichever is less. GPUs: see gpus.h.
[[nodiscard]] Resource MachineCapacity();

/// `cpu.max` of cgroup v2, "max 100000" or "150000 100000", as processors rounded up; 0: no limit.
[[nodiscard]] std::int64_t ProcessorsOf(const std::string& cpu_max);

}  // namespace tfyarn::hosts
