// `explain`: one field in a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/diagnostics.h"
#include "config/fault_kinds.h"
#include "config/ignored_fields.h"
#include "config/reference_tree.h"
#include "config/suggest.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kPathsShown = 12;

/// Text broken into lines of at most kColumns, all of them indented.
std::string Wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (line.size() > indent && line.size() + 1 + blank > kColumns) {
      out += line + '\n';
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out + line + '\n';
}

std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> steps;
  std::string step;
  for (const char c : path) {
    if (c == '.') {
      steps.push_back(std::move(step));
      step.clear();
    } else if (c != '[' && c != ']') {
      step += c;
    }
  }
  steps.push_back(std::move(step));
  return steps;
}

/// The field at the end of `steps` below `record`; names of list elements and map keys in between
/// are passed over.
const FieldInfo* Walk(const RecordInfo& record, const std::vector<std::string>& steps,
                      std::size_t at) {
  const FieldInfo* field = record.Find(steps[at]);
  if (field == nullptr) return nullptr;
  if (at + 1 == steps.size()) return field;
  for (const RecordInfo* inner : RecordsIn(field->type)) {
    if (const FieldInfo* found = Walk(*inner, steps, at + 1)) return found;
    const bool many = field->type.shape == Shape::kList || field->type.shape == Shape::kMap;
    if (!many) continue;
    if (at + 2 == steps.size()) return field;
    if (const FieldInfo* found = Walk(*inner, steps, at + 2)) return found;
  }
  return nullptr;
}

std::string FieldText(std::string_view path, const FieldInfo& field) {
  std::string out =
      fmt::format("{}: {}{}\n", path, TextOf(field.type), field.required ? ", required" : "");
  out += Wrapped(field.doc, 2);
  if (!field.default_text.empty()) out += fmt::format("  default: {}\n", field.default_text);
  if (!field.example.empty()) out += fmt::format("  example: {}: {}\n", field.name, field.example);
  for (const auto& [host, why] : field.ignored_by)
    out += Wrapped(fmt::format("ignored {}: {}", WhereIgnored(host), why), 2);
  for (const RecordInfo* record : RecordsIn(field.type)) {
    out += fmt::format("  fields of {}:\n", record->name);
    for (const FieldInfo& inner : record->fields) {
      out += fmt::format("    {:<24} {}{}\n", inner.name, TextOf(inner.type),
                         inner.default_text.empty() ? "" : ", default " + inner.default_text);
    }
  }
  return out;
}

struct PlacedField {
  std::string path;
  const FieldInfo* field = nullptr;
};

/// Where the fields of a kind of file are looked for: those of a scenario's jobs are a job's too.
std::vector<FileKind> PlacesFor(FileKind kind) {
  if (kind == FileKind::kJob) return {FileKind::kJob};
  return {FileKind::kScenario, FileKind::kJob};
}

/// All fields whose path ends with `path`, the scenario's first; a field of a record once.
std::vector<PlacedField> EndingWith(std::string_view path, FileKind kind) {
  std::vector<PlacedField> found;
  for (const FileKind place : PlacesFor(kind)) {
    for (const PlacedRecord& placed : AllRecords(place)) {
      for (const FieldInfo& field : placed.record->fields) {
        const std::string full = placed.path.empty() ? field.name : placed.path + "." + field.name;
        if (!std::string_view(full).ends_with(path)) continue;
        if (full.size() > path.size() && full[full.size() - path.size() - 1] != '.') continue;
        const bool seen = std::any_of(found.begin(), found.end(), [&](const PlacedField& other) {
          return other.path == full || other.path == "jobs[]." + full;
        });
        if (!seen) found.push_back({.path = full, .field = &field});
      }
    }
  }
  return found;
}

std::string ParamType(const FaultParam& param) {
  switch (param.kind) {
    case FaultParamKind::kWhole:
      return "whole number";
    case FaultParamKind::kNumber:
      return "number";
    case FaultParamKind::kDuration:
      return "duration";
    case FaultParamKind::kBytes:
      return "size";
    case FaultParamKind::kBool:
      return "true or false";
    case FaultParamKind::kSignal:
      return "signal";
    case FaultParamKind::kText:
      return "text";
    case FaultParamKind::kWord:
      break;
  }
  std::string out;
  for (const std::string& choice : param.choices) out += (out.empty() ? "" : " | ") + choice;
  return out;
}

std::string KindText(const FaultKind& kind) {
  std::string out = kind.name + "\n" + Wrapped(kind.doc, 2);
  out += Wrapped("target: " + TargetText(kind.target), 2);
  if (kind.lasts != ForRule::kNever) {
    out += fmt::format("  for: {}\n", kind.default_for.empty() ? "for ever unless given"
                                                               : "default " + kind.default_for);
  }
  for (const FaultParam& param : kind.params) {
    out += fmt::format("  {}:", param.name);
    std::string text = ParamType(param);
    if (param.required) text += ", required";
    if (!param.default_text.empty()) text += ", default " + param.default_text;
    out += Wrapped(text + ". " + param.doc, 4).substr(3);
  }
  out += "  example: " + kind.example + "\n";
  return out;
}

/// The last `steps` steps of a path; "" where it has fewer.
std::string EndOf(const std::string& path, std::size_t steps) {
  std::size_t begin = path.size();
  for (std::size_t i = 0; i < steps; ++i) {
    if (begin == 0) return {};
    const std::size_t dot = path.rfind('.', begin - 1);
    begin = dot == std::string::npos ? 0 : dot;
  }
  return path.substr(begin == 0 ? 0 : begin + 1);
}

/// What may have been meant by a path of so many steps: `retries.user` for `retires.user`. "" =
/// nothing is near.
std::string NearestPath(std::string_view path, std::size_t steps, FileKind kind) {
  std::vector<std::string> paths;
  std::vector<std::string> names;
  for (const FileKind place : PlacesFor(kind)) {
    for (const PlacedRecord& placed : AllRecords(place)) {
      for (const FieldInfo& field : placed.record->fields) {
        paths.push_back(
            EndOf(placed.path.empty() ? field.name : placed.path + "." + field.name, steps));
        names.push_back(field.name);
      }
    }
  }
  for (const FaultKind& fault : FaultKinds()) names.push_back(fault.name);
  std::erase(paths, "");
  const std::string near = Nearest(path, paths);
  if (!near.empty() || steps == 1) return near.empty() ? Nearest(path, names) : near;
  // Of a path that is wrong elsewhere, too, or that names a list's element.
  const std::string_view last = path.substr(path.rfind('.') + 1);
  const std::string name = Nearest(last, names);
  return name == last ? std::string() : name;
}

}  // namespace

Expected<std::string> ExplainField(std::string_view path, FileKind kind) {
  if (const FaultKind* fault = FindFaultKind(path)) return KindText(*fault);
  const std::vector<std::string> steps = Split(path);
  for (const FileKind place : PlacesFor(kind)) {
    if (const FieldInfo* field = Walk(RootOf(place), steps, 0)) return FieldText(path, *field);
  }
  const std::vector<PlacedField> found = EndingWith(path, kind);
  if (found.size() == 1) return FieldText(found[0].path, *found[0].field);
  if (!found.empty()) {
    std::string out =
        fmt::format("`{}` is the name of several fields; explain one of:\n", Printable(path));
    for (std::size_t i = 0; i < found.size() && i < kPathsShown; ++i) {
      out += fmt::format("  {:<40} {}\n", found[i].path, TextOf(found[i].field->type));
    }
    if (found.size() > kPathsShown)
      out += fmt::format("  and {} more\n", found.size() - kPathsShown);
    return out;
  }
  const std::string nearest = NearestPath(path, steps.size(), kind);
  return Fail(ErrorCode::kNotFound,
              fmt::format("there is no field `{}`{}", Printable(path),
                          nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)));
}

std::string FaultKindsText() {
  std::string out;
  for (const FaultKind& kind : FaultKinds()) out += (out.empty() ? "" : "\n") + KindText(kind);
  return out;
}

}  // namespace tfyarn::config
