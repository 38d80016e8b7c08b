// YAML text to a located tree, within limits that keep hostile files harmless.
//
// On yaml-cpp's events, not its nodes: those accept a key twice, resolve octal numbers and expand
// aliases without bound. Rejected here, with the place and what to write instead: a key twice,
// merge keys, keys that are no plain text, tags, cycles, several documents, binary content, tabs as
// indentation.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/tree.h"

namespace tfyarn::config {

inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxNodes = 100'000;
inline constexpr std::size_t kMaxAliases = 100;

/// Reads the text `file` of `sources`. nullopt when it is not YAML at all; a tree may come with
/// findings too. What is wrong is appended to `findings`.
[[nodiscard]] std::optional<Node> ReadYaml(const Sources& sources, std::uint32_t file,
                                           std::vector<Finding>& findings);
/// The same for the part of a one-line text from byte `offset` on: the value of a `--set`.
[[nodiscard]] std::optional<Node> ReadYamlValue(const Sources& sources, std::uint32_t file,
                                                std::size_t offset, std::vector<Finding>& findings);

}  // namespace tfyarn::config
