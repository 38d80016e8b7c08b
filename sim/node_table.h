// The machines of a simulated cluster: names, racks, labels, capacity, and whether they are up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/scenario.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"

namespace tfyarn::sim {

/// Ports that agents lease: Linux's ephemeral ones (net.ipv4.ip_local_port_range).
inline constexpr std::int32_t kFirstPort = 32768;
inline constexpr std::int32_t kLastPort = 60999;

struct NodeInfo {
  NodeId id;
  std::string rack;             ///< "r1".
  std::int32_t rack_index = 0;  ///< From 0.
  std::vector<std::string> labels;
  std::string partition;
  Resource capacity;                    ///< As configured.
  Resource now;                         ///< With lost GPUs taken off.
  std::int32_t down = 0;                ///< Faults that keep it down; 0 = up.
  std::int32_t next_port = kFirstPort;  ///< Of those that agents lease; each node begins elsewhere.
  // What faults do to it; see sim/faults. Faults overlap, so their effects are
  // counted or kept by fault and instance (KeyOf), and each ends what it began.
  std::int32_t pace_permille = 1000;                ///< 2000 = everything takes twice as long.
  std::int32_t gpu_pace_permille = 1000;            ///< The same for who has GPUs, on top of that.
  std::int32_t localize_permille = 1000;            ///< The same for localisation alone.
  std::map<std::uint64_t, std::int32_t> slowed_by;  ///< Permille; pace_permille is their product.
  std::map<std::uint64_t, std::int32_t> gpus_slowed_by;      ///< The same for who has GPUs.
  std::map<std::uint64_t, std::int32_t> localize_slowed_by;  ///< The same for localisation alone.
  std::map<std::uint64_t, std::int64_t> gpus_taken_by;       ///< GPUs; `now` is without their sum.
  std::map<std::uint64_t, bool>
      leaving_by;  ///< Takes it out of service; true: at once, or its time of grace is over.
  std::map<std::uint64_t, std::string> unhealthy_by;   ///< What its health report says.
  std::map<std::uint64_t, std::string> disks_lost_by;  ///< The error of who would use them.
  Duration clock_offset{};                             ///< How far its clock is ahead.
  bool restart_nm = false;   ///< It was taken in again; its NM may still hear that it is to stop.
  std::int32_t nm_down = 0;  ///< Faults that keep its NM down.
  std::int32_t muted = 0;    ///< Faults that lose its NM's calls to the RM.
  std::int32_t localize_fails = 0;       ///< Faults that make every localisation fail; 0 = none.
  std::int32_t launch_fails = 0;         ///< The same for launches.
  std::int32_t localize_fails_next = 0;  ///< How many of the next localisations fail.
  std::int32_t launch_fails_next = 0;    ///< The same for launches.
  std::set<std::uint32_t> localize_failed_by;  ///< Faults behind these, over or not.
  std::set<std::uint32_t> launch_failed_by;    ///< The same for launches.
};

class NodeTable {
 public:
  /// Expands the scenario's node classes, in file order; nodes without a rack are dealt round
  /// robin.
  explicit NodeTable(const config::ClusterSpecConfig& cluster);

  /// Draws, for each node, the first port that is free there: it differs from node to node and from
  /// seed to seed, so that another task's address is never the own one by chance. All are `shift`
  /// higher, and begin again where there are no more.
  void DrawPorts(std::uint64_t seed, std::int32_t shift);

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(nodes_.size()); }
  [[nodiscard]] const NodeInfo& operator[](std::int32_t index) const {
    return nodes_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] NodeInfo& operator[](std::int32_t index) {
    return nodes_[static_cast<std::size_t>(index)];
  }
  /// By host name.
  [[nodiscard]] std::optional<std::int32_t> Find(std::string_view host) const;
  /// Every node with that label (or class name, or partition), in order.
  [[nodiscard]] std::vector<std::int32_t> WithLabel(std::string_view label) const;
  [[nodiscard]] std::vector<std::int32_t> InRack(std::string_view rack) const;
  [[nodiscard]] std::vector<std::int32_t> rack_indices() const;
  /// Largest amount of each resource on one node.
  [[nodiscard]] Resource largest() const;

 private:
  std::vector<NodeInfo> nodes_;
  struct HostHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view host) const {
      return std::hash<std::string_view>()(host);
    }
  };

  std::unordered_map<std::string, std::int32_t, HostHash, std::equal_to<>> by_host_;
};

/// The port that NodeManagers of the simulation name in their ids.
inline constexpr std::int32_t kNmPort = 8041;

}  // namespace tfyarn::sim
