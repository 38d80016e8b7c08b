// What the host reads from a fault's order: its numbers and words with their defaults, and the
// nodes and places that it strikes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/network.h"

namespace tfyarn::sim {

/// One instance of one fault.
[[nodiscard]] inline std::uint64_t KeyOf(const FaultOrder& order) {
  return (std::uint64_t{order.fault} << 32) | order.instance;
}

[[nodiscard]] inline double NumberOf(const FaultOrder& order, const std::string& name,
                                     double otherwise) {
  const auto entry = order.spec->numbers.find(name);
  return entry == order.spec->numbers.end() ? otherwise : entry->second;
}

[[nodiscard]] inline std::string WordOf(const FaultOrder& order, const std::string& name,
                                        std::string otherwise) {
  const auto entry = order.spec->words.find(name);
  return entry == order.spec->words.end() ? std::move(otherwise) : entry->second;
}

[[nodiscard]] inline std::int32_t PermilleOf(const FaultOrder& order, double otherwise) {
  return std::max(
      1, static_cast<std::int32_t>(std::lround(NumberOf(order, "factor", otherwise) * 1000.0)));
}

/// How much slower all of these together make it, in permille.
[[nodiscard]] inline std::int32_t ProductOf(const std::map<std::uint64_t, std::int32_t>& factors) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t product = 1000;
  for (const auto& [key, permille] : factors) product = std::min(kMost, product * permille / 1000);
  return static_cast<std::int32_t>(product);
}

/// The fault adds its factor (`otherwise` where it names none), or its end takes it away: how
/// much slower all of them together make it now.
[[nodiscard]] inline std::int32_t SlowBy(std::map<std::uint64_t, std::int32_t>& factors,
                                         const FaultOrder& order, double otherwise) {
  if (order.begins) {
    factors[KeyOf(order)] = PermilleOf(order, otherwise);
  } else {
    factors.erase(KeyOf(order));
  }
  return ProductOf(factors);
}

[[nodiscard]] inline std::vector<std::int32_t> NodesOf(const FaultOrder& order) {
  std::vector<std::int32_t> nodes;
  for (const Struck& struck : order.struck) {
    if (struck.node >= 0 && std::find(nodes.begin(), nodes.end(), struck.node) == nodes.end()) {
      nodes.push_back(struck.node);
    }
  }
  return nodes;
}

[[nodiscard]] inline std::set<Place> PlacesOf(const std::vector<Struck>& group) {
  std::set<Place> places;
  for (const Struck& struck : group) {
    switch (struck.kind) {
      case StruckKind::kRm:
        places.insert(kRmPlace);
        break;
      case StruckKind::kHdfs:
        places.insert(kHdfsPlace);
        break;
      case StruckKind::kNode:
      case StruckKind::kTask:
      case StruckKind::kAm:
      case StruckKind::kJob:
        if (struck.node >= 0) places.insert(struck.node);
        break;
    }
  }
  return places;
}

}  // namespace tfyarn::sim
