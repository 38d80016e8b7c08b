#include "core/allocation/allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/allocation/allocation_options.h"
#include "core/allocation/gang_allocator.h"
#include "core/allocation/kept_off.h"
#include "core/allocation/node_calls.h"
#include "core/allocation/node_exclusion.h"
#include "core/allocation/reach.h"
#include "core/allocation/rm_session.h"
#include "core/model/deadline.h"
#include "core/model/probe.h"

namespace tfyarn::allocation {
namespace {

/// yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs, as Hadoop has it by default.
constexpr Duration kNmKeyRoll = 24h;

RmSessionOptions SessionOptions(const AllocationOptions& options) {
  return {.heartbeat = options.heartbeat,
          .fast_heartbeat = std::min(options.heartbeat, options.fast_heartbeat)};
}

GangAllocatorOptions GangOptions(const JobSpec& job, const AllocationOptions& options) {
  return {.gang = job.gang,
          .seed = options.seed,
          .heartbeat = options.heartbeat,
          .container_expiry = options.container_expiry};
}

ReachOptions ReachOptionsOf(const JobSpec& job, const AllocationOptions& options) {
  ReachOptions reach{.cluster_timestamps_from = options.cluster_timestamps_from,
                     .surveyed = options.surveyed,
                     .nodes_may_come = options.nodes_may_come,
                     .nodes_come_in = job.deadlines.nodes,
                     .am = job.am.resource,
                     .partitions = {}};
  for (const TaskTypeSpec& type : job.tasks) reach.partitions.insert(type.node_label);
  return reach;
}

yarn::FinalApplicationStatus FinalStatusOf(JobStatus status) {
  switch (status) {
    case JobStatus::kSucceeded:
      return yarn::FinalApplicationStatus::kSucceeded;
    case JobStatus::kFailed:
      return yarn::FinalApplicationStatus::kFailed;
    case JobStatus::kKilled:
      return yarn::FinalApplicationStatus::kKilled;
    case JobStatus::kUnfinished:
      break;
  }
  return yarn::FinalApplicationStatus::kUndefined;
}

Rejection::Of WhatIsRejected(yarn::RpcErrorCode code) {
  switch (code) {
    case yarn::RpcErrorCode::kInvalidResourceRequest:
      return Rejection::Of::kSize;
    case yarn::RpcErrorCode::kInvalidLabelResourceRequest:
      return Rejection::Of::kAsk;
    default:
      return Rejection::Of::kCall;
  }
}

HeldContainer HeldOf(const yarn::Container& container) {
  return {.id = container.id, .node = container.node};
}

}  // namespace

struct Allocation::Parts {
  Parts(const JobSpec& job, AllocationOptions given, journal::Outbox& outbox)
      : options(std::move(given)),
        out(outbox),
        rm(SessionOptions(options)),
        gang(GangOptions(job, options)),
        reach(ReachOptionsOf(job, options), gang, exclusion, outbox) {}

  void Admit(const yarn::RegisterApplicationMasterResponse& response, bool known,
             Listener& listener);
  void TakeIn(const yarn::AllocateResponse& response, Listener& listener);
  void TakeEnds(const std::vector<yarn::ContainerStatus>& ended, Listener& listener);

  AllocationOptions options;
  journal::Outbox& out;
  Instant now{};
  RmSession rm;
  GangAllocator gang;
  NodeExclusion exclusion;
  Reach reach;
  KeptOff kept_off{gang, exclusion, rm};
  NodeCalls calls;
  /// While the AM hears of them.
  std::map<ContainerId, yarn::Container> living;
  std::set<ContainerId> given_back;  ///< Their ends are expected.
  std::set<ContainerId> seen_out;    ///< Given back with a gang, and released by the caller.
};

Allocation::Allocation(const JobSpec& job, AllocationOptions options, journal::Outbox& out)
    : parts_(std::make_unique<Parts>(job, std::move(options), out)) {}
Allocation::~Allocation() = default;

// ---------------------------------------------------------------- events

void Allocation::BeginStep(Instant now) {
  parts_->now = now;
}

void Allocation::OnStarted(const AmStarted& started) {
  parts_->reach.OnStarted(parts_->now, started);
}

void Allocation::OnElided(const HeartbeatsElided& elided) {
  parts_->rm.OnElided(elided);
}

void Allocation::OnReplied(const RmReplied& reply, Listener& listener) {
  Parts& of = *parts_;
  const RmNews news = of.rm.OnReplied(of.now, reply);
  if (news.ignored) of.out.Note(*news.ignored);
  if (news.must_stop) return listener.OnExpelled(*news.must_stop);
  if (news.finished) return listener.OnFinished();
  if (news.resynced) {
    listener.OnForgotten();
    of.reach.NodesComeAgain(of.now);
    // One that has restarted knows of no token that it gave: each node's comes once more.
    of.exclusion.OpenAll(of.now);
  }
  for (const yarn::Container& container : news.listed) listener.OnCameBack(HeldOf(container));
  if (news.registered) of.Admit(*news.registered, !news.registered_blindly, listener);
  if (news.rejected) {
    listener.OnRejected(
        {.of = WhatIsRejected(news.rejected->code), .message = news.rejected->message});
  }
  if (news.nodes_counted) of.reach.OnNodesCounted(of.now, *news.nodes_counted, listener);
  if (news.allocated) of.TakeIn(*news.allocated, listener);
}

void Allocation::Parts::Admit(const yarn::RegisterApplicationMasterResponse& response, bool known,
                              Listener& listener) {
  reach.OnRegistered(response.maximum_capability);
  Admission admission{.living = {}, .known = known};
  for (const yarn::Container& container : response.containers_from_previous_attempts) {
    living.emplace(container.id, container);
    admission.living.push_back(HeldOf(container));
  }
  listener.OnAdmitted(admission);
  living.clear();
}

void Allocation::Parts::TakeIn(const yarn::AllocateResponse& response, Listener& listener) {
  TakeEnds(response.completed_containers, listener);
  if (!response.updated_nodes.empty()) {
    gang.OnUpdatedNodes(now, response.updated_nodes);
    reach.OnNodesChanged(response.updated_nodes);
    // Of unhealthy and decommissioned nodes the RM reports the containers itself, each with its
    // reason.
    for (const yarn::NodeReport& report : response.updated_nodes) {
      if (report.state != yarn::NodeState::kLost) continue;
      // It has to register before it gets a container, and so its token comes again.
      exclusion.Open(now, report.node.host);
      listener.OnNodeLost(report.node);
    }
  }
  reach.OnNodesTold(now, response.num_cluster_nodes, !response.updated_nodes.empty());
  for (const yarn::Container& container : response.containers_from_previous_attempts)
    listener.OnCameBack(HeldOf(container));
  for (const Grant& grant : gang.OnAllocated(now, response.allocated_containers))
    listener.OnGranted(grant.task, HeldOf(grant.container));
  for (const ContainerId& container : response.preempt_strict) listener.OnNotice(container);
  // The CapacityScheduler would take others instead, but these are what it has marked and takes.
  // Source: FiCaSchedulerApp.getAllocation, ProportionalCapacityPreemptionPolicy.
  for (const ContainerId& container : response.preempt_contract) listener.OnNotice(container);
}

void Allocation::Parts::TakeEnds(const std::vector<yarn::ContainerStatus>& ended,
                                 Listener& listener) {
  if (ended.empty()) return;
  std::vector<LostContainer> lost;
  lost.reserve(ended.size());
  for (const yarn::ContainerStatus& status : ended)
    lost.push_back({status.id, status.exit_status, status.diagnostics});
  listener.OnEndsTold(lost);
  for (LostContainer& one : lost) {
    const bool expected = given_back.erase(one.id) > 0;
    seen_out.erase(one.id);
    calls.Forget(one.id);
    one.stray = gang.OnCompleted(now, one.id) == CompletedContainer::kReleased && !expected;
    listener.OnLost(one);
  }
}

bool Allocation::OnNmReplied(const NmReplied& reply, Listener& listener) {
  return parts_->calls.OnReplied(reply, listener);
}

GangTimeouts Allocation::OnTime() {
  if (!IsDue(parts_->gang.next_deadline(), parts_->now)) return {};
  return parts_->gang.OnTime(parts_->now);
}

std::optional<Instant> Allocation::next_deadline() const {
  std::optional<Instant> next = parts_->rm.next_deadline();
  Earliest(next, parts_->gang.next_deadline());
  Earliest(next, parts_->exclusion.next_deadline());
  return next;
}

std::optional<Instant> Allocation::next_decision() const {
  std::optional<Instant> next = parts_->rm.next_decision();
  Earliest(next, parts_->gang.next_deadline());
  Earliest(next, parts_->exclusion.next_deadline());
  return next;
}

// ---------------------------------------------------------------- the attempt

void Allocation::Register(const HostPort& address, const std::string& tracking_url) {
  parts_->rm.Register(
      {.host = address.host, .rpc_port = address.port, .tracking_url = tracking_url});
}

void Allocation::Finish(JobStatus status, const std::string& diagnostics) {
  parts_->rm.Finish({.final_status = FinalStatusOf(status), .diagnostics = diagnostics});
}

bool Allocation::everything_told() const {
  return parts_->rm.everything_told();
}

void Allocation::Send() {
  Parts& of = *parts_;
  for (const ContainerId& container : of.gang.TakeReleases()) {
    if (of.seen_out.erase(container) > 0) continue;
    of.given_back.insert(container);
    of.rm.Release(container);
  }
  if (of.gang.has_news()) of.rm.SetAsks(of.gang.asks());
  of.gang.ForgetNews();
  of.kept_off.Tell(of.out);
  of.rm.OnTime(of.now, of.out.actions());
}

// ---------------------------------------------------------------- what is wanted and held

void Allocation::Want(const std::vector<SlotRequest>& slots, bool kept_counts_as_held) {
  parts_->gang.Want(parts_->now, slots, kept_counts_as_held);
}

void Allocation::Postpone(const TaskId& task) {
  parts_->gang.Postpone(task);
}

void Allocation::Cancel(const TaskId& task) {
  parts_->gang.Cancel(parts_->now, task);
}

void Allocation::CancelAll() {
  parts_->gang.CancelAll(parts_->now);
}

bool Allocation::Wants(const TaskId& task) const {
  return parts_->gang.Wants(task);
}

bool Allocation::complete() const {
  return parts_->gang.complete();
}

void Allocation::OnTrainingWhole() {
  parts_->gang.OnTrainingWhole();
}

void Allocation::Adopt(const SlotRequest& slot, const HeldContainer& container) {
  const auto living = parts_->living.find(container.id);
  parts_->gang.Adopt(slot, living == parts_->living.end()
                               ? yarn::Container{.id = container.id, .node = container.node}
                               : living->second);
}

void Allocation::Detach(const TaskId& task) {
  parts_->gang.Detach(parts_->now, task);
}

void Allocation::GiveUp(const ContainerId& container) {
  parts_->gang.Refuse(parts_->now, container);
}

void Allocation::SeeOut(const ContainerId& container) {
  parts_->seen_out.insert(container);
}

std::string Allocation::Missing() const {
  return parts_->gang.Missing();
}

bool Allocation::backing_off() const {
  return parts_->gang.backing_off();
}

bool Allocation::has_news() const {
  return parts_->gang.has_news();
}

// ---------------------------------------------------------------- orders

bool Allocation::Launch(JournalSeq rests_on, const AgentLaunch& launch) {
  Parts& of = *parts_;
  const TaskId& task = launch.fence.task;
  of.gang.Use(task);
  const yarn::Container& container = *of.gang.ContainerOf(task);
  const yarn::Token* token = of.rm.NmToken(container.node);
  if (token == nullptr) {
    // The RM gives it once, with an answer that was lost; it rolls its keys after that time.
    TF_PROBE("launch/no-nm-token");
    of.exclusion.Close(of.now, container.node.host, of.now + kNmKeyRoll);
    return false;
  }
  yarn::ContainerLaunchContext context = of.options.agent_context;
  std::map<std::string, std::string> environment = ToEnvironment(launch);
  context.environment.merge(environment);
  of.out.Order(rests_on, of.calls.Start(task, container, *token, std::move(context)));
  return true;
}

bool Allocation::Stop(JournalSeq rests_on, const HeldContainer& container) {
  const yarn::Token* token = parts_->rm.NmToken(container.node);
  if (token == nullptr) return false;
  parts_->out.Order(rests_on, parts_->calls.Stop(container, *token));
  return true;
}

void Allocation::Release(const ContainerId& container) {
  parts_->rm.Release(container);
}

std::size_t Allocation::unanswered_launches() const {
  return parts_->calls.unanswered_starts();
}

// ---------------------------------------------------------------- hosts that are kept off

void Allocation::Suspect(const std::string& host, Suspicion suspicion) {
  parts_->exclusion.Suspect(parts_->now, host, suspicion);
}

void Allocation::TakeOverKeptOff(const std::set<std::string>& hosts) {
  parts_->rm.TakeOverBlacklist(hosts);
}

std::optional<std::vector<std::string>> Allocation::HostsToStore(
    const std::set<std::string>& stored, bool finishing) {
  return parts_->kept_off.ToStore(parts_->now, parts_->reach.nodes_counted(), stored, finishing);
}

void Allocation::OnHostsStored(JournalSeq entry) {
  parts_->kept_off.OnStored(entry);
}

// ---------------------------------------------------------------- what the cluster can hold

std::int64_t Allocation::largest_memory() const {
  return parts_->reach.largest_memory();
}

std::optional<std::string> Allocation::BeyondSetting(
    const std::vector<placement::SlotGroup>& groups) const {
  return parts_->reach.BeyondSetting(groups);
}

Judgement Allocation::Judge(const std::vector<placement::SlotGroup>& groups) {
  return parts_->reach.Judge(parts_->now, groups);
}

void Allocation::JudgeWhenCounted(const std::vector<placement::SlotGroup>& groups, bool held) {
  parts_->reach.JudgeWhenCounted(parts_->now, groups, held);
}

void Allocation::JudgeAgain() {
  parts_->reach.JudgeAgain();
}

bool Allocation::to_be_judged() const {
  return parts_->reach.to_be_judged();
}

void Allocation::OnJudged() {
  parts_->reach.OnJudged();
}

std::optional<std::string> Allocation::TooLargeSoFar(
    const std::vector<placement::SlotGroup>& groups) const {
  return parts_->reach.TooLargeSoFar(parts_->now, groups);
}

bool Allocation::MayFitLater(const std::vector<placement::SlotGroup>& groups) {
  return parts_->reach.MayFitLater(parts_->now, groups);
}

std::optional<GangGivenBack> Allocation::Suspend() {
  if (parts_->gang.suspended()) return std::nullopt;
  return parts_->gang.Suspend(parts_->now);
}

void Allocation::AwaitNodes(const std::string& limit) {
  parts_->reach.AwaitNodes(parts_->now, limit);
}

void Allocation::WaitNoMore() {
  parts_->reach.WaitNoMore(parts_->now);
}

bool Allocation::awaits_nodes() const {
  return parts_->reach.awaits_nodes();
}

Instant Allocation::judges_at() const {
  return parts_->reach.judges_at();
}

std::string Allocation::AwaitedNodes() const {
  return parts_->reach.AwaitedNodes();
}

}  // namespace tfyarn::allocation
