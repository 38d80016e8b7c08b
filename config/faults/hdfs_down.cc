#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kHdfsDown>() {
  return {.name = "hdfs_down",
          .doc = "HDFS answers no call.",
          .target = FaultTarget::kHdfs,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .example = "{kind: hdfs_down, at: 5m, for: 10m}",
          .traits = {.goes_on_for_ever = true},
          .here = {.why_not = "the files of a run on this machine are those of its disk"},
          .drawing = {.cost = FaultCost::kTime, .keeps_ams_from_starting = true}};
}

}  // namespace tfyarn::config
