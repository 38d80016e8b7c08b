// Whether a cluster could hold a job: now, when others leave, or never.
//
// Facts in, checks out; no server is asked here. The judgement is the ApplicationMaster's own
// (core/placement), made before anything is submitted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/yarn/checks.h"
#include "core/model/client.h"
#include "core/model/job_spec.h"
#include "wire/hadoop/cluster_queries.h"

namespace tfyarn::apps {

enum class Fit {
  kNow,
  kLater,
  kNever,
  kRefused,  ///< Its queue takes no application of this user as it is now.
  kUnknown
};
/// "fits now", ...
[[nodiscard]] std::string NameOf(Fit fit);

struct AskFacts {
  ClusterFacts cluster;
  std::vector<std::string> types;           ///< Of resources that the RM knows; empty = unknown.
  std::optional<std::int64_t> am_attempts;  ///< Most that the RM allows; nullopt = unknown.
  std::optional<hadoop::QueueRunState> queue_state;  ///< nullopt = unknown.
  std::vector<hadoop::QueueRights> queue_rights;     ///< The user's; empty = unknown.
};

struct FitResult {
  Fit fit = Fit::kUnknown;
  /// kNever, and that because of the nodes that the ResourceManager knows: of limits that follow
  /// from them, too.
  bool for_want_of_nodes = false;
  std::vector<Check> checks;
};
/// Why the queue of a job would take no application now; nullopt: nothing is known against it.
[[nodiscard]] std::optional<Check> JudgeQueue(const std::string& queue, const AskFacts& facts);
[[nodiscard]] FitResult JudgeFit(const JobSpec& job, const AskFacts& facts);

}  // namespace tfyarn::apps
