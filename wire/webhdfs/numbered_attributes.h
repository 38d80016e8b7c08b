// Bytes of ours in extended attributes of a file: user.tfyarn.0, user.tfyarn.1, ... in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/webhdfs/webhdfs_answers.h"

namespace tfyarn::wire {

/// HDFS has room for 32 of 16 KiB at a file unless its administrator sets other limits.
inline constexpr int kMostAttributes = 24;
inline constexpr std::size_t kLongestAttribute = 4096;

[[nodiscard]] std::string AttributeName(int number);
/// What they say, in the order of their numbers; nullopt: there is none of them.
[[nodiscard]] std::optional<std::string> JoinedAttributes(const WebHdfsAttributes& attributes);

/// A number that is all of the text, and not negative.
[[nodiscard]] std::optional<std::int64_t> NumberIn(std::string_view text);

}  // namespace tfyarn::wire
