#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kHdfsSlow>() {
  return {.name = "hdfs_slow",
          .doc = "HDFS takes longer for everything.",
          .target = FaultTarget::kHdfs,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .params = {Factor("10", "Times longer.")},
          .example = "{kind: hdfs_slow, at: 5m, factor: 20, for: 10m}",
          .traits = {.goes_on_for_ever = true, .slows_hdfs = true},
          .here = {.why_not = "the files of a run on this machine are those of its disk"},
          .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
