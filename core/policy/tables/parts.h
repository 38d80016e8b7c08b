// What the built-in tables share. A file in tables/ is a policy: x_y.cc defines `const Table&
// XYTable()`, and the build finds it; tables/list.cc.in is where they are gathered.
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

/// The container or the agent is gone, not only the process: what Kubernetes calls a failed pod.
inline constexpr ExitClassSet kContainerGone = {
    ExitClass::kPreempted,     ExitClass::kNodeLost, ExitClass::kNodeBad, ExitClass::kLaunchError,
    ExitClass::kHeartbeatLost, ExitClass::kTimeout,  ExitClass::kAmLost};

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

}  // namespace tfyarn::policy
