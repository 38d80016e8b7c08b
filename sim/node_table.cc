#include "sim/node_table.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "sim/random.h"

namespace tfyarn::sim {

NodeTable::NodeTable(const config::ClusterSpecConfig& cluster) {
  const std::int32_t racks = std::max(cluster.racks, 1);
  std::int32_t next_rack = 0;
  std::map<std::string, std::int32_t> rack_numbers;
  for (std::int32_t rack = 0; rack < racks; ++rack)
    rack_numbers.emplace(fmt::format("r{}", rack + 1), rack);
  for (const config::NodeClass& node_class : cluster.nodes) {
    for (std::int32_t i = 1; i <= node_class.count; ++i) {
      NodeInfo node;
      node.id = {.host = node_class.count == 1 ? node_class.name
                                               : fmt::format("{}-{}", node_class.name, i),
                 .port = kNmPort};
      if (node_class.rack.empty()) {
        node.rack_index = next_rack++ % racks;
        node.rack = fmt::format("r{}", node.rack_index + 1);
      } else {
        node.rack = node_class.rack;
        const auto next = static_cast<std::int32_t>(rack_numbers.size());
        node.rack_index = rack_numbers.emplace(node.rack, next).first->second;
      }
      node.labels = node_class.labels;
      node.labels.push_back(node_class.name);
      if (!node_class.partition.empty()) node.labels.push_back(node_class.partition);
      node.partition = node_class.partition;
      node.capacity = node_class.resources;
      node.now = node.capacity;
      by_host_.emplace(node.id.host, size());
      nodes_.push_back(std::move(node));
    }
  }
}

// By name: other nodes in the scenario, or another order of them, change no port.
void NodeTable::DrawPorts(std::uint64_t seed, std::int32_t shift) {
  constexpr auto kPorts = static_cast<std::uint64_t>(kLastPort - kFirstPort + 1);
  for (NodeInfo& node : nodes_) {
    Random ports(seed, "ports", XXH3_64bits(node.id.host.data(), node.id.host.size()));
    const std::uint64_t drawn = ports.UniformInt(kPorts) + static_cast<std::uint64_t>(shift);
    node.next_port = kFirstPort + static_cast<std::int32_t>(drawn % kPorts);
  }
}

std::optional<std::int32_t> NodeTable::Find(std::string_view host) const {
  const auto entry = by_host_.find(host);
  if (entry == by_host_.end()) return std::nullopt;
  return entry->second;
}

std::vector<std::int32_t> NodeTable::WithLabel(std::string_view label) const {
  std::vector<std::int32_t> found;
  for (std::int32_t i = 0; i < size(); ++i) {
    const std::vector<std::string>& labels = (*this)[i].labels;
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) found.push_back(i);
  }
  return found;
}

std::vector<std::int32_t> NodeTable::InRack(std::string_view rack) const {
  std::vector<std::int32_t> found;
  for (std::int32_t i = 0; i < size(); ++i) {
    if ((*this)[i].rack == rack) found.push_back(i);
  }
  return found;
}

std::vector<std::int32_t> NodeTable::rack_indices() const {
  std::vector<std::int32_t> indices;
  for (const NodeInfo& node : nodes_) indices.push_back(node.rack_index);
  return indices;
}

Resource NodeTable::largest() const {
  Resource most;
  for (const NodeInfo& node : nodes_) most = ComponentMax(most, node.capacity);
  return most;
}

}  // namespace tfyarn::sim
