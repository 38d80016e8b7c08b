#include "config/decoder.h"
#include "config/faults/parts.h"
#include "config/scenario.h"

namespace tfyarn::config {
namespace {

/// What SIGKILL leaves as the exit status of a container whose agent it ended.
constexpr double kAgentKilled = 137;

void CheckExit(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (fault.numbers.at("exit") == kAgentKilled) return;
  decoder.Error(node.Nearest("exit"),
                "`exit`: a container that is lost here ends with 137, as its agent is killed",
                {"say `exit: 137`", "`tfsim run` knows what this machine cannot do"});
}

}  // namespace

template <>
FaultKind KindOf<FaultId::kContainerLost>() {
  return {.name = "container_lost",
          .doc = "Containers are gone, and the RM reports them so.",
          .target = FaultTarget::kTask,
          .params = {{.name = "exit",
                      .kind = FaultParamKind::kWhole,
                      .default_text = "-100",
                      .doc = "The exit status that YARN reports.",
                      .least = -1000,
                      .most = 255}},
          .example = "{kind: container_lost, at: 5m, target: {job: a, task: \"worker:0\"}}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .loses_containers = true},
          .here = {.effect = RealEffect::kKillAgent, .check = CheckExit},
          .drawing = {.weight = kOften, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
