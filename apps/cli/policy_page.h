// A failure policy as a page for a terminal: what `tfsim explain policy NAME` prints. The same
// facts as docs/policies.md, without the tables' bars.
#pragma once

#include <string>

#include "core/policy/text.h"

namespace tfyarn::cli {

/// Lines of at most 100 columns, but for a word that is longer.
[[nodiscard]] std::string PolicyPage(const policy::Text& text);

}  // namespace tfyarn::cli
