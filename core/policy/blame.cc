#include "core/policy/blame.h"

#include <tuple>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::policy {
namespace {

/// The lower, the surer that no peer caused it.
int RankOf(ExitClass exit_class) {
  if (!PeerMayHaveCaused(exit_class)) return 0;
  return exit_class == ExitClass::kSignalCrash ? 1 : 2;
}

}  // namespace

std::size_t FindFirstCause(const std::vector<Suspect>& suspects) {
  TF_CHECK(!suspects.empty());
  std::size_t first = 0;
  for (std::size_t i = 1; i < suspects.size(); ++i) {
    const auto of = [&](std::size_t k) {
      return std::make_tuple(RankOf(suspects[k].exit_class), suspects[k].at);
    };
    if (of(i) < of(first)) {
      TF_PROBE("blame/later-report-is-the-cause");
      first = i;
    }
  }
  return first;
}

}  // namespace tfyarn::policy
