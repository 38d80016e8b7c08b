#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kRmDropResponse>() {
  return {
      .name = "rm_drop_response",
      .doc = "The RM carries out calls and its answers are lost.",
      .target = FaultTarget::kCaller,
      .target_required = false,
      .armed_at_start = true,
      .params = {Method(), Times("How many answers in a row.")},
      .example = "{kind: rm_drop_response, at: 1m, target: {am: a}, method: Allocate, count: 3}",
      .trap = FaultTrap::kMessage,
      .traits = {.strikes_answers_of_rm = true},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kTime, .hides_launches_of_nodes = true}};
}

}  // namespace tfyarn::config
