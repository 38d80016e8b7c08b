// Building and changing a scenario as a document: the tree that a file would have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/tree.h"
#include "core/model/time.h"

namespace tfyarn::explore {

using config::Node;

[[nodiscard]] Node Text(std::string text);
[[nodiscard]] Node Number(std::int64_t value);
[[nodiscard]] Node Flag(bool value);
/// In the largest unit in which it is a whole number: "90s", "1500ms".
[[nodiscard]] Node Time(Duration value);
[[nodiscard]] Node List(std::vector<Node> items = {});
[[nodiscard]] Node Map(std::vector<std::pair<std::string, Node>> entries = {});

/// Adds the key at the end, or replaces its value. `map` is a map.
void Set(Node& map, std::string_view key, Node value);
/// The value of the key, which is made an empty map or list where it is missing.
Node& MapAt(Node& map, std::string_view key);
Node& ListAt(Node& map, std::string_view key);
void Remove(Node& map, std::string_view key);
/// The tree of a YAML text; nullopt when it is none.
[[nodiscard]] std::optional<Node> DocumentOf(const std::string& yaml);
/// Whether some job of the scenario is expected to succeed.
[[nodiscard]] bool MustSucceed(const Node& document);
/// The scalar's text at a path of Node::FindPath; "" where there is none.
[[nodiscard]] std::string TextAt(const Node& node, std::string_view path);
/// The whole number there; `otherwise` where there is none.
[[nodiscard]] std::int64_t NumberAt(const Node& node, std::string_view path,
                                    std::int64_t otherwise = 0);
/// The duration there; `otherwise` where there is none.
[[nodiscard]] Duration TimeAt(const Node& node, std::string_view path, Duration otherwise = {});

}  // namespace tfyarn::explore
