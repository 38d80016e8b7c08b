// The ways to change a policy table in one place: a condition left out, turned round or moved by
// one, a decision replaced, a row left out.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/am/policy_row.h"
#include "tests/unit/core/am/policy_situations.h"

namespace tfyarn::am {

struct Change {
  std::string part;  ///< Of the table: "row oom", "chiefs".
  std::string what;  ///< "role service -> any".
  std::function<void(TableCopy&)> make;
  std::optional<ExitClass> only = {};  ///< Only ends of this class concern the change.
};

/// All of a row but those of its classes.
[[nodiscard]] std::vector<Change> ChangesOfRow(const PolicyTable& table, std::size_t row);
/// One class less or more.
[[nodiscard]] Change ChangeOfClass(const PolicyTable& table, std::size_t row, ExitClass c);
/// Of the rows that give task types their classes, of chiefs, and of what holds for the whole
/// table.
[[nodiscard]] std::vector<Change> ChangesOfRoles(const PolicyTable& table);
[[nodiscard]] std::vector<Change> ChangesOfOptions(const PolicyTable& table);

}  // namespace tfyarn::am
