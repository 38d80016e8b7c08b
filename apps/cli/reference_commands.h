// Commands that print what tables know: `explain`, `schema` and `faults`.
#pragma once

#include "apps/cli/arguments.h"

namespace tfyarn::cli {

/// All return the exit code: kOk, or kUsage when there is no such field, policy or kind, with what
/// is near on stderr.
[[nodiscard]] int ExplainCommand(const ExplainArguments& arguments);
[[nodiscard]] int SchemaCommand(const SchemaArguments& arguments);
[[nodiscard]] int FaultsCommand(const FaultsArguments& arguments);

}  // namespace tfyarn::cli
