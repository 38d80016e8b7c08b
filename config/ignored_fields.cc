#include "config/ignored_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/names.h"

namespace tfyarn::config {
namespace {

/// What is set of one field.
struct Ignored {
  const RecordInfo* record = nullptr;
  const FieldInfo* field = nullptr;
  Place place;
  std::string path;
  std::size_t more = 0;  ///< Places after the first.
};

bool SetsNothing(const FieldInfo& field, const Node& value) {
  switch (value.kind) {
    case NodeKind::kNull:
      return true;
    case NodeKind::kScalar:
      return value.text == field.default_text;
    case NodeKind::kList:
      return value.items.empty();
    case NodeKind::kMap:
      return value.entries.empty();
  }
  return false;
}

class Search {
 public:
  explicit Search(Host host) : host_(host) {}

  void InRecord(const RecordInfo& record, const Node& node, const std::string& path) {
    for (const Entry& entry : node.entries) {
      const FieldInfo* field = record.Find(entry.key);
      if (field == nullptr) continue;
      const std::string below = path.empty() ? entry.key : path + "." + entry.key;
      if (!field->ignored_by.contains(host_)) {
        InType(field->type, entry.value, below);
      } else if (!SetsNothing(*field, entry.value)) {
        Add(record, *field, entry.key_place, below);
      }
    }
  }

  [[nodiscard]] const std::vector<Ignored>& found() const { return found_; }

 private:
  void InType(const TypeInfo& type, const Node& node, const std::string& path) {
    switch (type.shape) {
      case Shape::kRecord:
        return InRecord(type.record(), node, path);
      case Shape::kList:
        for (std::size_t i = 0; !type.of.empty() && i < node.items.size(); ++i)
          InType(type.of[0], node.items[i], fmt::format("{}[{}]", path, i));
        return;
      case Shape::kMap:
        for (const Entry& entry : node.entries) {
          if (!type.of.empty()) InType(type.of[0], entry.value, path + "." + entry.key);
        }
        return;
      case Shape::kAnyOf:
        for (const TypeInfo& of : type.of) InType(of, node, path);
        return;
      case Shape::kText:
      case Shape::kBool:
      case Shape::kWhole:
      case Shape::kNumber:
      case Shape::kQuantity:
      case Shape::kChoice:
      case Shape::kDistribution:
        return;
    }
  }

  void Add(const RecordInfo& record, const FieldInfo& field, Place place, std::string path) {
    const auto known = std::find_if(found_.begin(), found_.end(), [&](const Ignored& other) {
      return other.record->name == record.name && other.field->name == field.name;
    });
    if (known != found_.end()) {
      ++known->more;
    } else {
      found_.push_back(
          {.record = &record, .field = &field, .place = place, .path = std::move(path)});
    }
  }

  Host host_;
  std::vector<Ignored> found_;
};

}  // namespace

std::string_view WhereIgnored(Host host) {
  switch (host) {
    case Host::kSimulator:
      return "by the simulator";
    case Host::kMachine:
      return "on one machine";
    case Host::kCluster:
      return "on a cluster";
  }
  return "";
}

std::vector<Finding> IgnoredFields(const RecordInfo& root, const Node& tree, Host host) {
  Search search(host);
  search.InRecord(root, tree, "");
  std::vector<Finding> findings;
  for (const Ignored& ignored : search.found()) {
    const std::string elsewhere =
        ignored.more == 0 ? ""
                          : fmt::format(" (and at {} more)",
                                        Counted(static_cast<std::int64_t>(ignored.more), "place"));
    findings.push_back(
        {.place = ignored.place,
         .width = static_cast<std::uint32_t>(ignored.field->name.size()),
         .message = fmt::format("`{}`{} is ignored {}: {}", Printable(ignored.path, 200), elsewhere,
                                WhereIgnored(host), ignored.field->ignored_by.at(host))});
  }
  return findings;
}

std::vector<std::string> NotesOf(const Sources& sources, std::vector<Finding> findings) {
  const Diagnostics shown = sources.Finish(std::move(findings));
  std::vector<std::string> notes;
  for (const Diagnostic& each : shown.items) {
    notes.push_back(fmt::format("{}:{}:{}: note: {}", Printable(each.file, 500), each.line,
                                each.col, each.message));
  }
  if (shown.more > 0) notes.push_back(fmt::format("and {} more notes", shown.more));
  return notes;
}

}  // namespace tfyarn::config
