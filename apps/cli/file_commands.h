// Commands about files that run nothing: `validate` and `init`.
#pragma once

#include "apps/cli/arguments.h"
#include "config/reference.h"

namespace tfyarn::cli {

/// Checks every file, the errors of all of them on stderr. Returns kOk or kInvalidInput. `kind`:
/// for what a file without a `schema` line is taken.
[[nodiscard]] int ValidateCommand(const ValidateArguments& arguments,
                                  config::FileKind kind = config::FileKind::kScenario);

/// Writes scenario.yaml into the directory. An existing one is only replaced with `force`:
/// kInvalidInput.
[[nodiscard]] int InitCommand(const InitArguments& arguments);

}  // namespace tfyarn::cli
