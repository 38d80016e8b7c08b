// Paths of HDFS.
#pragma once

#include <string_view>
#include <vector>

namespace tfyarn::fakes {

/// Whether a path may be used at all: absolute, and no part that is empty, ".", ".." or holds a
/// colon. One slash at the end is allowed. Source: DFSUtilClient.isValidName; lengths: FSDirMkdirOp
/// and FSDirectory.verifyMaxComponentLength.
[[nodiscard]] bool IsValidPath(std::string_view path);
/// The names of a valid path from the root down; none for "/".
[[nodiscard]] std::vector<std::string_view> NamesOf(std::string_view path);

}  // namespace tfyarn::fakes
