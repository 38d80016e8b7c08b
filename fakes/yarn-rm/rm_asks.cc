// What an allocate asks for: checks, rows, releases, blacklist.
//
// Source: DefaultAMSProcessor.java, RMServerUtils.java, SchedulerUtils.java,
// AbstractYarnScheduler.java.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_masters.h"

namespace tfyarn::fakes {
namespace {

using yarn::RpcError;
using yarn::RpcErrorCode;

constexpr std::string_view kAny = "*";

RpcError NullPointer() {
  return {.code = RpcErrorCode::kNullPointer, .message = "java.lang.NullPointerException"};
}

}  // namespace

std::optional<RpcError> RmMasterService::CheckAllocate(const RmApplication& application,
                                                       const yarn::AllocateRequest& request) const {
  for (const yarn::ResourceRequest& row : request.ask) {
    if (auto error = CheckRow(application, row)) return error;
  }
  const auto& additions = request.blacklist_additions;
  if (std::find(additions.begin(), additions.end(), kAny) != additions.end()) {
    return RpcError{.code = RpcErrorCode::kInvalidResourceBlacklistRequest,
                    .message = "Cannot add * to the blacklist!"};
  }
  if (application.keeps_containers()) return std::nullopt;
  for (const ContainerId& id : request.release) {
    if (id.application_attempt == application.attempt.id) continue;
    return RpcError{
        .code = RpcErrorCode::kInvalidContainerRelease,
        .message = fmt::format(
            "Cannot release container : {} not belonging to this application attempt : {}",
            ToString(id), ToString(application.attempt.id))};
  }
  return std::nullopt;
}

// A bad row fails the whole allocate: nothing of it is taken and the response id stays (run).
std::optional<RpcError> RmMasterService::CheckRow(const RmApplication& application,
                                                  const yarn::ResourceRequest& row) const {
  if (row.resource_name.empty() || application.poisoned) return NullPointer();
  const std::string& label =
      row.node_label_expression ? *row.node_label_expression : records_.partitions.front();
  if (row.resource_name != kAny && !label.empty()) {
    return RpcError{.code = RpcErrorCode::kInvalidLabelResourceRequest,
                    .message = fmt::format(
                        "Invalid resource request, queue={} specified node label expression in a "
                        "resource request has resource name = {}",
                        application.queue, row.resource_name)};
  }
  if (label.find("&&") != std::string::npos) {
    return RpcError{
        .code = RpcErrorCode::kInvalidLabelResourceRequest,
        .message = fmt::format(
            "Invalid resource request, queue={} specified more than one node label in a "
            "node label expression, node label expression = {}",
            application.queue, label)};
  }
  if (!records_.FindPartition(label)) {
    return RpcError{
        .code = RpcErrorCode::kInvalidLabelResourceRequest,
        .message = fmt::format("Invalid label resource request, cluster do not contain , label= {}",
                               label)};
  }
  return records_.limits.Check(records_.limits.WithKnownTypes(row.capability));
}

void RmMasterService::TakeAsks(RmApplication& application,
                               const std::vector<yarn::ResourceRequest>& rows) {
  if (rows.empty()) return;
  application.attempt.served = true;
  std::map<AskKey, AskUpdate> updates;
  for (const yarn::ResourceRequest& row : rows) {
    const Resource capability =
        records_.limits.Normalized(records_.limits.WithKnownTypes(row.capability));
    if (!row.priority) {
      // Taken, never granted; what is pending stays raised, and every further row fails (run).
      application.poisoned = true;
      records_.queues.AddPending(application.leaf, 0,
                                 Times(capability, std::max(row.num_containers, 0)));
      continue;
    }
    const AskKey key{.priority = *row.priority, .allocation_request_id = row.allocation_request_id};
    AskUpdate& update = updates[key];
    const bool any = row.resource_name == kAny;
    if (any) {
      // An unset label is the application's own; this submission record has none, so the default
      // partition.
      update.partition =
          row.node_label_expression ? *records_.FindPartition(*row.node_label_expression) : 0;
    }
    update.rows.insert_or_assign(
        any ? kAnywhere : records_.places.Of(row.resource_name),
        AskRow{.capability = capability, .count = row.num_containers, .relax = row.relax_locality});
  }
  applications_.scheduler().BeforeAsksChange(application);
  for (const auto& [key, update] : updates) {
    const auto known = application.asks.find(key);
    if (known != application.asks.end()) applications_.scheduler().OnAskReplaced(known->second);
    for (const PendingChange& change : UpdateAsk(application.asks, key, update, records_.shapes)) {
      records_.queues.AddPending(application.leaf, change.partition, change.amount);
    }
  }
  applications_.scheduler().OnAsksChanged(application);
}

// Answered in the same response, while the process may run on (run). Twice is once.
void RmMasterService::TakeReleases(RmApplication& application,
                                   const std::vector<ContainerId>& releases) {
  for (const ContainerId& id : releases) {
    const auto found = application.containers.find(id);
    if (found == application.containers.end()) {
      TF_PROBE("yarn/release-of-no-container");
      // Its node may not be back yet. Source: AbstractYarnScheduler.releaseContainers.
      if (records_.epoch > 0 && records_.now < records_.started_at + records_.options.nm_expiry)
        application.pending_release.insert(id);
      continue;
    }
    if (found->second.am) continue;  // assumption: an AM cannot release itself
    applications_.Complete(
        application, found->second,
        {.exit_status = -100, .diagnostics = "Container released by application"});
  }
}

void RmMasterService::TakeBlacklist(RmApplication& application,
                                    const yarn::AllocateRequest& request) {
  if (request.blacklist_additions.empty() && request.blacklist_removals.empty()) return;
  for (const std::string& name : request.blacklist_additions)
    application.blacklist.insert(records_.places.Of(name));
  for (const std::string& name : request.blacklist_removals)
    application.blacklist.erase(records_.places.Of(name));
  applications_.scheduler().OnBlacklistChanged(application, !request.blacklist_removals.empty());
}

}  // namespace tfyarn::fakes
