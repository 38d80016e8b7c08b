// What the built-in tables share. Included by the policy_table_*.cc files and policy_tables.cc
// only.
//
// A row's `why` says where it comes from or what would go wrong without it.
#pragma once

#include <array>
#include <string_view>

#include "core/am/policy_row.h"

namespace tfyarn::am {

inline constexpr ExitClassSet kAnyEnd = ExitClassSet::Except({});
inline constexpr ExitClassSet kFailure =
    ExitClassSet::Except({ExitClass::kOk, ExitClass::kKilledByUs});
inline constexpr ExitClassSet kNoGang = {ExitClass::kGangTimeout, ExitClass::kInfeasible};

inline constexpr std::array<std::string_view, 2> kChiefOrMaster = {"chief", "master"};
inline constexpr std::array<std::string_view, 1> kChiefOnly = {"chief"};

[[nodiscard]] const PolicyTable& DefaultTable();
[[nodiscard]] const PolicyTable& TonyTable();
[[nodiscard]] const PolicyTable& TfYarnTable();
[[nodiscard]] const PolicyTable& TfJobTable();

}  // namespace tfyarn::am
