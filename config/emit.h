// A tree back to text: the effective document for the report, and the canonical text that its
// digest is made of.
#pragma once

#include <string>

#include "config/tree.h"

namespace tfyarn::config {

/// Block style, two blanks a level, keys in the order of the tree; reading it gives the same tree.
[[nodiscard]] std::string EmitYaml(const Node& node);
/// One line in flow style: the form in which `--set` takes a value.
[[nodiscard]] std::string EmitInline(const Node& node);
/// One line that is the same for every way to write the same document: keys sorted where their
/// order means nothing.
[[nodiscard]] std::string EmitCanonical(const Node& node);

}  // namespace tfyarn::config
