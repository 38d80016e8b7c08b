// GPUs of this machine, and which run uses which: several runs at once do not share one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::hosts {

/// Numbers of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES takes them: what
/// nvidia-smi lists, or /dev/nvidia0, /dev/nvidia1, ... where that does not run; of these only what
/// CUDA_VISIBLE_DEVICES in `environment` names, where it is set. nvidia-smi is given 20 s.
[[nodiscard]] std::vector<std::string> FindGpus(
    const std::map<std::string, std::string>& environment);

/// `visible` as CUDA reads it: up to the first number that is none of `all`.
[[nodiscard]] std::vector<std::string> VisibleGpus(const std::vector<std::string>& all,
                                                   const std::string& visible);

/// GPUs that no other run has, until this object ends. A run that was killed holds nothing.
class GpuLocks {
 public:
  GpuLocks() = default;

  /// Takes `count` of `gpus`. `directory`: where the locks of all users are; made when missing.
  /// `holder`: what others are told. Errors: kFailedPrecondition when fewer are free; the message
  /// names who has the others. kUnavailable when locks cannot be made.
  [[nodiscard]] static Expected<GpuLocks> Take(const std::vector<std::string>& gpus,
                                               std::size_t count, const std::string& directory,
                                               const std::string& holder);

  [[nodiscard]] const std::vector<std::string>& gpus() const { return gpus_; }

 private:
  std::vector<std::string> gpus_;
  std::vector<agent_host::UniqueFd> locks_;
};

}  // namespace tfyarn::hosts
