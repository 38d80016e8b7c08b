// The records that a file is made of, as one can walk them: used by everything in reference.h.
#pragma once

#include <string>
#include <vector>

#include "config/reference.h"
#include "config/type.h"

namespace tfyarn::config {

[[nodiscard]] const RecordInfo& RootOf(FileKind kind);

/// The record that values of a type are, or hold; nullptr when there is none. `through_list`: set
/// when it is an element.
[[nodiscard]] const RecordInfo* RecordIn(const TypeInfo& type, bool* through_list = nullptr);
/// All records in a type, with those of alternatives.
[[nodiscard]] std::vector<const RecordInfo*> RecordsIn(const TypeInfo& type);

/// A record and where it stands: "jobs[].gang".
struct PlacedRecord {
  const RecordInfo* record = nullptr;
  std::string path;
};
/// Every record of a file once, each before what it holds.
[[nodiscard]] std::vector<PlacedRecord> AllRecords(FileKind kind);

/// The text behind a field's path for lists and maps: "[]", ".*", "".
[[nodiscard]] std::string_view PathSuffix(const TypeInfo& type);

}  // namespace tfyarn::config
