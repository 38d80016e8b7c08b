#include "config/decoder.h"
#include "config/faults/parts.h"
#include "config/names.h"
#include "config/scenario.h"

namespace tfyarn::config {
namespace {

void CheckPort(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  constexpr std::string_view kFirstOnly =
      "for the simulator; here the first start of a task finds its port taken";
  OnlySimulated(decoder, node, "when", kFirstOnly);
  if (fault.when.at && *fault.when.at != Duration::zero())
    OnlySimulated(decoder, node, "at", kFirstOnly);
  if (fault.numbers.at("count") != 1) OnlySimulated(decoder, node, "count", kFirstOnly);
  // It is armed before any task holds a container, and a whole type is those that do.
  if (fault.target && !SplitTask(fault.target->task).index)
    decoder.Error(node.Nearest("target"), "`target`: port_in_use happens to one task, TYPE:INDEX");
}

}  // namespace

template <>
FaultKind KindOf<FaultId::kPortInUse>() {
  return {.name = "port_in_use",
          .doc = "Another program has taken the task's port when its process starts.",
          .target = FaultTarget::kTask,
          .armed_at_start = true,
          .params = {Times("How many starts of each task.")},
          .example = "{kind: port_in_use, target: {job: a, task: \"worker:0\"}}",
          .trap = FaultTrap::kProcess,
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.effect = RealEffect::kTakePort, .check = CheckPort},
          .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
