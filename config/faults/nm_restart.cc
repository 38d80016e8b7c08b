#include "config/faults/parts.h"

namespace tfyarn::config {
namespace {

/// A NodeManager that is away for longer is taken for gone by who starts containers there.
constexpr Duration kTakenForGone = 15s;

}  // namespace

template <>
FaultKind KindOf<FaultId::kNmRestart>() {
  return {.name = "nm_restart",
          .doc = "NodeManagers are down for `for`; containers go on meanwhile.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .default_for = "10s",
          .params = {{.name = "recover",
                      .kind = FaultParamKind::kBool,
                      .default_text = "true",
                      .doc = "They find their containers again; false: those are killed."}},
          .example = "{kind: nm_restart, at: 10m, target: {rack: r1}, for: 20s}",
          .traits = {.strikes_what_nodes_hold = true, .takes_nms_away = true},
          .here = {.why_not = "a run on this machine has no NodeManager of its own to hurt"},
          .drawing = {.weight = kOften,
                      .cost = FaultCost::kTime,
                      .longest_that_costs_time = kTakenForGone,
                      .of_running = true}};
}

}  // namespace tfyarn::config
