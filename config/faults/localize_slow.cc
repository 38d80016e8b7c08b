#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kLocalizeSlow>() {
  return {.name = "localize_slow",
          .doc = "Localization on these nodes takes longer.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {Factor("10", "Times longer.")},
          .example = "{kind: localize_slow, target: {label: gpu}, factor: 20}",
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.why_not = "the files of a run on this machine are those of its disk"},
          .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
