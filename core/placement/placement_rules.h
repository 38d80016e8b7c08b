// Which task types may be where, given which are where already: spread, pack, avoid.
//
// Only the rules and the occupants, not resources (inventory.h). Rules are between
// types: a rule of one job never concerns another job's containers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/job_spec.h"

namespace tfyarn::placement {

class PlacementRules {
 public:
  /// What the type's placement asks for; a type that is never named here has no wishes of its own.
  void SetType(const std::string& type, const PlacementSpec& spec);
  /// A container of the type is on that host, in that rack.
  void Occupy(const std::string& type, const std::string& host, const std::string& rack);

  /// True when the type has a rule, or another type avoids it.
  [[nodiscard]] bool Constrains(const std::string& type) const;
  /// Neither may be on a node with the other; true whichever of them says so.
  [[nodiscard]] bool Conflict(const std::string& a, const std::string& b) const;
  /// Whether one more container of the type may be there.
  [[nodiscard]] bool Allows(const std::string& type, const std::string& host,
                            const std::string& rack) const;
  /// The rack to which a packed type is bound by its occupants; nullptr when it is free to choose
  /// or not packed.
  [[nodiscard]] const std::string* PackedRack(const std::string& type) const;

 private:
  std::map<std::string, PlacementSpec> specs_;
  std::set<std::pair<std::string, std::string>> conflicts_;  // both orders
  std::map<std::string, std::set<std::string>> types_on_host_;
  std::map<std::string, std::set<std::string>> types_in_rack_;
  std::map<std::string, std::string> rack_of_type_;  // of its first occupant
};

}  // namespace tfyarn::placement
