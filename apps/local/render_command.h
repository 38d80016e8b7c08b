// `tfyarn render`: what a job becomes, without running it.
#pragma once

#include "apps/local/arguments.h"

namespace tfyarn::local {

/// Prints the effective job, and each task's command and environment as they would be on this
/// machine with example ports. Stars stand for the values of secrets. Returns kOk or kInvalidInput.
[[nodiscard]] int RenderCommand(const RenderArguments& arguments);

}  // namespace tfyarn::local
