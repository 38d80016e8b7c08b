#include "config/reference_tree.h"

#include <algorithm>

#include "config/scenario_table.h"

namespace tfyarn::config {
namespace {

void Collect(const RecordInfo& record, const std::string& path, std::vector<PlacedRecord>& out) {
  const bool known = std::any_of(out.begin(), out.end(), [&](const PlacedRecord& placed) {
    return placed.record->name == record.name;
  });
  if (known) return;
  out.push_back({.record = &record, .path = path});
  for (const FieldInfo& field : record.fields) {
    // `defaults` is a part of a job; the page speaks of it under jobs.
    if (field.name == "defaults") continue;
    for (const RecordInfo* inner : RecordsIn(field.type)) {
      Collect(*inner,
              path + (path.empty() ? "" : ".") + field.name + std::string(PathSuffix(field.type)),
              out);
    }
  }
}

void Gather(const TypeInfo& type, std::vector<const RecordInfo*>& out) {
  if (type.shape == Shape::kRecord) {
    const RecordInfo* record = &type.record();
    if (std::find(out.begin(), out.end(), record) == out.end()) out.push_back(record);
  }
  for (const TypeInfo& of : type.of) Gather(of, out);
}

}  // namespace

const RecordInfo& RootOf(FileKind kind) {
  return kind == FileKind::kScenario ? ScenarioTable().info() : JobTable().info();
}

std::vector<const RecordInfo*> RecordsIn(const TypeInfo& type) {
  std::vector<const RecordInfo*> records;
  Gather(type, records);
  return records;
}

const RecordInfo* RecordIn(const TypeInfo& type, bool* through_list) {
  const auto records = RecordsIn(type);
  if (through_list != nullptr) *through_list = type.shape == Shape::kList;
  return records.empty() ? nullptr : records[0];
}

std::vector<PlacedRecord> AllRecords(FileKind kind) {
  std::vector<PlacedRecord> records;
  Collect(RootOf(kind), "", records);
  return records;
}

std::string_view PathSuffix(const TypeInfo& type) {
  if (type.shape == Shape::kList) return "[]";
  if (type.shape == Shape::kMap) return ".*";
  return "";
}

}  // namespace tfyarn::config
