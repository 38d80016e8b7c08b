// Making a scenario that shows a problem small: what can go without the problem going with it,
// goes.
//
// It works on the document, as a person would: takes jobs, faults, task types, rows and fields
// away, then makes numbers and times small and round. What is left still validates and still shows
// the same problem (the same key).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "explore/document.h"

namespace tfyarn::explore {

/// True for each of the candidates that still shows the problem; candidates are independent of each
/// other and may be tried at once.
using StillShows = std::function<std::vector<bool>(const std::vector<Node>& candidates)>;

struct ShrinkLimits {
  std::size_t candidates = 4000;  ///< At most so many are tried.
  std::size_t at_once = 16;
  bool keep_ends = false;  ///< Of faults (`for`) and jobs (`deadlines.run`): the problem is one
                           ///< without an end, which their removal would show as well.
};

[[nodiscard]] Node Shrink(Node document, const StillShows& still_shows,
                          const ShrinkLimits& limits = {});

}  // namespace tfyarn::explore
