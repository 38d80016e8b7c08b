#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kClientKill>() {
  return {.name = "client_kill",
          .doc = "The user kills the job.",
          .target = FaultTarget::kJob,
          .example = "{kind: client_kill, at: 2h, target: {job: a}}",
          .traits = {.keeps_news_from_am = false, .spares_agents = true},
          .here = {.effect = RealEffect::kKillJob}};
}

}  // namespace tfyarn::config
