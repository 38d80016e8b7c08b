// Reading selectors: whom a fault happens to.
#include <fmt/format.h>

#include <algorithm>

#include "config/names.h"
#include "config/scenario_table.h"
#include "config/suggest.h"

namespace tfyarn::config {
namespace {

constexpr std::int32_t kDeepestSelector = 8;

const std::vector<std::string> kSelectorKeys = {"node", "rack",   "label",    "job", "task",
                                                "am",   "random", "fraction", "of"};

void ReadSelector(Decoder& decoder, const Node& node, int depth, Target& out);

void ReadWord(Decoder& decoder, const Node& node, Target& out) {
  if (node.text == "rm") {
    out = {.kind = TargetKind::kRm};
  } else if (node.text == "hdfs") {
    out = {.kind = TargetKind::kHdfs};
  } else if (node.text == "nodes") {
    out = {.kind = TargetKind::kAllNodes};
  } else {
    std::vector<std::string> notes = {
        "allowed: rm, hdfs, nodes, or a map like {node: n-1} or {job: a, task: \"worker:1\"}"};
    if (IsPlainName(node.text))
      notes.push_back(fmt::format("did you mean {{node: {}}}?", node.text));
    decoder.Error(node, decoder.Named(fmt::format("{} is not a selector", Describe(node))),
                  std::move(notes));
  }
}

/// The part of `of`, or all nodes.
std::shared_ptr<const Target> ReadOf(Decoder& decoder, const Node& node, int depth) {
  auto of = std::make_shared<Target>();
  if (const Node* inner = node.Find("of")) {
    const Decoder::Scope scope(decoder, "of");
    ReadSelector(decoder, *inner, depth + 1, *of);
  }
  return of;
}

/// Reports keys that do not go with `main`.
void OnlyWith(Decoder& decoder, const Node& node, std::string_view main, std::string_view with) {
  for (const Entry& entry : node.entries) {
    if (entry.key == main || entry.key == with) continue;
    const bool known =
        std::find(kSelectorKeys.begin(), kSelectorKeys.end(), entry.key) != kSelectorKeys.end();
    if (known) {
      decoder.ErrorAtKey(entry, fmt::format("`{}` does not go with `{}`", entry.key, main));
    } else {
      decoder.ErrorAtKey(entry,
                         fmt::format("unknown field `{}` in a selector", Printable(entry.key)),
                         NotesForNames(entry.key, kSelectorKeys));
    }
  }
}

void ReadNamed(Decoder& decoder, const Node& node, TargetKind kind, std::string_view key,
               Target& out) {
  const Decoder::Scope scope(decoder, std::string(key));
  out.kind = kind;
  (kind == TargetKind::kAm || kind == TargetKind::kTask ? JobName() : PlainName())
      .read(decoder, *node.Find(key), out.name);
}

void ReadSelector(Decoder& decoder, const Node& node, int depth, Target& out) {
  out = {};
  if (depth > kDeepestSelector) return decoder.Error(node, "selectors are nested deeper than 8");
  if (node.is_scalar()) return ReadWord(decoder, node, out);
  if (!node.is_map())
    return decoder.Wrong(node, "a selector like {node: n-1}, {job: a, task: \"worker:1\"} or rm");
  if (node.Find("random") != nullptr) {
    OnlyWith(decoder, node, "random", "of");
    std::int32_t amount = 1;
    const Decoder::Scope scope(decoder, "random");
    Count(1, 1'000'000).read(decoder, *node.Find("random"), amount);
    out = {.kind = TargetKind::kRandom,
           .amount = static_cast<double>(amount),
           .of = ReadOf(decoder, node, depth)};
  } else if (node.Find("fraction") != nullptr) {
    OnlyWith(decoder, node, "fraction", "of");
    double amount = 0;
    const Decoder::Scope scope(decoder, "fraction");
    Number(0, 1).read(decoder, *node.Find("fraction"), amount);
    out = {.kind = TargetKind::kFraction, .amount = amount, .of = ReadOf(decoder, node, depth)};
  } else if (node.Find("job") != nullptr) {
    OnlyWith(decoder, node, "job", "task");
    ReadNamed(decoder, node, TargetKind::kTask, "job", out);
    const Decoder::Scope scope(decoder, "task");
    if (const Node* task = node.Find("task")) TaskSelector().read(decoder, *task, out.task);
  } else {
    for (const auto& [key, kind] :
         {std::pair("node", TargetKind::kNode), std::pair("rack", TargetKind::kRack),
          std::pair("label", TargetKind::kLabel), std::pair("am", TargetKind::kAm)}) {
      if (node.Find(key) == nullptr) continue;
      OnlyWith(decoder, node, key, "");
      return ReadNamed(decoder, node, kind, key, out);
    }
    if (node.Find("task") != nullptr)
      return decoder.Error(node, "a selector with `task` needs `job` too");
    OnlyWith(decoder, node, "", "");
    if (node.entries.empty()) decoder.Wrong(node, "a selector like {node: n-1}");
  }
}

TypeInfo SelectorInfo() {
  TypeInfo map{.shape = Shape::kMap,
               .text = "selector map",
               .pattern = "^(node|rack|label|job|task|am|random|fraction|of)$"};
  return AnyOf(
      "selector",
      {{.shape = Shape::kChoice, .text = "", .choices = {"rm", "hdfs", "nodes"}}, std::move(map)});
}

}  // namespace

Type<Target> Selector() {
  return {.info = SelectorInfo(),
          .read = [](Decoder& decoder, const Node& node,
                     Target& out) { ReadSelector(decoder, node, 0, out); },
          .show = [](const Target&) { return std::string(); }};
}

}  // namespace tfyarn::config
