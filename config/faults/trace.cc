#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kTrace>() {
  return {.name = "trace",
          .doc =
              "Node failures of a real system. Its first failure is at 0s; its node k "
              "is node k modulo the "
              "number of nodes here, down while any of its sources is.",
          .target = FaultTarget::kRecorded,
          .target_required = false,
          .armed_at_start = true,
          .params = {{.name = "format",
                      .kind = FaultParamKind::kWord,
                      .default_text = "",
                      .doc = "Of which trace.",
                      .required = true,
                      .choices = {"lanl"}},
                     {.name = "file",
                      .kind = FaultParamKind::kText,
                      .default_text = "",
                      .doc = "The file, plain or .xz, relative to this one.",
                      .required = true},
                     {.name = "system",
                      .kind = FaultParamKind::kWhole,
                      .default_text = "",
                      .doc = "Which of its systems.",
                      .required = true,
                      .least = 1,
                      .most = 1000}},
          .example = "{kind: trace, format: lanl, file: ../traces/lanl.csv, system: 20}",
          .here = {.why_not = "this machine is one node, and the run ends with it"},
          .drawing = {.weight = 0}};
}

}  // namespace tfyarn::config
