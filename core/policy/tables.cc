// The built-in policies by name, in the order of documentation.
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

const std::array<const Table*, 4>& Tables() {
  static const std::array<const Table*, 4> tables = {&DefaultTable(), &TonyTable(), &TfYarnTable(),
                                                     &TfJobTable()};
  return tables;
}

}  // namespace

const Table* FindTable(std::string_view name) {
  for (const Table* table : Tables()) {
    if (table->name == name) return table;
  }
  return nullptr;
}

std::span<const Table* const> AllTables() {
  return Tables();
}

}  // namespace tfyarn::policy
