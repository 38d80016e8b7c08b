#include "config/faults/parts.h"

#include <fmt/format.h>

#include <utility>

#include "config/decoder.h"

namespace tfyarn::config {

FaultParam Times(std::string doc) {
  return {.name = "count",
          .kind = FaultParamKind::kWhole,
          .default_text = "1",
          .doc = std::move(doc),
          .least = 1,
          .most = 1e6};
}

FaultParam Factor(std::string text, std::string doc) {
  return {.name = "factor",
          .kind = FaultParamKind::kNumber,
          .default_text = std::move(text),
          .doc = std::move(doc),
          .least = 1,
          .most = 1e6,
          .step = 0.001};
}

std::vector<FaultParam> ClockParams() {
  return {{.name = "offset",
           .kind = FaultParamKind::kDuration,
           .default_text = "15m",
           .doc = "By how much."},
          {.name = "direction",
           .kind = FaultParamKind::kWord,
           .default_text = "ahead",
           .doc = "`ahead`: they show a later time; `back`: an earlier one.",
           .choices = {"ahead", "back"}}};
}

FaultParam Noticed() {
  return {.name = "noticed",
          .kind = FaultParamKind::kDuration,
          .default_text = "2m",
          .doc = "After how long the node's health check looks at them."};
}

FaultParam Message() {
  return {.name = "message",
          .kind = FaultParamKind::kWord,
          .default_text = "",
          .doc = "Its name: a message between AM and agents, or a call to the RM or an NM.",
          .required = true,
          .choices = MessageNames()};
}

FaultParam Nth() {
  return {.name = "nth",
          .kind = FaultParamKind::kWhole,
          .default_text = "1",
          .doc = "Which one, counted from when the fault strikes; 0: every one while it lasts.",
          .most = 1e6};
}

FaultParam Method() {
  return {.name = "method",
          .kind = FaultParamKind::kWord,
          .default_text = "any",
          .doc = "Of which calls.",
          .choices = {"any", "Allocate", "RegisterApplicationMaster", "FinishApplicationMaster",
                      "GetNewApplication", "SubmitApplication", "GetApplicationReport",
                      "KillApplication", "NodeHeartbeat", "RegisterNodeManager"}};
}

void OnlySimulated(Decoder& decoder, const Node& node, std::string_view name,
                   std::string_view instead) {
  const Node* at = node.Find(name);
  if (at == nullptr) return;
  decoder.Error(*at, fmt::format("`{}`: {}", name, instead),
                {"`tfsim run` knows what this machine cannot do"});
}

}  // namespace tfyarn::config
