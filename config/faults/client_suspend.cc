#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kClientSuspend>() {
  return {.name = "client_suspend",
          .doc =
              "The client's process stands still, as on a machine that sleeps, and goes on after "
              "`for`, or when client_resume says so.",
          .target = FaultTarget::kJob,
          .lasts = ForRule::kOptional,
          .example = "{kind: client_suspend, at: 5m, target: {job: a}, for: 30m}",
          .traits = {.goes_on_for_ever = true, .keeps_news_from_am = false, .spares_agents = true},
          .here = {.why_not =
                       "the client of a run on this machine is the program that makes the faults"},
          .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
