// Commands that print what tables know: `explain`, `schema` and `faults`.
#pragma once

#include "apps/cli/arguments.h"
#include "config/reference.h"

namespace tfyarn::cli {

/// All return the exit code: kOk, or kUsage when there is no such field, policy or kind, with what
/// is near on stderr. `kind`: whose fields are explained.
[[nodiscard]] int ExplainCommand(const ExplainArguments& arguments,
                                 config::FileKind kind = config::FileKind::kScenario);
[[nodiscard]] int SchemaCommand(const SchemaArguments& arguments);
[[nodiscard]] int FaultsCommand(const FaultsArguments& arguments);

}  // namespace tfyarn::cli
