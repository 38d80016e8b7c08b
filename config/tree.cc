#include "config/tree.h"

#include <fmt/format.h>

#include <charconv>

namespace tfyarn::config {

const Node* Node::Find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::Find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->Find(key));
}

namespace {

/// Follows `path` as far as it goes; `complete` says whether that was to its end.
const Node& Follow(const Node& root, std::string_view path, bool& complete) {
  const Node* at = &root;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    const Node* next = at->Find(step);
    if (next == nullptr && at->is_list()) {
      std::size_t index = 0;
      const auto [stop, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      if (error == std::errc() && stop == step.data() + step.size() && index < at->items.size()) {
        next = &at->items[index];
      }
    }
    complete = next != nullptr;
    if (!complete) return *at;
    at = next;
  }
  complete = true;
  return *at;
}

}  // namespace

const Node& Node::Nearest(std::string_view path) const {
  bool complete = false;
  return Follow(*this, path, complete);
}

const Node* Node::FindPath(std::string_view path) const {
  bool complete = false;
  const Node& found = Follow(*this, path, complete);
  return complete ? &found : nullptr;
}

std::uint32_t Node::width() const {
  return end.line == place.line && end.col > place.col ? end.col - place.col : 1;
}

std::string Describe(const Node& node) {
  switch (node.kind) {
    case NodeKind::kNull:
      return "nothing";
    case NodeKind::kScalar:
      return fmt::format("`{}`", Printable(node.text));
    case NodeKind::kList:
      return "a list";
    case NodeKind::kMap:
      return "a map";
  }
  return {};
}

const Node& ItemOf(const Node& list, std::size_t i) {
  return i < list.items.size() ? list.items[i] : list;
}

std::size_t CountNodes(const Node& node) {
  std::size_t count = 1;
  for (const Node& item : node.items) count += CountNodes(item);
  for (const Entry& entry : node.entries) count += CountNodes(entry.value);
  return count;
}

}  // namespace tfyarn::config
