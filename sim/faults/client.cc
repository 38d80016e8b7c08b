// What the user does, and the user's machine that is lost or sleeps.
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

std::vector<ClientActor*> SimHost::ClientsOf(const FaultOrder& order) {
  std::vector<ClientActor*> clients;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster_.JobNamed(struck.job);
    if (job == nullptr || job->client == nullptr) continue;
    clients.push_back(job->client);
  }
  return clients;
}

template <>
void SimHost::Strike<FaultId::kClientKill>(const FaultOrder& order) {
  for (ClientActor* client : ClientsOf(order))
    client->Step(KillRequested{.reason = "killed by the user"});
}

template <>
void SimHost::Strike<FaultId::kClientLost>(const FaultOrder& order) {
  if (!order.begins) return ReturnClients(KeyOf(order));
  for (ClientActor* client : ClientsOf(order)) {
    if (!order.lasts) {
      client->End();
      cluster_.clients.Remove(client->id);
    } else {
      paused_[KeyOf(order)].push_back(client->id);
      if (++client->lost > 1) continue;
      client->paused = true;
      links_.Update(*client);
    }
  }
}

// A new client finds where the old one was in the staging directory: to the RM they are one.
void SimHost::ReturnClients(std::uint64_t fault) {
  for (const std::uint32_t id : paused_[fault]) {
    ClientActor* client = cluster_.clients.Living(id);
    if (client == nullptr) continue;
    if (--client->lost == 0)
      client->suspended_by.clear();  // Its process stood still, not this one.
    GoOn(*client);
  }
  paused_.erase(fault);
}

template <>
void SimHost::Strike<FaultId::kClientSuspend>(const FaultOrder& order) {
  for (ClientActor* client : ClientsOf(order)) {
    if (order.begins) {
      client->suspended_by.insert(KeyOf(order));
      client->paused = true;
      links_.Update(*client);
    } else if (client->suspended_by.erase(KeyOf(order)) > 0) {
      GoOn(*client);
    }
  }
}

template <>
void SimHost::Strike<FaultId::kClientResume>(const FaultOrder& order) {
  for (ClientActor* client : ClientsOf(order)) {
    if (!client->suspended_by.empty()) {
      client->suspended_by.clear();
      GoOn(*client);
    }
  }
}

/// What has come meanwhile it hears now, if nothing else keeps it.
void SimHost::GoOn(ClientActor& client) {
  if (client.lost > 0 || !client.suspended_by.empty()) return;
  client.paused = false;
  links_.Update(client);
  for (ClientEvent& event : std::exchange(client.inbox, {})) {
    kernel_.After(Duration::zero(), [this, id = client.id, event = std::move(event)]() mutable {
      if (ClientActor* same = cluster_.clients.Living(id)) same->Step(std::move(event));
    });
  }
  links_.Reschedule(client);
}

/// One that stands still hears all of it later. What was meant for a client that is gone: an answer
/// is lost, and its successor asks again; what the user wants is kept.
void SimHost::Keep(ClientActor& client, ClientEvent&& event) {
  if (client.lost == 0) return client.inbox.push_back(std::move(event));
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
