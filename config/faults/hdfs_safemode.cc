#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kHdfsSafemode>() {
  return {.name = "hdfs_safemode",
          .doc = "HDFS can be read and not written.",
          .target = FaultTarget::kHdfs,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .example = "{kind: hdfs_safemode, at: 5m, for: 10m}",
          .traits = {.goes_on_for_ever = true},
          .here = {.why_not = "the files of a run on this machine are those of its disk"},
          .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
