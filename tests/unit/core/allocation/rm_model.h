// A ResourceManager in a few lines, for tests of what we ask: rows by key, one "*" container per
// node and heartbeat, host rows at once, grants delivered with the next answer. It fails the test
// when a request is not a good citizen's.
//
// Not the simulator's fake: no queues, no expiry, no errors.
// Source: hadoop-yarn-server-resourcemanager AppSchedulingInfo.java,
// LocalityAppPlacementAllocator.java.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/yarn.h"
#include "core/placement/inventory.h"

namespace tfyarn::allocation {

class RmModel {
 public:
  explicit RmModel(placement::Inventory inventory) : inventory_(std::move(inventory)) {
    for (const placement::Node& node : inventory_.nodes()) free_[node.id] = node.free;
  }

  [[nodiscard]] const placement::Inventory& inventory() const { return inventory_; }

  /// Register, allocate or finish of an application, by YARN's rules for registration and response
  /// ids.
  yarn::RmResponse Call(int app, const yarn::RmRequest& request) {
    App& state = apps_[app];
    if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request)) {
      if (state.registered)
        return yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidApplicationMasterRequest};
      state.registered = true;
      state.last = {};
      state.last_acknowledged = true;
      return yarn::RegisterApplicationMasterResponse{};
    }
    if (!state.registered)
      return yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationMasterNotRegistered};
    const auto& allocate = std::get<yarn::AllocateRequest>(request);
    if (allocate.response_id + 1 == state.last.response_id) return state.last;
    EXPECT_EQ(allocate.response_id, state.last.response_id);
    state.last_acknowledged = true;
    state.last = Allocate(app, allocate);
    state.last_acknowledged = false;
    return state.last;
  }

  yarn::AllocateResponse Allocate(int app, const yarn::AllocateRequest& request) {
    App& state = apps_[app];
    for (const yarn::ResourceRequest& row : request.ask) TakeRow(state, row);
    CheckCompanions(state);
    yarn::AllocateResponse response{.response_id = request.response_id + 1};
    for (const ContainerId& id : request.release) {
      EXPECT_TRUE(state.ever_released.insert(id).second) << "released twice: " << ToString(id);
      EXPECT_TRUE(state.ever_granted.contains(id)) << "never granted: " << ToString(id);
      if (!state.live.contains(id)) continue;
      Free(state, id);
      state.completed.push_back(
          {.id = id, .state = yarn::ContainerState::kComplete, .exit_status = -100});
    }
    for (const std::string& host : request.blacklist_additions) {
      EXPECT_NE(host, "*");
      EXPECT_TRUE(state.blacklist.insert(host).second) << host;
    }
    for (const std::string& host : request.blacklist_removals)
      EXPECT_EQ(state.blacklist.erase(host), 1U) << host;
    response.allocated_containers = std::exchange(state.undelivered, {});
    response.completed_containers = std::exchange(state.completed, {});
    return response;
  }

  /// A heartbeat of that node: keys in order, every application in turn, another one first each
  /// time.
  void Heartbeat(const NodeId& id) {
    const placement::Node& node = *inventory_.Find(id);
    ++heartbeats_;
    for (std::size_t i = 0; i < apps_.size(); ++i) {
      const auto turn =
          std::next(apps_.begin(), static_cast<std::ptrdiff_t>((heartbeats_ + i) % apps_.size()));
      const int number = turn->first;
      App& app = turn->second;
      if (app.blacklist.contains(id.host)) continue;
      bool used_off_switch = false;
      for (auto& [key, rows] : app.rows) {
        while (GrantOn(number, app, key, rows, node, used_off_switch)) {
        }
      }
    }
  }

  /// The container ends by itself.
  void Lose(int app, const ContainerId& id) {
    App& state = apps_[app];
    if (!state.live.contains(id)) return;
    Free(state, id);
    state.completed.push_back(
        {.id = id, .state = yarn::ContainerState::kComplete, .exit_status = -100});
  }

  /// A restart: rows, blacklists and releases are forgotten. Containers whose grant was not
  /// acknowledged are taken back, and reported; so are ends that were not acknowledged.
  void Restart() {
    for (auto& [number, app] : apps_) {
      std::vector<yarn::Container> unheard = std::exchange(app.undelivered, {});
      if (!app.last_acknowledged) {
        for (const yarn::Container& container : app.last.allocated_containers)
          unheard.push_back(container);
        for (const yarn::ContainerStatus& status : app.last.completed_containers)
          app.completed.push_back(status);
      }
      for (const yarn::Container& container : unheard) Lose(number, container.id);
      app.registered = false;
      app.rows.clear();
      app.blacklist.clear();
      app.ever_released.clear();
    }
  }

  [[nodiscard]] const std::map<ContainerId, yarn::Container>& live(int app) {
    return apps_[app].live;
  }
  [[nodiscard]] bool registered(int app) { return apps_[app].registered; }
  [[nodiscard]] std::size_t undelivered(int app) { return apps_[app].undelivered.size(); }
  /// Containers asked for and not yet granted.
  [[nodiscard]] std::int64_t outstanding(int app) {
    std::int64_t sum = 0;
    for (const auto& [key, rows] : apps_[app].rows) {
      const auto any = rows.find("*");
      if (any != rows.end()) sum += any->second.num_containers;
    }
    return sum;
  }

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;
  using Rows = std::map<std::string, yarn::ResourceRequest>;
  struct App {
    bool registered = false;
    yarn::AllocateResponse last;
    bool last_acknowledged = true;
    std::map<Key, Rows> rows;
    std::set<std::string> blacklist;
    std::map<ContainerId, yarn::Container> live;
    std::vector<yarn::Container> undelivered;
    std::vector<yarn::ContainerStatus> completed;
    std::set<ContainerId> ever_granted;
    std::set<ContainerId> ever_released;
  };

  void TakeRow(App& app, const yarn::ResourceRequest& row) {
    ASSERT_TRUE(row.priority.has_value());
    EXPECT_GE(row.num_containers, 0) << row.resource_name;
    EXPECT_TRUE(row.resource_name == "*" || !row.node_label_expression.has_value());
    const Key key{*row.priority, row.allocation_request_id};
    Rows& rows = app.rows[key];
    const auto known = rows.find(row.resource_name);
    // What the application can know: the row as it stands, without the grants that it has not heard
    // of.
    std::int32_t before = known == rows.end() ? 0 : known->second.num_containers;
    for (const yarn::Container& container : app.undelivered) {
      if (Key{container.priority, container.allocation_request_id} != key) continue;
      const placement::Node& node = *inventory_.Find(container.node);
      const bool named = rows.contains(node.id.host) || row.resource_name == node.id.host;
      before += row.resource_name == "*" || row.resource_name == node.id.host ||
                (row.resource_name == node.rack && named);
    }
    // What it is told with this answer belongs to the row as it was; see AskBook.
    const bool same = known != rows.end() && before == row.num_containers &&
                      known->second.capability == row.capability &&
                      known->second.relax_locality == row.relax_locality;
    EXPECT_FALSE(same) << "unchanged row " << row.resource_name << " " << row.num_containers;
    rows[row.resource_name] = row;
  }

  /// Hosts have their rack and their total beside them, both strict. (Counts may be used up by
  /// grants in the meantime.)
  void CheckCompanions(const App& app) {
    for (const auto& [key, rows] : app.rows) {
      const auto any = rows.find("*");
      for (const auto& [name, row] : rows) {
        if (row.num_containers == 0 || name == "*" || name[0] == '/') continue;
        ASSERT_NE(any, rows.end()) << name;
        const std::string& rack = inventory_.FindHost(name)->rack;
        ASSERT_TRUE(rows.contains(rack)) << name << " without " << rack;
        EXPECT_FALSE(rows.at(rack).relax_locality);
        EXPECT_FALSE(any->second.relax_locality);
      }
    }
  }

  bool GrantOn(int number, App& app, const Key& key, Rows& rows, const placement::Node& node,
               bool& used_off_switch) {
    const auto any = rows.find("*");
    if (any == rows.end() || any->second.num_containers == 0) return false;
    const yarn::ResourceRequest& ask = any->second;
    if (ask.node_label_expression.value_or("") != node.partition ||
        !FitsIn(ask.capability, free_[node.id]))
      return false;
    const auto host = rows.find(node.id.host);
    const auto rack = rows.find(node.rack);
    const bool local = host != rows.end() && host->second.num_containers > 0 &&
                       rack != rows.end() && rack->second.num_containers > 0;
    if (!local && (!ask.relax_locality || used_off_switch)) return false;
    used_off_switch = used_off_switch || !local;
    yarn::Container container{
        .id = {.application_attempt = {.application = {.id = number}, .attempt = 1}, .id = ++last_},
        .node = node.id,
        .resource = ask.capability,
        .priority = key.first,
        .allocation_request_id = key.second};
    --any->second.num_containers;
    if (local) --host->second.num_containers;
    if (local) --rack->second.num_containers;
    free_[node.id] -= container.resource;
    app.live[container.id] = container;
    app.ever_granted.insert(container.id);
    app.undelivered.push_back(container);
    return true;
  }

  void Free(App& app, const ContainerId& id) {
    const auto at = app.live.find(id);
    free_[at->second.node] += at->second.resource;
    app.live.erase(at);
  }

  placement::Inventory inventory_;
  std::map<NodeId, Resource> free_;
  std::map<int, App> apps_;
  std::int64_t last_ = 0;
  std::size_t heartbeats_ = 0;
};

}  // namespace tfyarn::allocation
