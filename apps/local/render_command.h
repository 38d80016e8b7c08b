// `tfyarn render`: what a job becomes, without running it.
#pragma once

#include "apps/local/arguments.h"

namespace tfyarn::local {

/// Prints the effective job, and each task's command and environment as they would be on this
/// machine with example ports. Values of variables that look like secrets are hidden. Returns kOk
/// or kInvalidInput.
[[nodiscard]] int RenderCommand(const RenderArguments& arguments);

/// True for names that say what they hold: TOKEN, SECRET, PASSWORD, KEY and the like.
[[nodiscard]] bool LooksSecret(const std::string& name);

}  // namespace tfyarn::local
