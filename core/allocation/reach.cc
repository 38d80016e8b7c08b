#include "core/allocation/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/probe.h"
#include "core/model/rounded_text.h"
#include "core/model/text.h"

namespace tfyarn::allocation {
namespace {

/// A lost node may come back; these two do not come back by themselves.
bool IsGoneForGood(const yarn::NodeReport& report) {
  return report.state == yarn::NodeState::kDecommissioned ||
         report.state == yarn::NodeState::kShutdown;
}

}  // namespace

Reach::Reach(ReachOptions options, GangAllocator& gang, NodeExclusion& exclusion,
             journal::Outbox& out)
    : options_(std::move(options)), gang_(gang), exclusion_(exclusion), out_(out) {}

// ---------------------------------------------------------------- what is known

void Reach::OnStarted(Instant now, const AmStarted& started) {
  queue_maximum_ = started.queue_maximum;
  maximum_container_ = started.maximum_container;
  gang_.SetNodes(now, started.nodes);
  std::int32_t running = 0;
  auto partition = counted_in_queue_.end();  // Most nodes are in the partition of the one before.
  for (const yarn::NodeReport& node : started.nodes) {
    if (node.state != yarn::NodeState::kRunning) continue;
    ++known_;
    options_.partitions.contains(node.partition) ? ++running : ++out_of_reach_;
    if (partition == counted_in_queue_.end() || partition->first != node.partition)
      partition = counted_in_queue_.try_emplace(node.partition).first;
    partition->second += node.capability;
  }
  exclusion_.SetClusterSize(now, running);
  if (out_of_reach_ > 0) TF_PROBE("reach/nodes-out-of-reach");
  if (WasSurveyedTooEarly(started.attempt.application))
    nodes_come_until_ = now + options_.nodes_come_in;
}

/// The RM's start is in the application's id. Of what a young RM had seen the AM does not know how
/// much came since, nor does a later attempt what the first one was told.
bool Reach::WasSurveyedTooEarly(const ApplicationId& application) const {
  if (!options_.nodes_may_come) return false;
  const WallTime rm_started =
      options_.cluster_timestamps_from + std::chrono::milliseconds(application.cluster_timestamp);
  return options_.surveyed - rm_started < options_.nodes_come_in;
}

void Reach::OnRegistered(const Resource& largest) {
  if (IsZero(maximum_container_)) maximum_container_ = largest;
  registered_maximum_ = largest;
}

void Reach::NodesComeAgain(Instant now) {
  TF_PROBE("reach/nodes-come-again");
  nodes_come_until_ = now + options_.nodes_come_in;
  nodes_counted_ = 0;
  size_refused_ = false;
}

void Reach::OnNodesCounted(Instant now, std::int32_t nodes, const Listener& needed) {
  nodes_counted_ = nodes;
  gang_.SetUnseenNodes(now, nodes > known_);
  if (std::exchange(judge_when_counted_, false)) {
    if (nodes > known_ || !LimitOfNodes(now, needed.Needed())) gang_.Resume(now);
    to_be_judged_ = true;
  }
  if (awaits_nodes() && (!size_refused_ || RmKnowsThemAll())) to_be_judged_ = true;
}

void Reach::OnNodesChanged(const std::vector<yarn::NodeReport>& changed) {
  if (awaits_nodes()) {
    TF_PROBE("reach/node-news-while-waiting");
    to_be_judged_ = true;
  }
  if (std::any_of(changed.begin(), changed.end(), IsGoneForGood)) {
    TF_PROBE("reach/node-will-not-come-back");
    to_be_judged_ = true;
  }
}

void Reach::OnNodesTold(Instant now, std::int32_t counted, bool changed) {
  nodes_counted_ = counted;
  if (changed) {
    known_ = out_of_reach_ = 0;
    gang_.inventory().Scan([&](const placement::Node& node) {
      if (node.up) ++known_;
      if (node.up && !options_.partitions.contains(node.partition)) ++out_of_reach_;
      return true;
    });
  }
  // What the job cannot use is no choice that it has.
  exclusion_.SetClusterSize(now, counted - out_of_reach_);
  gang_.SetUnseenNodes(now, counted > known_);
}

// ---------------------------------------------------------------- judged

std::optional<placement::Infeasible> Reach::LimitOfNodes(Instant now, const Groups& groups) const {
  // A young RM says how large its largest node is so far.
  const bool young = now < nodes_come_until_;
  return placement::FindInfeasible(groups, gang_.inventory(),
                                   {.queue_maximum = queue_maximum_,
                                    .queue_shares = counted_in_queue_,
                                    .maximum_container = young ? Resource() : maximum_container_,
                                    .reserved = options_.am});
}

Judgement Reach::Judge(Instant now, const Groups& groups) {
  const std::optional<placement::Infeasible> infeasible = LimitOfNodes(now, groups);
  if (!infeasible) {
    WaitNoMore(now);
    return {};
  }
  if (nodes_counted_ > known_ && !size_refused_) {
    TF_PROBE("reach/rm-counts-more-nodes");
    WaitNoMore(now);
    out_.Note(fmt::format("not possible on the nodes that are known: {}; but the RM counts more",
                          infeasible->text));
    return {};
  }
  if (now < nodes_come_until_) {
    TF_PROBE("reach/waits-for-nodes");
    return {.is = Judgement::Is::kWait, .limit = infeasible->text};
  }
  WaitNoMore(now);
  return {.is = Judgement::Is::kNever, .limit = infeasible->text};
}

/// The client's list of nodes is as old as the application: how many the RM counts says whether
/// some have come since.
void Reach::JudgeWhenCounted(Instant now, const Groups& groups, bool held) {
  judge_when_counted_ = true;
  if (held || !LimitOfNodes(now, groups)) gang_.Resume(now);
}

std::optional<std::string> Reach::BeyondSetting(const Groups& groups) const {
  const auto never = placement::FindBeyondSetting(groups, gang_.inventory(), registered_maximum_);
  return never ? std::optional(never->text) : std::nullopt;
}

/// A young RM that has told the client of no node, and seen none since that is large enough,
/// refuses what is asked for: it says so with the registration.
std::optional<std::string> Reach::TooLargeSoFar(Instant now, const Groups& groups) const {
  if (now >= nodes_come_until_ || known_ > 0 || awaits_nodes()) return std::nullopt;
  const auto too_large = placement::FindInfeasible(groups, placement::Inventory(),
                                                   {.maximum_container = registered_maximum_});
  return too_large ? std::optional(too_large->text) : std::nullopt;
}

/// The RM grants nothing larger than the largest node that it has seen: which says nothing of nodes
/// that it has not seen, or not again after its restart. If it has seen all that we know, and they
/// could hold it, then a setting of its own does not allow it.
bool Reach::MayFitLater(Instant now, const Groups& groups) {
  const bool setting = RmKnowsThemAll() && !LimitOfNodes(now, groups);
  if (now >= nodes_come_until_ || setting) return false;
  TF_PROBE("reach/size-refused-for-now");
  size_refused_ = true;
  return true;
}

/// The RM refuses what is larger than its setting, and than all nodes that it has seen: those of
/// its registration, and what has come since.
std::int64_t Reach::largest_memory() const {
  std::int64_t largest = registered_maximum_.memory_mb;
  for (const placement::Node& node : gang_.inventory().nodes())
    largest = std::max(largest, node.capability.memory_mb);
  const std::int64_t setting = maximum_container_.memory_mb;
  if (largest == 0) return setting;
  return setting == 0 ? largest : std::min(largest, setting);
}

// ---------------------------------------------------------------- nodes that may come

void Reach::AwaitNodes(Instant now, const std::string& limit) {
  if (std::exchange(limit_, limit) == limit) return;
  const Duration left = nodes_come_until_ - now;
  out_.Emit(NodesAwaited{.limit = limit, .at_most = left});
  out_.Note(
      fmt::format("not possible so far: {}; nodes may still come for {}, then it fails; "
                  "nothing is asked for meanwhile",
                  limit, RoundedText(left)));
}

void Reach::WaitNoMore(Instant now) {
  // An AM that takes over asks for nothing before it is judged, and need not have waited since.
  if (limit_.empty() && !gang_.suspended()) return;
  gang_.Resume(now);
  if (limit_.empty()) return;
  TF_PROBE("reach/nodes-came");
  limit_.clear();
  out_.Emit(NodesAwaited{});
}

Instant Reach::judges_at() const {
  return awaits_nodes() && !to_be_judged_ ? nodes_come_until_ : kNever;
}

std::string Reach::AwaitedNodes() const {
  if (limit_.empty()) return "";
  return fmt::format("nodes that may still come, for up to {}: {}",
                     ToString(options_.nodes_come_in), limit_);
}

}  // namespace tfyarn::allocation
