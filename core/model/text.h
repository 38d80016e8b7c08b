// Text of any described value, for golden files, notes and people: `StopProcess{attempt=1
// grace=15s}`.
//
// Members at their default are left out when they are empty strings, empty lists or nullopt, so
// that the text shows what was said. No program parses it; the machine forms are codec.h and
// core/trace.
#pragma once

#include <string>
#include <string_view>

#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"

namespace tfyarn {

/// "1m30s", "1.5s", "2h", "1d12h", "250ms", "200us", "-1s", "0s".
[[nodiscard]] std::string ToString(Duration d);
/// Seconds since the host's zero, "t=12.000001s".
[[nodiscard]] std::string ToString(Instant t);

template <class T>
void AppendText(std::string& out, const T& value);

/// True for values that AppendText leaves out of a struct.
template <class T>
[[nodiscard]] bool TextIsEmpty(const T& value) {
  if constexpr (std::is_same_v<T, std::string> || kIsVector<T> || kIsSharedList<T> || kIsMap<T>) {
    return value.empty();
  } else if constexpr (kIsOptional<T>) {
    return !value.has_value();
  } else {
    return false;
  }
}

template <class T>
void AppendText(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "yes" : "no";
  } else if constexpr (std::is_arithmetic_v<T>) {
    out += std::to_string(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out += '"';
    out += value;
    out += '"';
  } else if constexpr (SharedById<T>) {
    out += '#';
    out += std::to_string(value.shared_id().value);
  } else if constexpr (StrongNumber<T>) {
    out += std::to_string(value.value);
  } else if constexpr (std::is_same_v<T, ApplicationId> ||
                       std::is_same_v<T, ApplicationAttemptId> || std::is_same_v<T, ContainerId> ||
                       std::is_same_v<T, NodeId> || std::is_same_v<T, TaskId> ||
                       std::is_same_v<T, Resource> || std::is_same_v<T, Duration> ||
                       std::is_same_v<T, Instant>) {
    out += ToString(value);
  } else if constexpr (kIsTimePoint<T>) {
    out += std::to_string(value.time_since_epoch().count());
  } else if constexpr (DescribedEnum<T>) {
    out += KebabName(value);
  } else if constexpr (kIsOptional<T>) {
    if (value) {
      AppendText(out, *value);
    } else {
      out += "none";
    }
  } else if constexpr (kIsPair<T>) {
    AppendText(out, value.first);
    out += ':';
    AppendText(out, value.second);
  } else if constexpr (kIsVector<T> || kIsSharedList<T> || kIsMap<T>) {
    out += '[';
    bool first = true;
    for (const auto& element : value) {
      if (!first) out += ", ";
      first = false;
      AppendText(out, element);
    }
    out += ']';
  } else if constexpr (kIsVariant<T>) {
    std::visit([&](const auto& alternative) { AppendText(out, alternative); }, value);
  } else {
    static_assert(DescribedStruct<T>, "describe this type next to its definition");
    out += TypeName<T>();
    out += '{';
    bool first = true;
    ForEachMember(value, [&](std::string_view name, const auto& member) {
      if (TextIsEmpty(member)) return;
      if (!first) out += ' ';
      first = false;
      out += name;
      out += '=';
      AppendText(out, member);
    });
    out += '}';
  }
}

template <class T>
[[nodiscard]] std::string ToText(const T& value) {
  std::string out;
  AppendText(out, value);
  return out;
}

}  // namespace tfyarn
