// Invariants of containers and nodes: capacity, one-owner, released-once. Counts what is held
// of a gang, for all that judge gangs, and the GPUs in use, for gpu-seconds.
#include <algorithm>

#include "core/model/exit.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

/// A minute after a job's end is when it is looked at; what is allowed to live longer than that is
/// not checked then.
constexpr Duration kSettleAfter = 60s;
constexpr Duration kKillSlack = 5s;
/// The RM hears of what has changed on a node within that time, unless a fault keeps it away.
constexpr Duration kHeardOf = 5s;

/// The type of which a node gives out more than it has, of those that `asked` wants; empty when
/// none.
std::string Exceeded(const Resource& asked, const Resource& used, const Resource& capacity) {
  if (asked.memory_mb > 0 && used.memory_mb > capacity.memory_mb) return "memory-mb";
  if (asked.vcores > 0 && used.vcores > capacity.vcores) return "vcores";
  if (asked.gpus > 0 && used.gpus > capacity.gpus) return std::string(kGpuResourceName);
  for (const auto& [name, amount] : asked.others) {
    if (amount > 0 && used.Get(name) > capacity.Get(name)) return name;
  }
  return "";
}

}  // namespace

void Checkers::Books::On(const trace::NodeDeclared& fact) {
  NodeBook& node = nodes_[NodeIndex(fact.node)];
  node.had = node.capacity;
  node.capacity = fact.capacity;
  node.declared = now_;
}

void Checkers::Books::On(const trace::NodePower& fact) {
  const std::uint32_t index = NodeIndex(fact.node);
  NodeBook& node = nodes_[index];
  node.up = fact.up;
  node.power_changed = now_;
  if (!fact.up) LimitsOfPower(index);
}

// capacity: what a node's containers were granted never exceeds what the node has. A node that lost
// a GPU may hold more than it has for a while; what is not allowed is to grant more of it.
void Checkers::Books::CheckCapacity(const NodeBook& node, const trace::ContainerGranted& fact) {
  if (!Checks(Invariant::kCapacity)) return;
  const std::string exceeded = Exceeded(fact.resource, node.used, node.capacity);
  if (exceeded.empty() || Exceeded(fact.resource, KnownToRm(node), node.capacity).empty()) return;
  if (now_ - node.declared <= kHeardOf && Exceeded(fact.resource, node.used, node.had).empty())
    return;
  const bool changed = node.declared > Instant{};
  if (changed && (lossy_ || !faults_under_way_.empty())) return;
  Report(Invariant::kCapacity, ToString(fact.container) + " on " + ToString(node.id) +
                                   ": allocated " + ToString(node.used) + " of " +
                                   ToString(node.capacity) + ", too much " + exceeded);
}

/// What the RM has allocated there, or, since its restart, taken over from its node. The books have
/// what an earlier one granted until the node tells that it has no such container.
Resource Checkers::Books::KnownToRm(const NodeBook& node) const {
  if (!rm_restarted_) return node.used;
  Resource known;
  for (const auto& [id, container] : containers_) {
    if (&nodes_[container.node] == &node && !container.freed && container.said >= *rm_restarted_)
      known += container.resource;
  }
  return known;
}

/// A container that one RM took back and whose node has not heard so: the node brings it to the
/// next RM, which knows no better. It may end while its node's registration is under way, which a
/// fault may keep back. Source: AbstractYarnScheduler.java (recoverContainersOnNode).
bool Checkers::Books::ComesBack(const ContainerBook& known) const {
  const bool kept_back = known.left_node && (!wide_faults_under_way_.empty() ||
                                             last_wide_fault_change_ > known.left_node);
  const bool told_of =
      known.on_node || kept_back || (known.left_node && now_ - *known.left_node <= kHeardOf);
  // One that its node had not claimed in time is given up, and the node may come later still.
  const bool unclaimed = known.taken && rm_restarted_ && known.granted < *rm_restarted_;
  return known.freed && told_of && rm_restarted_ && (unclaimed || *rm_restarted_ >= known.freed_at);
}

void Checkers::Books::On(const trace::ContainerGranted& fact) {
  const std::uint32_t node = NodeIndex(fact.node);
  Checks(Invariant::kOneOwner);
  ContainerBook* known = ContainerOf(fact.container);
  if (known == nullptr) {
    known =
        &containers_
             .emplace(fact.container,
                      ContainerBook{
                          .job = fact.job, .node = node, .resource = fact.resource, .am = fact.am})
             .first->second;
    if (JobBook* job = JobOf(fact.job)) job->containers.push_back(fact.container);
    Allocated(*known, fact);
    return CheckCapacity(nodes_[node], fact);
  }
  const bool its_own = known->job == fact.job && known->node == node;
  if (its_own && ComesBack(*known)) {
    // It is on its node already: the RM is not asked whether there is room for it.
    TF_PROBE("checkers/granted-again");
    known->freed = false;
    known->am = fact.am;  // One of an AM that is over is only a container.
    return Allocated(*known, fact);
  }
  // A RM that recovers its books says again what it said before.
  if (its_own && !known->freed && known->am == fact.am) {
    known->said = now_;
    return;
  }
  Report(Invariant::kOneOwner, ToString(fact.container) + " is allocated again, to job " +
                                   std::to_string(fact.job.value) + " on " + ToString(fact.node));
}

void Checkers::Books::Allocated(ContainerBook& container, const trace::ContainerGranted& fact) {
  container.granted = container.said = now_;
  container.end_unheard = false;
  LimitsOf(fact.container, container);
  NodeBook& node = nodes_[container.node];
  node.used += fact.resource;
  gpu_area_ += static_cast<Area>((now_ - gpus_since_).count()) * gpus_used_;
  gpus_since_ = now_;
  gpus_used_ += fact.resource.gpus;
  JobBook* job = JobOf(fact.job);
  if (job == nullptr) return;
  job->last_event = now_;
  ApplicationBook& application =
      ApplicationOf(*job, fact.container.application_attempt.application);
  if (fact.am) return;
  application.evidence.hosts.insert(fact.node.host);
  if (!application.limits.first_granted) application.limits.first_granted = now_;
  ++job->held;
  ++application.held;
  HeldChanged(*job);
}

void Checkers::Books::On(const trace::ContainerFreed& fact) {
  ContainerBook* container = ContainerOf(fact.container);
  if (Checks(Invariant::kReleasedOnce) && (container == nullptr || container->freed)) {
    Report(Invariant::kReleasedOnce,
           ToString(fact.container) + " is given back " +
               (container == nullptr ? "without having been allocated" : "a second time"));
  }
  if (container == nullptr || container->freed) return;
  container->freed = true;
  container->freed_at = now_;
  container->end_unheard =
      fact.exit_status != 0 && fact.exit_status != container_exit::kKilledByAppMaster;
  nodes_[container->node].used -= container->resource;
  gpu_area_ += static_cast<Area>((now_ - gpus_since_).count()) * gpus_used_;
  gpus_since_ = now_;
  gpus_used_ -= container->resource.gpus;
  gpu_of_containers_ +=
      static_cast<Area>((now_ - container->granted).count()) * container->resource.gpus;
  JobBook* job = JobOf(container->job);
  if (job == nullptr) return;
  job->last_event = now_;
  ApplicationOf(*job, fact.container.application_attempt.application)
      .evidence.container_exits.insert(fact.exit_status);
  CheckExpiredEarly(*job, fact.container, *container, fact.exit_status);
  if (container->am) return;
  // The RM declares a node lost when it hears nothing of it; what runs there may outlive that. Nor
  // can the AM end what YARN has taken, and whose node has yet to hear of that.
  container->taken = fact.exit_status == container_exit::kAborted ||
                     fact.exit_status == container_exit::kPreempted;
  if (container->taken) CountOut(*job, *container);
  --job->held;
  --ApplicationOf(*job, fact.container.application_attempt.application).held;
  HeldChanged(*job);
}

/// A gang that was complete has `gang.deadline` again from the next request on.
void Checkers::Books::CollectAnew(ApplicationBook& application) {
  if (application.gang_complete) application.limits.first_ask.reset();
  application.gang_complete = false;
}

/// A task that has ended and does not start again needs no container any more.
std::int64_t Checkers::Books::GangLeft(const JobBook& job, const ApplicationBook& application) {
  const auto& tasks = application.tasks;
  return job.gang_size - std::count_if(tasks.begin(), tasks.end(), [](const auto& entry) {
           return entry.second.ended && !entry.second.restarts;
         });
}

/// Where messages get lost, or the RM its books, the AM may hold what was taken from it, until it
/// hears so.
bool Checkers::Books::HoldsGang(const JobBook& job, const ApplicationBook& application) const {
  std::int64_t held = application.held;
  if (lossy_ || rm_restarted_) {
    held += std::count_if(job.containers.begin(), job.containers.end(), [&](const auto& id) {
      const ContainerBook& container = containers_.at(id);
      const bool own = id.application_attempt.application == application.id;
      return own && !container.am && container.end_unheard && !container.limits.given_back;
    });
  }
  return held >= job.gang_size || held >= GangLeft(job, application);
}

/// When the oldest container was granted that an incomplete gang gives back; empty: it has none.
/// One in which a process runs that trains with no other is no such container, nor one that the AM
/// has given back, whether or not the RM hears it. Only a collective stands still until it is whole
/// again: what others have in use is no gang's.
std::optional<Instant> Checkers::Books::PartOfGangSince(const JobBook& job,
                                                        const ApplicationBook& application) const {
  const bool collective = job.spec == nullptr || job.spec->strategy == Strategy::kMultiWorker;
  const auto is_kept = [&](const ContainerId& id) {
    const ContainerBook& container = containers_.at(id);
    const bool beside = container.process && !container.training;
    const bool in_use =
        !collective && application.gang_was_complete && container.limits.launch_ordered;
    const bool own = id.application_attempt.application == application.id;
    return own && !container.freed && !container.am && !beside && !in_use &&
           !container.limits.given_back;
  };
  const auto oldest = std::find_if(job.containers.begin(), job.containers.end(), is_kept);
  if (oldest == job.containers.end()) return std::nullopt;
  return containers_.at(*oldest).granted;
}

/// Keeps whether the gang was complete, and good-citizen's clock of an incomplete first gang. What
/// an earlier application of the job still holds is no part of it.
void Checkers::Books::HeldChanged(JobBook& job) {
  if (job.applications.empty()) return;
  ApplicationBook& application = job.applications.back();
  application.gang_complete = application.gang_complete || HoldsGang(job, application);
  if (application.short_again && application.held > GangLeft(job, application))
    application.short_again = false;
  application.gang_was_complete =
      application.gang_complete || (application.gang_was_complete && application.held > 0);
  const std::optional<Instant> oldest =
      application.gang_complete ? std::nullopt : PartOfGangSince(job, application);
  // `gang.hold` is the longest time for which it keeps a container: it begins later where the RM
  // has taken the first ones.
  if (oldest) {
    application.partial_since = std::max(application.partial_since.value_or(now_), *oldest);
  } else {
    application.partial_since.reset();
  }
  LimitsOfGang(job);
}

void Checkers::Books::On(const trace::ContainerLocalizing& fact) {
  ContainerBook* container = ContainerOf(fact.container);
  if (container != nullptr) container->on_node = container->limits.known_to_nm = true;
}

void Checkers::Books::On(const trace::ContainerLaunched& fact) {
  ContainerBook* container = ContainerOf(fact.container);
  if (container == nullptr) return;
  container->running = container->on_node = container->limits.known_to_nm = true;
  container->started_late = container->freed;
}

void Checkers::Books::On(const trace::ContainerGone& fact) {
  ContainerBook* container = ContainerOf(fact.container);
  if (container == nullptr) return;
  container->running = false;
  if (container->on_node) container->left_node = now_;
  // A NodeManager that is being started again, or has been just now, has yet to see it.
  container->on_node = container->on_node && (!nm_restarts_.empty() || nm_restarted_ == now_);
  container->limits.known_to_nm = true;
  LimitsOfEnd(fact.container, *container);
  ProcessEnds(*container);
}

// The books of the RM and these must agree: same containers, same owners, same nodes.
void Checkers::Books::ScanContainers(const WorldView& world) {
  if (!on(Invariant::kCapacity)) return;
  std::size_t held = 0;
  for (const HeldContainer& real : world.RmContainers()) {
    ++held;
    Checks(Invariant::kCapacity);
    const ContainerBook* container = ContainerOf(real.container);
    if (container == nullptr || container->freed) {
      Report(Invariant::kCapacity,
             ToString(real.container) + " is in the RM's books, but not allocated in the trace");
    } else if (nodes_[container->node].id != real.node || !(container->resource == real.resource)) {
      Report(Invariant::kCapacity, ToString(real.container) + ": the RM's books say " +
                                       ToString(real.resource) + " on " + ToString(real.node) +
                                       ", the trace " + ToString(container->resource) + " on " +
                                       ToString(nodes_[container->node].id));
    }
  }
  // A RM that has just restarted knows its containers only when the nodes have told it.
  if (!Undisturbed(times_.nm_expiry)) return;
  // What a node brought that a restarted RM did not take ends there, and a launch may take its
  // time.
  const auto open = std::count_if(containers_.begin(), containers_.end(), [&](const auto& c) {
    return !c.second.freed && !(rm_restarted_ && c.second.on_node);
  });
  if (static_cast<std::size_t>(open) > held) {
    Report(Invariant::kCapacity, "the trace has " + std::to_string(open) +
                                     " allocated containers, the RM's books " +
                                     std::to_string(held));
  }
}

/// A RM that keeps nothing over its restart has taken it back, and its node has started it since:
/// it waits for the end of all that it runs before it registers, and neither the RM nor an AM tells
/// it to end this. Source: ContainerManagerImpl.cleanupContainersOnNMResync.
bool Checkers::Books::OutOfReach(const ContainerBook& container) const {
  return container.started_late && rm_restarted_ && *rm_restarted_ == container.freed_at;
}

/// The RM learns of a node's death only when it expires.
bool Checkers::Books::MayBeUnnoticed(const NodeBook& node, Duration allowed) const {
  return node.power_changed && now_ - *node.power_changed <= allowed + times_.nm_expiry;
}

/// The RM hears that the ApplicationMaster ends, gives it up with its node, and takes back then
/// what it could not end itself.
bool Checkers::Books::DiesWithItsNode(const JobBook& job, Duration allowed) {
  return std::any_of(job.containers.begin(), job.containers.end(), [&](const ContainerId& id) {
    const ContainerBook* container = ContainerOf(id);
    if (container == nullptr || !container->am || container->freed) return false;
    return MayBeUnnoticed(nodes_[container->node], allowed);
  });
}

// released-once, at the end of a job: nothing of it is held any more, and nothing that can be
// reached still runs.
void Checkers::Books::SettleContainers(JobBook& job, const std::vector<std::string>& remains) {
  Duration allowed = times_.nm_heartbeat + times_.sigkill_delay + kKillSlack;
  if (job.spec != nullptr) allowed += job.spec->deadlines.stop;
  const bool judged = job.ended && allowed <= kSettleAfter &&
                      Undisturbed(allowed + times_.nm_expiry) && !DiesWithItsNode(job, allowed);
  for (const ContainerId& id : job.containers) {
    const ContainerBook* container = ContainerOf(id);
    if (container == nullptr || !judged) continue;
    const NodeBook& node = nodes_[container->node];
    if (MayBeUnnoticed(node, allowed)) {
      TF_PROBE("checkers/dead-node-is-excused");
      continue;
    }
    if (!Checks(Invariant::kReleasedOnce)) continue;
    if (!container->freed) {
      Report(Invariant::kReleasedOnce,
             NameOf(job) + " has ended, but " + ToString(id) + " is still allocated");
    } else if (container->running && node.up && !remains.empty() && !OutOfReach(*container)) {
      Report(Invariant::kReleasedOnce, NameOf(job) + " has ended, but " + ToString(id) +
                                           " still runs on " + ToString(node.id));
    }
  }
}

}  // namespace tfyarn::sim
