// `tfyarn init`: writes a job that trains.
#pragma once

#include "apps/cli/arguments.h"

namespace tfyarn::local {

/// Writes job.yaml and train.py into the directory. When one is there already nothing is written
/// without `force`: kInvalidInput.
[[nodiscard]] int InitCommand(const cli::InitArguments& arguments);

}  // namespace tfyarn::local
