#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kClientLost>() {
  return {.name = "client_lost",
          .doc = "The client's process is gone; after `for` a new one takes over.",
          .target = FaultTarget::kJob,
          .lasts = ForRule::kOptional,
          .example = "{kind: client_lost, at: 2h, target: {job: a}}",
          .traits = {.keeps_news_from_am = false, .spares_agents = true},
          .here = {.why_not =
                       "the client of a run on this machine is the program that makes the faults"},
          .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
