// What faults do to the ResourceManager, HDFS, ApplicationMasters and clients.
#include <algorithm>
#include <deque>
#include <utility>

#include "sim/behavior.h"
#include "sim/fault_words.h"
#include "sim/sim_host.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {

void SimHost::FaultRmRestart(const FaultOrder& order) {
  if (order.begins) {
    if (rm_downs_++ > 0) return;
    DisturbAllLinks();
    rm_store_ = rm_->state_store();
    SetAllocatedAside();
    rm_.reset();
  } else if (--rm_downs_ == 0) {
    rm_ = std::make_unique<fakes::ResourceManager>(RmOptionsOf(scenario_, nodes_), *rm_store_,
                                                   SeedFor("rm", KeyOf(order) + 1), now_);
    rm_store_.reset();
    for (std::int32_t node = 0; node < nodes_.size(); ++node) OrderDecommission(node);
    AwaitClaims();
    RestoreAllLinks();
    Reschedule(*actors_[0]);
  }
}

// What a new RM knows of containers it has from their nodes (hadoop-yarn, work-preserving recovery;
// without that recovery everything ends). A node takes the tokens of the RM that it has registered
// with: until it has done so again, it may start what that RM allocated. What it does not report
// then has never been started, or has ended meanwhile; the new RM gives nothing back for it.
void SimHost::SetAllocatedAside() {
  for (const auto& [application, booked] : rm_->books().applications) {
    for (const auto& [id, container] : booked->containers) {
      if (!scenario_.yarn.work_preserving_restart) {
        TraceFreed(id, container_exit::kAborted);
      } else {
        const auto node = static_cast<std::size_t>(container.node);
        unclaimed_[*nodes_.Find(rm_->books().nodes.at(node)->id.host)].push_back(id);
      }
    }
  }
}

void SimHost::AwaitClaims() {
  claims_end_ = now_ + scenario_.yarn.nm_expiry;
  After(scenario_.yarn.nm_expiry, [this] { ForgetUnclaimed(); });
}

/// A node that has not come back to a restarted RM by now counts as lost. A RM that stands still
/// hears none, and takes none for lost: they have their time again when it goes on.
void SimHost::ForgetUnclaimed() {
  if (rm_paused_) {
    nodes_have_their_time_again_ = true;
    return;
  }
  std::vector<Place> nodes;
  for (const auto& [place, ids] : unclaimed_) nodes.push_back(place);
  for (const Place place : nodes) ForgetUnclaimedOn(place);
}

void SimHost::ForgetUnclaimedOn(Place node) {
  const auto aside = unclaimed_.find(node);
  if (rm_ == nullptr || aside == unclaimed_.end()) return;
  const std::vector<ContainerId> ids = std::move(aside->second);
  unclaimed_.erase(aside);
  for (const ContainerId& id : ids) {
    const auto& applications = rm_->books().applications;
    const auto booked = applications.find(id.application_attempt.application);
    if (booked != applications.end() && booked->second->containers.contains(id)) continue;
    if (containers_.contains(id)) {
      unclaimed_[node].push_back(id);  // It runs where the RM does not know of it.
    } else {
      TraceFreed(id, container_exit::kAborted);
    }
  }
}

/// With the RM that runs.
bool SimHost::IsRegistered(Place node) const {
  if (rm_ == nullptr) return false;
  const std::vector<const fakes::BookedNode*>& known = rm_->books().nodes;
  const std::string& host = nodes_[node].id.host;
  return std::any_of(known.begin(), known.end(),
                     [&](const fakes::BookedNode* one) { return one->id.host == host; });
}

void SimHost::FaultRmPause(const FaultOrder& order) {
  if (order.begins) {
    if (rm_pauses_++ > 0) return;
    DisturbAllLinks();
    rm_paused_ = actors_[0]->paused = true;
    return;
  }
  if (--rm_pauses_ > 0) return;
  rm_paused_ = actors_[0]->paused = false;
  for (const std::uint32_t task : rm_backlog_) queue_.Push(now_, task << 1);
  rm_backlog_.clear();
  if (std::exchange(nodes_have_their_time_again_, false)) AwaitClaims();
  RestoreAllLinks();
  Reschedule(*actors_[0]);
}

void SimHost::FaultHdfs(const FaultOrder& order) {
  const std::int32_t more = order.begins ? 1 : -1;
  if (order.kind == "hdfs_down") name_node_.set_down((hdfs_downs_ += more) > 0);
  if (order.kind == "hdfs_safemode") name_node_.set_safe_mode((hdfs_safe_modes_ += more) > 0);
  if (order.kind == "hdfs_slow") {
    hdfs_slowed_by_.erase(KeyOf(order));
    if (order.begins) hdfs_slowed_by_[KeyOf(order)] = PermilleOf(order, 10);
  }
  if (order.kind == "hdfs_quota") {
    hdfs_quotas_.erase(KeyOf(order));
    if (order.begins)
      hdfs_quotas_[KeyOf(order)] = static_cast<std::int64_t>(NumberOf(order, "bytes", 0));
    std::optional<std::int64_t> least = scenario_.hdfs.quota_bytes;
    for (const auto& [key, bytes] : hdfs_quotas_) least = std::min(least.value_or(bytes), bytes);
    name_node_.SetQuota("/", least);
  }
}

Duration SimHost::SlowedByHdfs(Duration time) const {
  for (const auto& [key, permille] : hdfs_slowed_by_)
    time = time * (permille / 1000) + time / 1000 * (permille % 1000);
  return time;
}

// ---------------------------------------------------------------- AMs, clients

void SimHost::FaultAmCrash(const FaultOrder& order) {
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr || job->am == 0) continue;
    CrashAm(static_cast<AmActor&>(*actors_[job->am]));
  }
}

void SimHost::FaultAmPause(const FaultOrder& order) {
  std::vector<std::uint32_t>& paused = paused_[KeyOf(order)];
  if (order.begins) {
    for (const Struck& struck : order.struck) {
      const JobRt* job = JobNamed(struck.job);
      if (job == nullptr || job->am == 0) continue;
      paused.push_back(job->am);
      auto& am = static_cast<AmActor&>(*actors_[job->am]);
      if (++am.pauses == 1) PauseAm(am, true);
    }
    return;
  }
  // The process that stood still goes on, though its job may have another AM by now.
  for (const std::uint32_t id : paused) {
    Actor* actor = Living(id);
    if (actor == nullptr) continue;
    auto& am = static_cast<AmActor&>(*actor);
    if (--am.pauses == 0) PauseAm(am, false);
  }
  paused_.erase(KeyOf(order));
}

void SimHost::PauseAm(AmActor& am, bool paused) {
  am.paused = paused;
  UpdateLink(am);
  const auto job = jobs_.find(am.job.value);
  if (job != jobs_.end()) {
    for (const std::uint32_t id : std::vector<std::uint32_t>(job->second->agents)) {
      if (actors_[id] != nullptr) UpdateLink(*actors_[id]);
    }
  }
  if (paused) return;
  std::deque<AmEvent> inbox = std::move(am.inbox);
  am.inbox.clear();
  for (AmEvent& event : inbox) {
    After(Duration::zero(), [this, id = am.id, event = std::move(event)]() mutable {
      if (Actor* actor = Living(id)) StepAm(static_cast<AmActor&>(*actor), std::move(event));
    });
  }
  Reschedule(am);
}

void SimHost::FaultClient(const FaultOrder& order) {
  if (!order.begins) return ReturnClients(KeyOf(order));
  for (const Struck& struck : order.struck) {
    const auto named = job_by_name_.find(struck.job);
    if (named == job_by_name_.end()) continue;
    JobRt& job = *jobs_.at(named->second);
    if (job.client == 0) continue;
    auto& client = static_cast<ClientActor&>(*actors_[job.client]);
    if (order.kind == "client_kill") {
      StepClient(client, KillRequested{.reason = "killed by the user"});
    } else if (!order.lasts) {
      client.alive = false;
      UpdateLink(client);
      actors_[job.client].reset();
      job.client = 0;
    } else {
      paused_[KeyOf(order)].push_back(client.id);
      if (++client.lost > 1) continue;
      client.paused = true;
      UpdateLink(client);
    }
  }
}

// A new client finds where the old one was in the staging directory: to the RM they are one.
void SimHost::ReturnClients(std::uint64_t fault) {
  for (const std::uint32_t id : paused_[fault]) {
    Actor* actor = Living(id);
    if (actor == nullptr) continue;
    auto& client = static_cast<ClientActor&>(*actor);
    if (--client.lost > 0) continue;
    client.paused = false;
    UpdateLink(client);
    for (ClientEvent& event : std::exchange(client.inbox, {})) {
      After(Duration::zero(), [this, id, event = std::move(event)]() mutable {
        if (Actor* same = Living(id))
          StepClient(static_cast<ClientActor&>(*same), std::move(event));
      });
    }
    Reschedule(client);
  }
  paused_.erase(fault);
}

/// What was meant for a client that is gone: an answer is lost, and its successor asks again; what
/// the user wants is kept.
void SimHost::KeepForNextClient(ClientActor& client, ClientEvent event) {
  if (auto* reply = std::get_if<RmReplied>(&event)) {
    reply->response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable,
                                     .message = "the client that asked is gone"};
  } else if (auto* read = std::get_if<HdfsReplied>(&event)) {
    read->response = hdfs::HdfsError{.code = hdfs::HdfsErrorCode::kUnavailable,
                                     .message = "the client that asked is gone"};
  }
  // In the order of the calls: which of two answers came first is the answer's business alone.
  auto place = client.inbox.end();
  if (const auto* reply = std::get_if<RmReplied>(&event)) {
    while (place != client.inbox.begin()) {
      const auto* before = std::get_if<RmReplied>(&*std::prev(place));
      if (before == nullptr || before->call <= reply->call) break;
      --place;
    }
  }
  client.inbox.insert(place, std::move(event));
}

}  // namespace tfyarn::sim
