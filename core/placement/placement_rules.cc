#include "core/placement/placement_rules.h"

#include <algorithm>

namespace tfyarn::placement {
namespace {

bool Holds(const std::map<std::string, std::set<std::string>>& where, const std::string& place,
           const std::string& type) {
  const auto at = where.find(place);
  return at != where.end() && at->second.contains(type);
}

}  // namespace

void PlacementRules::SetType(const std::string& type, const PlacementSpec& spec) {
  specs_[type] = spec;
  for (const std::string& other : spec.avoid) {
    conflicts_.emplace(type, other);
    conflicts_.emplace(other, type);
  }
}

void PlacementRules::Occupy(const std::string& type, const std::string& host,
                            const std::string& rack) {
  types_on_host_[host].insert(type);
  types_in_rack_[rack].insert(type);
  rack_of_type_.emplace(type, rack);
}

bool PlacementRules::Constrains(const std::string& type) const {
  const auto spec = specs_.find(type);
  if (spec != specs_.end() && (spec->second.spread.has_value() || spec->second.pack_rack))
    return true;
  const auto conflict = conflicts_.lower_bound({type, std::string()});
  return conflict != conflicts_.end() && conflict->first == type;
}

bool PlacementRules::Conflict(const std::string& a, const std::string& b) const {
  return conflicts_.contains({a, b});
}

bool PlacementRules::Allows(const std::string& type, const std::string& host,
                            const std::string& rack) const {
  const auto spec = specs_.find(type);
  if (spec != specs_.end()) {
    if (spec->second.spread == PlacementScope::kNode && Holds(types_on_host_, host, type))
      return false;
    if (spec->second.spread == PlacementScope::kRack && Holds(types_in_rack_, rack, type))
      return false;
    const std::string* packed = PackedRack(type);
    if (packed != nullptr && *packed != rack) return false;
  }
  const auto here = types_on_host_.find(host);
  if (here == types_on_host_.end()) return true;
  return std::none_of(here->second.begin(), here->second.end(),
                      [&](const std::string& other) { return Conflict(type, other); });
}

const std::string* PlacementRules::PackedRack(const std::string& type) const {
  const auto spec = specs_.find(type);
  if (spec == specs_.end() || !spec->second.pack_rack) return nullptr;
  const auto rack = rack_of_type_.find(type);
  return rack == rack_of_type_.end() ? nullptr : &rack->second;
}

}  // namespace tfyarn::placement
