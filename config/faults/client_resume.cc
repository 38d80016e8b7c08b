#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kClientResume>() {
  return {.name = "client_resume",
          .doc = "A client that stands still goes on, whatever made it stand still.",
          .target = FaultTarget::kJob,
          .example = "{kind: client_resume, at: 10m, target: {job: a}}",
          .needs = FaultNeeds::kSuspendedClient,
          .traits = {.keeps_news_from_am = false, .spares_agents = true},
          .here = {.why_not =
                       "the client of a run on this machine is the program that makes the faults"},
          .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
