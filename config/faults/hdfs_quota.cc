#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kHdfsQuota>() {
  return {.name = "hdfs_quota",
          .doc = "The space for what jobs write is limited.",
          .target = FaultTarget::kHdfs,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .params = {{.name = "bytes",
                      .kind = FaultParamKind::kBytes,
                      .default_text = "0B",
                      .doc = "Of all replicas together."}},
          .example = "{kind: hdfs_quota, at: 5m, bytes: 1GiB, for: 10m}",
          .traits = {.goes_on_for_ever = true},
          .here = {.effect = RealEffect::kFillDisk}};
}

}  // namespace tfyarn::config
