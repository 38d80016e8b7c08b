// What may be a host's own fault. Which failure is whose is the policy's business.
#pragma once

namespace tfyarn::allocation {

enum class Suspicion {
  kLaunchFailed,  ///< The NM could not start or localise a container.
  kNodeBad,       ///< An exit that blames the node: bad disks, broken device.
  kDiedEarly,     ///< A process or agent ended before it did anything.
  kAgentLost,     ///< Nothing heard of an agent whose node lives.
};

}  // namespace tfyarn::allocation
