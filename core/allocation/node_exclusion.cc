#include "core/allocation/node_exclusion.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/probe.h"

namespace tfyarn::allocation {
namespace {

// A score that was halved so often is nothing.
constexpr std::int64_t kMostHalvings = 40;

}  // namespace

NodeExclusion::NodeExclusion(NodeExclusionOptions options) : options_(options) {
  TF_CHECK(options.half_life >= 1ms);
  TF_CHECK(options.readmit > 0);
  TF_CHECK(options.threshold > options.readmit);
  TF_CHECK(options.one_in > 0);
}

void NodeExclusion::SetClusterSize(Instant now, std::int32_t nodes) {
  if (nodes <= 0 || nodes == cluster_size_) return;
  cluster_size_ = nodes;
  Choose(now, true);
}

void NodeExclusion::Suspect(Instant now, const std::string& host, Suspicion suspicion) {
  Score& score = scores_.try_emplace(host, Score{.at_since = 0, .since = now}).first->second;
  score = {.at_since = Decayed(score, now) + PointsOf(suspicion), .since = now};
  Choose(now, false);
}

void NodeExclusion::Close(Instant now, const std::string& host, Instant until) {
  closed_.insert_or_assign(host, until);
  Choose(now, false);
}

void NodeExclusion::Open(Instant now, const std::string& host) {
  if (closed_.erase(host) > 0) Choose(now, false);
}

void NodeExclusion::OpenAll(Instant now) {
  closed_.clear();
  Choose(now, false);
}

bool NodeExclusion::OnTime(Instant now) {
  Choose(now, true);
  const bool changed = excluded_ != excluded_before_;
  if (changed) TF_PROBE("exclusion/changed");
  excluded_before_ = excluded_;
  return changed;
}

std::int64_t NodeExclusion::ScoreOf(const std::string& host, Instant now) const {
  const auto at = scores_.find(host);
  return at == scores_.end() ? 0 : Decayed(at->second, now);
}

std::optional<Instant> NodeExclusion::next_deadline() const {
  std::optional<Instant> next;
  for (const std::string& host : excluded_) {
    const auto closed = closed_.find(host);
    Earliest(next, closed != closed_.end() ? closed->second
                                           : FallsTo(scores_.at(host), options_.readmit));
  }
  return next;
}

std::int64_t NodeExclusion::PointsOf(Suspicion suspicion) const {
  switch (suspicion) {
    case Suspicion::kLaunchFailed:
      return options_.launch_failed;
    case Suspicion::kNodeBad:
      return options_.node_bad;
    case Suspicion::kDiedEarly:
      return options_.died_early;
    case Suspicion::kAgentLost:
      return options_.agent_lost;
  }
  return 0;
}

/// Halved after every half-life, and along straight lines between: integers only, and easy to
/// invert.
std::int64_t NodeExclusion::Decayed(const Score& score, Instant now) const {
  TF_CHECK(now >= score.since);
  const Duration age = now - score.since;
  const std::int64_t halvings = age / options_.half_life;
  if (halvings >= kMostHalvings) return 0;
  const std::int64_t from = score.at_since >> halvings;
  const std::int64_t lost_by_next = from - (from >> 1);
  const std::int64_t into_ms = (age % options_.half_life) / std::chrono::milliseconds(1);
  const std::int64_t whole_ms =
      std::max<std::int64_t>(options_.half_life / std::chrono::milliseconds(1), 1);
  return from - lost_by_next * into_ms / whole_ms;
}

Instant NodeExclusion::FallsTo(const Score& score, std::int64_t level) const {
  std::int64_t halvings = 0;
  while (halvings < kMostHalvings && (score.at_since >> (halvings + 1)) > level) ++halvings;
  Instant at = score.since + halvings * options_.half_life;
  const std::int64_t from = score.at_since >> halvings;
  if (from <= level) return at;
  const std::int64_t lost_by_next = from - (from >> 1);
  const std::int64_t whole_ms =
      std::max<std::int64_t>(options_.half_life / std::chrono::milliseconds(1), 1);
  // Least whole millisecond at which from - lost * ms / whole (rounded down) is at most the level.
  const std::int64_t into_ms = ((from - level) * whole_ms + lost_by_next - 1) / lost_by_next;
  return at + std::chrono::milliseconds(into_ms);
}

/// Those at the threshold, and those excluded before that have not fallen far enough.
void NodeExclusion::Choose(Instant now, bool kept_first) {
  std::vector<std::tuple<bool, std::int64_t, std::string>>
      worst;  // whether it comes later, negative score: worst first, then by name
  for (auto at = scores_.begin(); at != scores_.end();) {
    const std::int64_t score = Decayed(at->second, now);
    const bool kept = excluded_.contains(at->first);
    const std::int64_t level = kept ? options_.readmit + 1 : options_.threshold;
    if (score >= level) worst.emplace_back(kept_first && !kept, -score, at->first);
    at = score == 0 ? scores_.erase(at) : std::next(at);
  }
  std::sort(worst.begin(), worst.end());
  const std::int32_t most = cluster_size_ / options_.one_in;
  if (worst.size() > static_cast<std::size_t>(most)) TF_PROBE("exclusion/too-many-suspects");
  worst.resize(std::min(worst.size(), static_cast<std::size_t>(most)));
  std::set<std::string> chosen;
  for (auto& [later, score, host] : worst) chosen.insert(std::move(host));
  std::erase_if(closed_, [&](const auto& closed) { return closed.second <= now; });
  if (closed_.size() < static_cast<std::size_t>(cluster_size_)) {
    for (const auto& [host, until] : closed_) chosen.insert(host);
  }
  excluded_ = std::move(chosen);
}

}  // namespace tfyarn::allocation
