#include "config/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "config/suggest.h"
#include "config/yaml_reader.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kMaxFiles = 100;
constexpr std::string_view kInclude = "include";

std::string Normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

/// One key of a path and where it stands in it.
struct PathStep {
  std::string key;
  std::uint32_t begin = 0;
  std::uint32_t width = 0;  // as written, quotes included
};

/// A path of `--set`: keys between dots; a key with dots in it is quoted.
std::vector<PathStep> SplitPath(std::string_view path) {
  std::vector<PathStep> steps(1);
  bool quoted = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.' && !quoted) {
      steps.push_back({.key = {}, .begin = static_cast<std::uint32_t>(i + 1), .width = 0});
      continue;
    }
    ++steps.back().width;
    if (path[i] == '"') {
      quoted = !quoted;
    } else {
      steps.back().key += path[i];
    }
  }
  return steps;
}

/// The names by which elements of a list go, "" where one has none.
std::string NameOf(const Node& element) {
  for (const std::string_view key : {"name", "prefix", "path"}) {
    const Node* name = element.Find(key);
    if (name != nullptr && name->is_scalar()) return name->text;
  }
  return {};
}

std::vector<std::string> NamesIn(const Node& list) {
  std::vector<std::string> names;
  for (const Node& item : list.items) {
    std::string name = NameOf(item);
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

std::optional<std::size_t> IndexIn(const std::string& step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  return index;
}

/// The element of `list` that `step` means; nullptr when there is none.
Node* FindElement(Node& list, const std::string& step) {
  if (const auto index = IndexIn(step))
    return *index < list.items.size() ? &list.items[*index] : nullptr;
  for (Node& item : list.items) {
    if (NameOf(item) == step) return &item;
  }
  return nullptr;
}

/// The same, or a new one behind the last; nullptr with the reason in `finding`.
Node* Element(Node& list, const std::string& step, Finding& finding) {
  if (Node* found = FindElement(list, step)) return found;
  if (const auto index = IndexIn(step)) {
    if (*index == list.items.size()) {
      list.items.push_back({.place = finding.place, .end = finding.place});
      return &list.items.back();
    }
    finding.message = fmt::format("there is no element {}: the list has {}, counted from 0", *index,
                                  list.items.size());
    return nullptr;
  }
  finding.message = fmt::format("no element of the list is called `{}`", Printable(step));
  finding.notes = NotesForNames(step, NamesIn(list));
  return nullptr;
}

void Remove(Node& root, const std::vector<PathStep>& steps) {
  Node* at = &root;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    at = at->is_list() ? FindElement(*at, steps[i].key) : at->Find(steps[i].key);
    if (at == nullptr) return;
  }
  const std::string& last = steps.back().key;
  std::erase_if(at->entries, [&](const Entry& entry) { return entry.key == last; });
  if (!at->is_list()) return;
  Node* element = FindElement(*at, last);
  if (element != nullptr) at->items.erase(at->items.begin() + (element - at->items.data()));
}

}  // namespace

Node Merge(const Node& earlier, const Node& later) {
  if (!earlier.is_map() || !later.is_map()) return later;
  Node out = earlier;
  out.place = later.place;
  out.end = later.end;
  std::map<std::string_view, std::size_t> position;
  for (std::size_t i = 0; i < earlier.entries.size(); ++i) position[earlier.entries[i].key] = i;
  std::vector<bool> removed(earlier.entries.size(), false);
  for (const Entry& entry : later.entries) {
    const auto found = position.find(entry.key);
    if (found == position.end()) {
      out.entries.push_back(entry);
    } else if (entry.value.is_null()) {
      removed[found->second] = true;
    } else {
      Entry& target = out.entries[found->second];
      target = {.key = entry.key,
                .key_place = entry.key_place,
                .value = Merge(target.value, entry.value)};
    }
  }
  std::size_t i = 0;
  std::erase_if(out.entries, [&](const Entry&) {
    const std::size_t at = i++;
    return at < removed.size() && removed[at];
  });
  return out;
}

std::string ResolvePath(const std::string& from, const std::string& path) {
  const std::filesystem::path target(path);
  if (target.is_absolute()) return path;
  return Normal((std::filesystem::path(from).parent_path() / target).string());
}

std::optional<Node> FileLoader::LoadFile(const std::string& path) {
  const auto source = open_(path);
  auto text = source ? ReadAll(**source, kMaxFileBytes) : tl::unexpected(source.error());
  if (!text) {
    const std::uint32_t file = sources_.Add(path, "");
    findings_.push_back({.place = {.file = file},
                         .message = fmt::format("cannot read the file: {}", text.error().message)});
    return std::nullopt;
  }
  return LoadText(std::move(*text), path);
}

std::optional<Node> FileLoader::LoadText(std::string text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  const std::uint32_t file = sources_.Add(path, std::move(text));
  auto own = ReadYaml(sources_, file, findings_);
  if (!own) return std::nullopt;
  if (own->is_null()) {
    findings_.push_back({.place = {.file = file}, .message = "the file is empty"});
    return std::nullopt;
  }
  if (!own->is_map()) {
    findings_.push_back(
        {.place = own->place,
         .width = own->width(),
         .message = fmt::format("a file is a map of fields, this one is {}", Describe(*own))});
    return std::nullopt;
  }
  open_files_.push_back(Normal(path));
  auto merged = MergeIncludes(std::move(*own), path);
  open_files_.pop_back();
  return merged;
}

std::optional<Node> FileLoader::MergeIncludes(Node own, const std::string& path) {
  const auto include = std::find_if(own.entries.begin(), own.entries.end(),
                                    [](const Entry& entry) { return entry.key == kInclude; });
  if (include == own.entries.end()) return own;
  const Node names = std::move(include->value);
  own.entries.erase(include);
  std::optional<Node> earlier;
  const auto add = [&](const Node& name) {
    auto included = LoadIncluded(name, path);
    if (included) earlier = earlier ? Merge(*earlier, *included) : std::move(*included);
    return included.has_value();
  };
  bool complete = true;
  if (names.is_list()) {
    for (const Node& name : names.items) complete = add(name) && complete;
  } else {
    complete = add(names);
  }
  // What follows would be errors about what is missing.
  if (!complete) return std::nullopt;
  return earlier ? Merge(*earlier, own) : own;
}

std::optional<Node> FileLoader::LoadIncluded(const Node& name, const std::string& from) {
  const auto fail = [&](std::string message) -> std::optional<Node> {
    findings_.push_back(
        {.place = name.place, .width = name.width(), .message = std::move(message)});
    return std::nullopt;
  };
  if (!name.is_scalar() || name.text.empty()) {
    return fail(
        fmt::format("`include` must be a file name or a list of them, got {}", Describe(name)));
  }
  const std::string path = ResolvePath(from, name.text);
  if (std::find(open_files_.begin(), open_files_.end(), Normal(path)) != open_files_.end()) {
    return fail(fmt::format("`{}` includes itself", Printable(name.text)));
  }
  if (++files_ > kMaxFiles) return fail(fmt::format("more than {} files are included", kMaxFiles));
  const auto source = open_(path);
  auto text = source ? ReadAll(**source, kMaxFileBytes) : tl::unexpected(source.error());
  if (!text)
    return fail(fmt::format("cannot read `{}`: {}", Printable(path, 200), text.error().message));
  return LoadText(std::move(*text), path);
}

void SetAt(Node& root, std::string_view path, Place place, const Node& value,
           std::vector<Finding>& findings) {
  Finding finding{.place = place, .width = static_cast<std::uint32_t>(path.size())};
  const std::vector<PathStep> steps = SplitPath(path);
  if (std::any_of(steps.begin(), steps.end(),
                  [](const PathStep& step) { return step.key.empty(); }) ||
      steps.size() > kMaxDepth) {
    finding.message = "a path is keys with dots between them, like yarn.scheduler or jobs.a.queue";
    findings.push_back(std::move(finding));
    return;
  }
  if (value.is_null()) return Remove(root, steps);
  Node changed = root;
  Node* at = &changed;
  for (const auto& [step, begin, width] : steps) {
    finding.place.col = place.col + begin;
    finding.width = width;
    if (at->is_null()) *at = {.kind = NodeKind::kMap, .place = place, .end = place};
    if (at->is_list()) {
      at = Element(*at, step, finding);
      if (at == nullptr) {
        findings.push_back(std::move(finding));
        return;
      }
      continue;
    }
    if (at->is_scalar()) {
      finding.message =
          fmt::format("`{}` is below {}, which is not a map", Printable(step), Describe(*at));
      findings.push_back(std::move(finding));
      return;
    }
    Node* next = at->Find(step);
    if (next == nullptr) {
      at->entries.push_back({.key = step,
                             .key_place = finding.place,
                             .value = {.place = finding.place, .end = finding.place}});
      next = &at->entries.back().value;
    }
    at = next;
  }
  *at = value;
  root = std::move(changed);
}

void ApplySet(Sources& sources, const std::string& assignment, Node& root,
              std::vector<Finding>& findings) {
  const std::uint32_t file = sources.Add("--set", assignment);
  const Place begin{.file = file, .line = 1, .col = 1};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    findings.push_back({.place = begin,
                        .width = static_cast<std::uint32_t>(assignment.size()),
                        .message = "`--set` wants path=value, like yarn.scheduler=fifo"});
    return;
  }
  const auto value = ReadYamlValue(sources, file, equals + 1, findings);
  if (value) SetAt(root, std::string_view(assignment).substr(0, equals), begin, *value, findings);
}

}  // namespace tfyarn::config
