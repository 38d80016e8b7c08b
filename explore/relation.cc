#include "explore/relation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "config/fault_kinds.h"
#include "core/policy/table.h"
#include "explore/amnesia.h"
#include "explore/failed_effects.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::explore {
namespace {

Node Reversed(Node node, std::string_view key) {
  // The order of task types and of a matrix means something.
  const bool matters = key == "tasks" || key == "matrix";
  if (node.is_map() && !matters) std::reverse(node.entries.begin(), node.entries.end());
  for (config::Entry& entry : node.entries)
    entry.value = Reversed(std::move(entry.value), entry.key);
  for (Node& item : node.items) item = Reversed(std::move(item), "");
  return node;
}

Node WithUnusedNode(Node document) {
  // No larger than the others: what the largest node has is the most that a container can have.
  Node& nodes = ListAt(MapAt(document, "cluster"), "nodes");
  Node unused = Map({{"name", Text("unused")}, {"partition", Text("unused")}});
  const Node* first = nodes.items.empty() ? nullptr : nodes.items.front().Find("resources");
  if (first != nullptr) unused.entries.push_back({.key = "resources", .value = *first});
  nodes.items.push_back(std::move(unused));
  ListAt(document, "faults")
      .items.push_back(Map({{"kind", Text("node_crash")},
                            {"at", Text("40s")},
                            {"target", Map({{"node", Text("unused")}})},
                            {"for", Text("2m")}}));
  return document;
}

/// Which message: one of those that end-to-end repetition must make harmless, by the document.
Node WithRepeatedMessage(Node document) {
  static const std::vector<std::string> kMessages = {
      "RegisterAgent", "ProcessRunning", "ProcessEnded",   "StartProcess",
      "StopProcess",   "ProcessSigns",   "StartContainers"};
  const auto choice = static_cast<std::size_t>(NumberAt(document, "seed"));
  ListAt(document, "faults")
      .items.push_back(Map({{"kind", Text("duplicate")},
                            {"at", Text("0s")},
                            {"message", Text(kMessages[choice % kMessages.size()])}}));
  return document;
}

bool HasRandomTimes(const Node& node) {
  if (node.Find("dist") != nullptr) return true;
  return std::any_of(node.entries.begin(), node.entries.end(),
                     [](const config::Entry& entry) { return HasRandomTimes(entry.value); }) ||
         std::any_of(node.items.begin(), node.items.end(), HasRandomTimes);
}

const config::FaultTraits& TraitsOf(const Node& fault) {
  return config::TraitsOf(TextAt(fault, "kind"));
}

template <class Predicate>
bool AnyFault(const Node& document, Predicate is_it) {
  const Node* faults = document.Find("faults");
  return faults != nullptr && std::any_of(faults->items.begin(), faults->items.end(), is_it);
}

bool StrikesAnyNode(const Node& document) {
  return AnyFault(document, [](const Node& fault) {
    const Node* target = fault.Find("target");
    const Node* groups = fault.Find("between");
    const bool by_lot = target != nullptr &&
                        (target->Find("random") != nullptr || target->Find("fraction") != nullptr ||
                         target->Find("rack") != nullptr);
    // The next answers of the ResourceManager: a node may wait for one.
    const bool any_answer = target == nullptr && TraitsOf(fault).strikes_answers_of_rm;
    return by_lot || any_answer || groups != nullptr || TraitsOf(fault).strikes_by_chance;
  });
}

/// More than any scenario leases on a node.
constexpr std::int32_t kPortShift = 4321;

Node WithAnotherSeed(Node document) {
  Set(document, "seed", Number(NumberAt(document, "seed", 1) + 1));
  return document;
}

Node WithNodesReversed(Node document) {
  std::vector<Node>& nodes = ListAt(MapAt(document, "cluster"), "nodes").items;
  std::reverse(nodes.begin(), nodes.end());
  return document;
}

Duration HeartbeatOf(const Node& document) {
  return TimeAt(document, "yarn.heartbeat.nm", config::YarnSpec{}.nm_heartbeat);
}

/// An hour or a little more: whole intervals of the nodes' heartbeats, which begin with the run.
Duration LaterBy(const Node& document) {
  const Duration beat = HeartbeatOf(document);
  return (1h + beat - Duration(1)) / beat * beat;
}

/// Why it cannot all come later; "" where it can.
std::string_view ComesByItself(const Node& document) {
  if (document.Find("arrivals") != nullptr) return "jobs arrive by themselves";
  if (document.Find("futures") != nullptr) return "its delays are drawn anew from a time on";
  if (document.FindPath("yarn.tokens") != nullptr) return "keys roll by themselves";
  const bool own = AnyFault(document, [](const Node& fault) {
    return fault.Find("at") == nullptr && fault.Find("when") == nullptr;
  });
  if (own) return "a fault strikes by itself";
  // It meets nodes that have yet to register, and beat at other instants from then on.
  const Duration settled = 2 * HeartbeatOf(document);
  const bool early = AnyFault(document, [&](const Node& fault) {
    return fault.Find("at") != nullptr && TimeAt(fault, "at", Duration::zero()) < settled;
  });
  return early ? "a fault strikes before all nodes have come" : "";
}

/// Jobs, faults and the end; what waits for something else comes with it.
Node AnHourLater(Node document) {
  const auto later = [by = LaterBy(document)](Node& node, std::string_view key, Duration usual) {
    Set(node, key, Time(TimeAt(node, key, usual) + by));
  };
  for (Node& job : ListAt(document, "jobs").items) later(job, "submit", Duration::zero());
  if (document.Find("faults") != nullptr) {
    for (Node& fault : ListAt(document, "faults").items) {
      if (fault.Find("at") != nullptr) later(fault, "at", Duration::zero());
    }
  }
  later(document, "horizon", config::Scenario{}.horizon);
  return document;
}

/// Faults that strike a node, or what happens to be on one.
std::int64_t FaultsAimedAtNodes(const Node& document) {
  const Node* faults = document.Find("faults");
  if (faults == nullptr) return 0;
  return std::count_if(faults->items.begin(), faults->items.end(), [](const Node& fault) {
    const Node* target = fault.Find("target");
    const bool named =
        target != nullptr && (target->Find("node") != nullptr || target->Find("label") != nullptr);
    // What a node holds beside its target is lost with it.
    return named || TraitsOf(fault).strikes_what_nodes_hold;
  });
}

bool AimsAtNodes(const Node& document) {
  return FaultsAimedAtNodes(document) > 0;
}

/// The scheduler counts no job as active while it has no node at all, of whatever partition.
bool MayLoseAllNodes(const Node& document) {
  std::int64_t count = 0;
  const Node* nodes = document.FindPath("cluster.nodes");
  for (std::size_t i = 0; nodes != nullptr && i < nodes->items.size(); ++i)
    count += NumberAt(nodes->items[i], "count", 1);
  return FaultsAimedAtNodes(document) >= count;
}

/// A fault waits for a message, for what some message brings about again, or strikes every n-th:
/// one that comes twice, or of another node, moves it.
bool CountsMessages(const Node& document) {
  return AnyFault(document, [](const Node& fault) {
    return fault.FindPath("when.message") != nullptr || fault.FindPath("when.nth") != nullptr ||
           fault.Find("nth") != nullptr;
  });
}

/// "the status of job a is FAILED and not SUCCEEDED"; "" where it is the same.
std::string DifferenceOfStatus(const trace::JobResult& a, const trace::JobResult& b) {
  if (a.status == b.status) return "";
  return fmt::format("the status of job {} is {} and not {}", a.name, trace::StatusName(b.status),
                     trace::StatusName(a.status));
}

/// YARN has tried the AM as often as it may: while HDFS is away it cannot start.
bool IsOutOfAttempts(const trace::JobResult& job) {
  return job.rule == "yarn/am-attempts";
}

/// Where nodes beat at other instants an AM starts earlier or later: one that YARN does not replace
/// may die before it hears of what the other has decided on.
bool IsCutShort(const trace::JobResult& fewer, Sameness same) {
  return (same == Sameness::kAtOtherTimes || same == Sameness::kAfterBlows) &&
         IsOutOfAttempts(fewer);
}

/// It gave up the application, as no AM started for too long.
bool IsOfTheClient(const trace::JobResult& job) {
  return job.status == JobStatus::kFailed && job.rule.empty();
}

/// In status, or in the number of restarts.
std::string DifferenceOfEnds(const trace::JobResult& a, const trace::JobResult& b, Sameness same) {
  const std::string status = DifferenceOfStatus(a, b);
  if (!status.empty()) return status;
  const std::int32_t one = a.restarts.task + a.restarts.gang;
  const std::int32_t another = b.restarts.task + b.restarts.gang;
  if (one == another || IsCutShort(one < another ? a : b, same)) return "";
  return fmt::format("the number of restarts of job {} is {} and not {}", a.name, another, one);
}

/// Of two that differ in it.
std::string DifferenceOfEpochs(const trace::JobResult& a, const trace::JobResult& b) {
  return fmt::format("the number of epochs of job {} is {} and not {}", a.name, b.epochs, a.epochs);
}

bool LacksNodes(const trace::Result& result) {
  return std::any_of(result.jobs.begin(), result.jobs.end(),
                     [](const trace::JobResult& job) { return job.rule == "gang/infeasible"; });
}

/// The first difference between the outcomes of two runs' jobs; "" when there is none.
std::string DifferenceOfOutcomes(const trace::Result& left, const trace::Result& right,
                                 Sameness same) {
  for (std::size_t i = 0; i < left.jobs.size() && i < right.jobs.size(); ++i) {
    const trace::JobResult& a = left.jobs[i];
    const trace::JobResult& b = right.jobs[i];
    // After a restart of the RM nodes beat at other instants: its patience ends before, or after.
    if (same == Sameness::kUnderAnOldRm && (IsOfTheClient(a) || IsOfTheClient(b))) continue;
    const std::string ends = DifferenceOfEnds(a, b, same);
    if (!ends.empty()) return ends;
    if (a.epochs != b.epochs && !IsCutShort(a.epochs < b.epochs ? a : b, same))
      return DifferenceOfEpochs(a, b);
  }
  return "";
}

/// What happens at the same instant on several nodes is told in the order of the nodes. A job that
/// something else befell for it comes to something else, and of two failures of one instant one
/// may begin an epoch of its own.
std::string DifferenceAfterBlows(const RunRecord& plain, const RunRecord& other) {
  for (std::size_t i = 0; i < plain.result.jobs.size() && i < other.result.jobs.size(); ++i) {
    const bool told = i < plain.tallies.size() && i < other.tallies.size();
    const bool same = told && plain.tallies[i].blows == other.tallies[i].blows &&
                      plain.tallies[i].am_lost == other.tallies[i].am_lost;
    if (told && !same) continue;
    // A kill by the user that meets the end comes before it or after it, and on the way YARN may
    // end a task's container before that of the AM, or after it.
    if (plain.result.jobs[i].status == JobStatus::kKilled ||
        other.result.jobs[i].status == JobStatus::kKilled)
      continue;
    const std::string ends =
        DifferenceOfEnds(plain.result.jobs[i], other.result.jobs[i], Sameness::kAfterBlows);
    if (!ends.empty()) return ends;
  }
  return "";
}

std::int32_t PaidBy(const sim::JobTally& tally, Budget budget) {
  const auto entry = tally.restarts.find(budget);
  return entry == tally.restarts.end() ? 0 : entry->second;
}

std::int32_t NumberOfRestarts(const sim::JobTally& tally) {
  std::int32_t number = 0;
  for (const auto& [budget, restarts] : tally.restarts) number += restarts;
  return number;
}

/// Processes ended so close to each other that either may be told first (JobTally::blows).
bool HasEndsAtOnce(const sim::JobTally& tally) {
  return std::any_of(tally.blows.begin(), tally.blows.end(), [](const auto& blow) {
    return blow.first.find(" ends after ") != std::string::npos;
  });
}

/// Its cause failed more often than in the plain run: what a process does when it starts again is
/// the world's, as where it fails at the moment at which the training is done.
bool FailedMoreOften(const trace::JobResult& result, const sim::JobTally& plain,
                     const sim::JobTally& other) {
  if (!result.cause) return false;
  const std::string start = ToString(result.cause->task) + " ends with ";
  const auto failures = [&](const sim::JobTally& tally) {
    std::int32_t count = 0;
    for (const auto& [blow, times] : tally.blows)
      count += blow.starts_with(start) && blow != start + "0" ? times : 0;
    return count;
  };
  return failures(other) > failures(plain);
}

/// It failed for one of two failures that came at once, and the other process was stopped before
/// its own: which end is the first is a matter of delays.
bool FailedTogether(const trace::JobResult& result, const sim::JobTally& plain,
                    const sim::JobTally& other) {
  return result.cause && plain.failed_together.contains(ToString(result.cause->task)) &&
         plain.blows != other.blows;
}

/// It failed for what ended at once with a success, which the next AM may hear of later: a failure,
/// or an end that its policy does not let be either.
bool FailedBesideSuccess(const trace::JobResult& result, const sim::JobTally& one,
                         const sim::JobTally& other) {
  if (!result.cause) return false;
  const std::string task = ToString(result.cause->task);
  return one.failed_beside_success.contains(task) || other.failed_beside_success.contains(task) ||
         (one.ok_starts_again && HasEndsAtOnce(one));
}

std::string DifferenceOfTallies(const sim::JobTally& left, const sim::JobTally& right) {
  const auto say = [&](std::string_view what, std::int32_t one, std::int32_t other) {
    return fmt::format("{} of job {} is {} and not {}", what, left.job, other, one);
  };
  // Fewer is no harm: a fault may come and go while there is no AM, and a container may have been
  // taken before its process started, and not after.
  // Nor is one that no budget pays, in place of one that was paid.
  const bool more = NumberOfRestarts(right) > NumberOfRestarts(left);
  for (const Budget budget : {Budget::kUser, Budget::kInfrastructure, Budget::kNone}) {
    if (PaidBy(right, budget) > PaidBy(left, budget) && (more || budget != Budget::kNone))
      return say("the number of restarts that " + KebabName(budget) + " pays", PaidBy(left, budget),
                 PaidBy(right, budget));
  }
  if (left.verdicts != right.verdicts)
    return say("the number of verdicts", left.verdicts, right.verdicts);
  // Which of a type is hit may be another one, as it has another container.
  std::map<std::string, std::int32_t> before, after;
  for (const auto& [task, starts] : left.starts) {
    // One that was to start again may have met the end of the job.
    const auto restarted = left.restarted.find(task);
    const bool again = restarted != left.restarted.end();
    before[task.type] += again ? std::max(starts, 1 + restarted->second) : starts;
  }
  for (const auto& [task, starts] : right.starts) after[task.type] += starts;
  for (const auto& [type, starts] : after) {
    // One that waits for the end of others may start before the next AM has heard of theirs.
    const std::int32_t number = before[type];
    if (starts > std::max(number, 1)) return say("the number of starts of " + type, number, starts);
  }
  return "";
}

/// A verdict for which a restart too many is to blame.
bool IsOfBudget(std::string_view rule) {
  if (rule.ends_with("-exhausted")) return true;
  const auto names_it = [&](const policy::Row& row) {
    return !row.limit.name.empty() && rule.ends_with("/" + std::string(row.limit.name));
  };
  const auto tables = policy::AllTables();
  return std::any_of(tables.begin(), tables.end(), [&](const policy::Table* table) {
    return std::any_of(table->rows.begin(), table->rows.end(), names_it);
  });
}

bool IsOfDeadline(std::string_view rule) {
  return rule.starts_with("deadlines/") || rule == "gang/deadline";
}

/// YARN takes containers with an AM that its nodes have not yet reported (docs/policies.md, class
/// am-lost): their tasks start again, or the job fails where the policy has no budget for it. What
/// a scenario says of single attempts of theirs then comes at other times, or never.
std::string DifferenceOfTallies(std::string_view job, const RunRecord& plain,
                                const RunRecord& other) {
  for (std::size_t i = 0; i < plain.result.jobs.size() && i < other.result.jobs.size(); ++i) {
    if (i >= plain.tallies.size() || i >= other.tallies.size()) break;
    const trace::JobResult& a = plain.result.jobs[i];
    const trace::JobResult& b = other.result.jobs[i];
    if (!job.empty() && a.name != job) continue;
    const sim::JobTally& left = plain.tallies[i];
    const sim::JobTally& right = other.tallies[i];
    const bool taken = right.am_lost > left.am_lost;
    const bool other_script = taken && (a.status != JobStatus::kSucceeded || IsOfBudget(b.rule) ||
                                        !b.rule.starts_with("default/"));
    if (right.failed_by_am_lost || other_script || IsOutOfAttempts(b)) continue;
    // The horizon cuts one of them: whether it hangs is for the invariants to say.
    if (a.status == JobStatus::kUnfinished || b.status == JobStatus::kUnfinished) continue;
    // What a deadline ends comes to more or less before it, and what the death takes may be all
    // that is left until it is over.
    if (IsOfDeadline(a.rule) || b.rule == "deadlines/run" || IsOfTheClient(b)) continue;
    if (left.failed_beside_the_gang || left.last_one_hung || FailedBesideSuccess(b, right, left) ||
        FailedTogether(b, left, right) || FailedMoreOften(b, left, right))
      continue;
    const std::string status = DifferenceOfStatus(a, b);
    if (!status.empty()) return status;
    // Where the world did something else to the job, other decisions follow.
    if (taken || left.blows != right.blows) continue;
    const std::string difference = DifferenceOfTallies(left, right);
    if (!difference.empty()) return difference;
    // Two failures that the next AM hears of at once are one, for which more may start again.
    const bool at_once = NumberOfRestarts(right) < NumberOfRestarts(left) || HasEndsAtOnce(left);
    if (b.epochs > a.epochs && !at_once) return DifferenceOfEpochs(a, b);
  }
  return "";
}

/// Another node or message draws its own delays, which may shift others of its sender; from another
/// future on all delays are disturbed; and what strikes any node may strike the unused one.
bool IsShiftedByOthers(const Node& document) {
  return HasRandomTimes(document) || document.Find("futures") != nullptr ||
         document.FindPath("cluster.network.loss") != nullptr || StrikesAnyNode(document);
}

/// An AM of a ResourceManager that has restarted waits until as many nodes are back as that counts.
bool RestartsTheRm(const Node& document) {
  return AnyFault(document, [](const Node& fault) {
    return TraitsOf(fault).rm == config::RmOutage::kRestarts;
  });
}

/// The AM finds a stall at an instant of its own, and a fault comes at one of the file's.
bool MayMeetAStall(const Node& document) {
  const Node* jobs = document.Find("jobs");
  const bool watched =
      jobs != nullptr && std::any_of(jobs->items.begin(), jobs->items.end(),
                                     [](const Node& job) { return job.Find("watch") != nullptr; });
  return watched &&
         AnyFault(document, [](const Node& fault) { return fault.Find("at") != nullptr; });
}

/// Which of several jobs gets a slot is drawn, whenever a node or a job may make a difference.
bool DrawsWhomToServe(const Node& document) {
  const Node* jobs = document.Find("jobs");
  const bool several =
      (jobs != nullptr && jobs->items.size() > 1) || document.Find("arrivals") != nullptr;
  const auto* scheduler = fakes::FindScheduler(TextAt(document, "yarn.scheduler"));
  return several && scheduler != nullptr && scheduler->draws;
}

/// A rule by which one lost container may fail a job, as its policy says, its dependency, or what
/// watches it.
bool FailsForOneLoss(std::string_view rule) {
  const auto tables = policy::AllTables();
  return rule.starts_with("depends/") || rule.starts_with("watch") ||
         std::any_of(tables.begin(), tables.end(), [&](const policy::Table* table) {
           return table->name != "default" && rule.starts_with(std::string(table->name) + "/");
         });
}

/// An end for good, by a budget without a restart or before what `success` waits for, may leave it
/// no way to succeed.
bool IsOutOfTasks(std::string_view rule) {
  return rule.ends_with("/success-impossible") || rule.ends_with("/tracked-ended");
}

/// What went wrong costs a container, an attempt of the AM or time at most. A job that has not
/// enough of them left fails, as its file says; whether one hangs is for the invariants to say.
std::string LostSuccess(const RunRecord& plain, const RunRecord& other) {
  for (std::size_t i = 0; i < plain.result.jobs.size() && i < other.result.jobs.size(); ++i) {
    const trace::JobResult& a = plain.result.jobs[i];
    const trace::JobResult& b = other.result.jobs[i];
    const bool is_limit = IsOfBudget(b.rule) || IsOfDeadline(b.rule) || IsOutOfAttempts(b) ||
                          FailsForOneLoss(b.rule) || IsOutOfTasks(b.rule);
    if (a.status != JobStatus::kSucceeded || b.status == JobStatus::kSucceeded ||
        b.status == JobStatus::kUnfinished || is_limit)
      continue;
    return fmt::format("job {} is {} by {}", a.name, trace::StatusName(b.status), b.rule);
  }
  return "";
}

Variant Only(Node document, Sameness same) {
  return {.name = "", .document = std::move(document), .options = {}, .same = same};
}

}  // namespace

Node PlainOf(Relation relation, Node document) {
  return MayKillAnAm(relation) ? WithMoreAttempts(std::move(document)) : document;
}

std::variant<std::vector<Variant>, Skipped> VariantsOf(Relation relation, const Node& document,
                                                       const RunRecord& plain) {
  std::vector<Variant> variants;
  const Skipped shifted{"its delays are random: what is added shifts them"};
  const Skipped stalls{"a fault strikes before or after its AM has found that a task stalls"};
  switch (relation) {
    case Relation::kNone:
      break;
    case Relation::kEveryHeartbeat:
      variants = {Only(document, Sameness::kDigest)};
      variants.front().options.elide = false;
      break;
    case Relation::kKeyOrder:
      variants = {Only(Reversed(document, ""), Sameness::kDigest)};
      break;
    case Relation::kUnusedNode:
      if (IsShiftedByOthers(document)) return shifted;
      if (CountsMessages(document)) return Skipped{"a fault counts messages, its own too"};
      if (DrawsWhomToServe(document))
        return Skipped{"its scheduler draws once more whenever a node comes or goes"};
      if (RestartsTheRm(document) && AimsAtNodes(document))
        return Skipped{
            "a new RM counts it, and what a fault finds on a node is another thing then"};
      if (MayLoseAllNodes(document))
        return Skipped{"while it is the only node, what waits for an AM counts as active"};
      variants = {Only(WithUnusedNode(document), Sameness::kOutcome)};
      break;
    case Relation::kRepeatedMessage:
      if (IsShiftedByOthers(document)) return shifted;
      if (CountsMessages(document)) return Skipped{"a fault waits for a number of messages"};
      variants = {Only(WithRepeatedMessage(document), Sameness::kOutcome)};
      break;
    case Relation::kShiftedPorts:
      variants = {Only(document, Sameness::kOutcome)};
      variants.front().options.shift_ports = kPortShift;
      break;
    case Relation::kNodeOrder:
      if (IsShiftedByOthers(document) || AimsAtNodes(document))
        return Skipped{
            "which node a fault strikes, or a delay is drawn for, depends on their order"};
      if (MayMeetAStall(document)) return stalls;
      variants = {Only(WithNodesReversed(document), Sameness::kAfterBlows)};
      break;
    case Relation::kOtherSeed:
      if (IsShiftedByOthers(document) || AimsAtNodes(document) || DrawsWhomToServe(document) ||
          document.Find("arrivals") != nullptr)
        return Skipped{"what it draws at random, or finds on a node, is another thing then"};
      if (MayMeetAStall(document)) return stalls;
      variants = {Only(WithAnotherSeed(document), Sameness::kAtOtherTimes)};
      break;
    case Relation::kLater:
      if (IsShiftedByOthers(document)) return shifted;
      if (DrawsWhomToServe(document)) return Skipped{"its scheduler draws whom to serve"};
      if (const std::string_view why = ComesByItself(document); !why.empty())
        return Skipped{std::string(why)};
      variants = {Only(AnHourLater(document), Sameness::kUnderAnOldRm)};
      break;
    case Relation::kAmnesia:
      return AmnesiaOf(document, plain);
    case Relation::kFailedEffect:
      return FailedEffectsOf(document, plain);
  }
  return variants;
}

std::string DifferenceOf(const Variant& variant, const RunRecord& plain, const RunRecord& other) {
  switch (variant.same) {
    case Sameness::kDigest:
      return plain.result.digest == other.result.digest ? "" : "another digest";
    case Sameness::kUnderAnOldRm:
      // Of a young one more nodes may come (deadlines.nodes): a job waits that would fail at once
      // an hour later, and others wait beside it.
      if (LacksNodes(plain.result) || LacksNodes(other.result)) return "";
      return DifferenceOfOutcomes(plain.result, other.result, variant.same);
    case Sameness::kOutcome:
    case Sameness::kAtOtherTimes:
      return DifferenceOfOutcomes(plain.result, other.result, variant.same);
    case Sameness::kAfterBlows:
      return DifferenceAfterBlows(plain, other);
    case Sameness::kTally:
      return DifferenceOfTallies(variant.job, plain, other);
    case Sameness::kSuccess:
      return LostSuccess(plain, other);
  }
  return "";
}

}  // namespace tfyarn::explore
