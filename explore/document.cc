#include "explore/document.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "config/quantity.h"
#include "config/yaml_reader.h"

namespace tfyarn::explore {

Node Text(std::string text) {
  return {.kind = config::NodeKind::kScalar, .text = std::move(text)};
}

Node Number(std::int64_t value) {
  return Text(std::to_string(value));
}

Node Flag(bool value) {
  return Text(value ? "true" : "false");
}

Node Time(Duration value) {
  struct Unit {
    Duration length;
    std::string_view name;
  };
  static constexpr std::array<Unit, 5> kUnits{
      {{1h, "h"}, {1min, "m"}, {1s, "s"}, {1ms, "ms"}, {1us, "us"}}};
  for (const Unit& unit : kUnits) {
    if (value != Duration::zero() && value % unit.length == Duration::zero())
      return Text(std::to_string(value / unit.length) + std::string(unit.name));
  }
  return Text(value == Duration::zero() ? "0s" : std::to_string(value.count()) + "ns");
}

Node List(std::vector<Node> items) {
  return {.kind = config::NodeKind::kList, .items = std::move(items)};
}

Node Map(std::vector<std::pair<std::string, Node>> entries) {
  Node map{.kind = config::NodeKind::kMap};
  for (auto& [key, value] : entries)
    map.entries.push_back({.key = std::move(key), .value = std::move(value)});
  return map;
}

void Set(Node& map, std::string_view key, Node value) {
  if (Node* known = map.Find(key); known != nullptr) {
    *known = std::move(value);
  } else {
    map.entries.push_back({.key = std::string(key), .value = std::move(value)});
  }
}

Node& MapAt(Node& map, std::string_view key) {
  if (map.Find(key) == nullptr) Set(map, key, Map());
  return *map.Find(key);
}

Node& ListAt(Node& map, std::string_view key) {
  if (map.Find(key) == nullptr) Set(map, key, List());
  return *map.Find(key);
}

void Remove(Node& map, std::string_view key) {
  std::erase_if(map.entries, [&](const config::Entry& entry) { return entry.key == key; });
}

std::optional<Node> DocumentOf(const std::string& yaml) {
  config::Sources sources;
  std::vector<config::Finding> findings;
  const std::uint32_t file = sources.Add("document", yaml);
  std::optional<Node> document = config::ReadYaml(sources, file, findings);
  if (!findings.empty()) return std::nullopt;
  return document;
}

bool MustSucceed(const Node& document) {
  const Node* expect = document.Find("expect");
  return expect != nullptr &&
         std::any_of(expect->items.begin(), expect->items.end(),
                     [](const Node& row) { return TextAt(row, "status") == "SUCCEEDED"; });
}

std::string TextAt(const Node& node, std::string_view path) {
  const Node* found = node.FindPath(path);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

std::int64_t NumberAt(const Node& node, std::string_view path, std::int64_t otherwise) {
  const std::string text = TextAt(node, path);
  std::int64_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Duration TimeAt(const Node& node, std::string_view path, Duration otherwise) {
  const auto time = config::ParseDuration(TextAt(node, path));
  return time ? *time : otherwise;
}

}  // namespace tfyarn::explore
