// The ways to change a policy table in one place: a condition left out, turned round or moved by
// one, a decision replaced, a row left out.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/table.h"
#include "tests/unit/core/policy/situations.h"

namespace tfyarn::policy {

struct Change {
  std::string part;  ///< Of the table: "row oom", "chiefs".
  std::string what;  ///< "role service -> any".
  std::function<void(TableCopy&)> make;
  std::optional<ExitClass> only = {};  ///< Only ends of this class concern the change.
};

/// All of a row but those of its classes.
[[nodiscard]] std::vector<Change> ChangesOfRow(const Table& table, std::size_t row);
/// One class less or more.
[[nodiscard]] Change ChangeOfClass(const Table& table, std::size_t row, ExitClass c);
/// Of the rows that give task types their classes, of chiefs, and of what holds for the whole
/// table.
[[nodiscard]] std::vector<Change> ChangesOfRoles(const Table& table);
[[nodiscard]] std::vector<Change> ChangesOfOptions(const Table& table);

}  // namespace tfyarn::policy
