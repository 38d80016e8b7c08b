#include "config/decoder.h"
#include "config/faults/parts.h"
#include "config/scenario.h"

namespace tfyarn::config {
namespace {

void CheckState(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (fault.words.at("state") == "stopped") return;
  decoder.Error(node.Nearest("state"), "`state`: a process that hangs here is stopped by SIGSTOP",
                {"say `state: stopped`", "`tfsim run` knows what this machine cannot do"});
}

}  // namespace

template <>
FaultKind KindOf<FaultId::kHang>() {
  return {
      .name = "hang",
      .doc = "The user's processes stop working and do not end; after `for` they go on.",
      .target = FaultTarget::kTask,
      .lasts = ForRule::kOptional,
      .params = {{.name = "state",
                  .kind = FaultParamKind::kWord,
                  .default_text = "stopped",
                  .doc =
                      "`stopped`: as by SIGSTOP, which their agent sees; `busy`: they look as if "
                      "they worked.",
                  .choices = {"stopped", "busy"}}},
      .example = "{kind: hang, at: 5m, target: {job: a, task: \"worker:0\"}}",
      .needs = FaultNeeds::kProcess,
      .traits = {.strikes_only_its_target = true,
                 .keeps_news_from_am = false,
                 .stops_processes = true},
      .here = {.effect = RealEffect::kStopProcesses, .check = CheckState},
      .drawing = {.weight = kOften, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
