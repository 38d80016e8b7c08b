// The frames of a journal one by one, for those who judge what is stored and when; an
// ApplicationMaster reads its journal whole (core/am/journal.h).
#pragma once

#include <string_view>
#include <vector>

#include "core/am/journal.h"

namespace tfyarn::am {

/// Every whole and sound frame in `bytes`, in their order, whatever its number and its writer.
/// What lies between frames (a header, a torn frame) is left out.
[[nodiscard]] std::vector<ReadEntry> ReadFrames(std::string_view bytes);

}  // namespace tfyarn::am
