#include "config/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/suggest.h"

namespace tfyarn::config {
namespace {

std::vector<std::string> FieldNames(const RecordInfo& info) {
  std::vector<std::string> names;
  for (const FieldInfo& field : info.fields) names.push_back(field.name);
  return names;
}

/// The allowed names, and the one that was meant.
std::vector<std::string> NotesForField(std::string_view key, const RecordInfo& info) {
  std::vector<std::string> notes = NotesForNames(key, FieldNames(info));
  for (const FieldInfo& field : info.fields) {
    if (std::find(field.also.begin(), field.also.end(), key) == field.also.end()) continue;
    notes.resize(1);
    notes.push_back(fmt::format("did you mean `{}`?", field.name));
  }
  return notes;
}

}  // namespace

const FieldInfo* RecordInfo::Find(std::string_view field) const {
  for (const FieldInfo& candidate : fields) {
    if (candidate.name == field) return &candidate;
  }
  return nullptr;
}

std::set<std::string, std::less<>> ReadFields(
    Decoder& decoder, const Node& node, const RecordInfo& info,
    const std::function<void(std::size_t, const Node&)>& read,
    const std::function<bool(const Entry&)>& other) {
  if (!node.is_map() && !node.is_null()) {
    decoder.Wrong(node, "a map of fields", NotesForNames(node.text, FieldNames(info)));
    return {""};
  }
  std::set<std::string, std::less<>> broken;
  std::vector<bool> seen(info.fields.size(), false);
  for (const Entry& entry : node.entries) {
    const FieldInfo* field = info.Find(entry.key);
    if (field == nullptr) {
      if (other(entry)) continue;
      broken.insert("");
      decoder.ErrorAtKey(entry,
                         fmt::format("unknown field `{}` in {}", Printable(entry.key), info.name),
                         NotesForField(entry.key, info));
      continue;
    }
    const auto position = static_cast<std::size_t>(field - info.fields.data());
    seen[position] = true;
    const Shape shape = field->type.shape;
    if (entry.value.is_null() && shape != Shape::kList && shape != Shape::kMap &&
        shape != Shape::kRecord) {
      decoder.ErrorAtKey(entry, fmt::format("`{}` has no value", entry.key),
                         {fmt::format("wants {}", TextOf(field->type))});
      broken.insert(entry.key);
      continue;
    }
    const Decoder::Scope scope(decoder, entry.key);
    const std::size_t before = decoder.findings().size();
    read(position, entry.value);
    if (decoder.findings().size() != before) broken.insert(entry.key);
  }
  if (!decoder.complete()) return broken;
  for (std::size_t i = 0; i < info.fields.size(); ++i) {
    if (!info.fields[i].required || seen[i]) continue;
    decoder.ErrorAt(node.place, 1,
                    fmt::format("`{}` is missing in {}", info.fields[i].name, info.name),
                    {fmt::format("wants {}", TextOf(info.fields[i].type))});
    broken.insert(info.fields[i].name);
  }
  return broken;
}

}  // namespace tfyarn::config
