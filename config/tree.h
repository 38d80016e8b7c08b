// A YAML document as a tree in which every node knows where it was written.
//
// Plain scalars are text until a field asks for a type: `version: 1.10` and `no` never surprise.
// Aliases are already replaced by what they stand for; such nodes keep the place of the anchor's
// content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/source.h"

namespace tfyarn::config {

enum class NodeKind { kNull, kScalar, kList, kMap };

struct Entry;

struct Node {
  NodeKind kind = NodeKind::kNull;
  bool quoted = false;  ///< A scalar in quotes or a block scalar: never a number, bool or null.
  Place place;
  Place end;                   ///< Behind the last byte; equal to place where it is not known.
  std::string text;            ///< kScalar.
  std::vector<Node> items;     ///< kList.
  std::vector<Entry> entries;  ///< kMap, in the order of the file, no key twice.

  [[nodiscard]] bool is_null() const { return kind == NodeKind::kNull; }
  [[nodiscard]] bool is_scalar() const { return kind == NodeKind::kScalar; }
  [[nodiscard]] bool is_list() const { return kind == NodeKind::kList; }
  [[nodiscard]] bool is_map() const { return kind == NodeKind::kMap; }
  /// The value of a key; nullptr when this is no map or has no such key. Linear.
  [[nodiscard]] const Node* Find(std::string_view key) const;
  [[nodiscard]] Node* Find(std::string_view key);
  /// The node at `path` ("finish.drain", "tasks.0.name"); nullptr when it is not there.
  [[nodiscard]] const Node* FindPath(std::string_view path) const;
  /// The node at `path` or the deepest one on the way that exists.
  [[nodiscard]] const Node& Nearest(std::string_view path) const;
  /// Bytes on the first line.
  [[nodiscard]] std::uint32_t width() const;
};

struct Entry {
  std::string key;
  Place key_place;
  Node value;
};

/// "a map", "a list", "nothing", or "`text`": what an error says that it got.
[[nodiscard]] std::string Describe(const Node& node);
/// An item of a list; the list itself where it has none there.
[[nodiscard]] const Node& ItemOf(const Node& list, std::size_t i);
/// Number of nodes below and including this one.
[[nodiscard]] std::size_t CountNodes(const Node& node);

}  // namespace tfyarn::config
