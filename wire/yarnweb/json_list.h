// Lists in Jersey's JSON: an element alone is written without its list.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace tfyarn::wire {

/// Calls `visit` for each element until it says false; returns whether it never did. False for what
/// is no list.
template <class Visit>
[[nodiscard]] bool ForEachOf(const nlohmann::json& list, Visit&& visit) {
  if (list.is_object()) return visit(list);
  return list.is_array() && std::all_of(list.begin(), list.end(), visit);
}

/// A member of an object; null where there is none.
[[nodiscard]] inline const nlohmann::json& MemberOf(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

/// "" for what is no text.
[[nodiscard]] inline std::string TextOf(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace tfyarn::wire
