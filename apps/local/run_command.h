// `tfyarn run`: one job on this machine, from its file to the verdict.
#pragma once

#include <string>

#include "apps/local/arguments.h"

namespace tfyarn::local {

/// Returns the exit code of the program.
[[nodiscard]] int RunCommand(const RunArguments& arguments, const std::string& version);

}  // namespace tfyarn::local
