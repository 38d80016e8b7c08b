#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kRmDuplicateResponse>() {
  return {
      .name = "rm_duplicate_response",
      .doc = "Answers of the RM arrive twice.",
      .target = FaultTarget::kCaller,
      .target_required = false,
      .armed_at_start = true,
      .params = {Method(), Times("How many answers in a row.")},
      .example = "{kind: rm_duplicate_response, at: 1m, target: {am: a}, method: Allocate}",
      .trap = FaultTrap::kMessage,
      .traits = {.strikes_answers_of_rm = true},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
