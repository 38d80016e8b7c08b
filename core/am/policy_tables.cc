// The built-in policies by name, in the order of documentation.
#include "core/am/policy_tables.h"

namespace tfyarn::am {
namespace {

const std::array<const PolicyTable*, 4>& Tables() {
  static const std::array<const PolicyTable*, 4> tables = {&DefaultTable(), &TonyTable(),
                                                           &TfYarnTable(), &TfJobTable()};
  return tables;
}

}  // namespace

const PolicyTable* FindPolicyTable(std::string_view name) {
  for (const PolicyTable* table : Tables()) {
    if (table->name == name) return table;
  }
  return nullptr;
}

std::span<const PolicyTable* const> AllPolicyTables() {
  return Tables();
}

}  // namespace tfyarn::am
