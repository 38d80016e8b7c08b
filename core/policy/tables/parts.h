// What the built-in tables share. Included by the policy_table_*.cc files and policy_tables.cc
// only.
//
// A row's `why` says where it comes from or what would go wrong without it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/policy/table.h"

namespace tfyarn::policy {

inline constexpr ExitClassSet kAnyEnd = ExitClassSet::Except({});
inline constexpr ExitClassSet kFailure =
    ExitClassSet::Except({ExitClass::kOk, ExitClass::kKilledByUs});
inline constexpr ExitClassSet kNoGang = {ExitClass::kGangTimeout, ExitClass::kInfeasible};

inline constexpr std::array<std::string_view, 2> kChiefOrMaster = {"chief", "master"};
inline constexpr std::array<std::string_view, 1> kChiefOnly = {"chief"};

/// The probes of a table: "policy/tony/chief-failed", "verdict/tony/all-ok".
template <std::size_t n, std::size_t verdicts>
[[nodiscard]] constexpr std::array<ProbeSite, n + verdicts> ProbesOf(
    std::string_view policy, const Row (&rows)[n], std::string_view verdict,
    const std::array<VerdictRow, verdicts>& verdict_rows) {
  return [&]<std::size_t... i, std::size_t... j>(std::index_sequence<i...>,
                                                 std::index_sequence<j...>) {
    return std::array<ProbeSite, n + verdicts>{ProbeSite(policy, rows[i].name)...,
                                               ProbeSite(verdict, verdict_rows[j].name)...};
  }
  (std::make_index_sequence<n>(), std::make_index_sequence<verdicts>());
}

[[nodiscard]] const Table& DefaultTable();
[[nodiscard]] const Table& TonyTable();
[[nodiscard]] const Table& TfYarnTable();
[[nodiscard]] const Table& TfJobTable();

}  // namespace tfyarn::policy
