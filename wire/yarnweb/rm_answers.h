// What a ResourceManager says over HTTP and not by its calls: on which node each AM ran.
//
// Source: RMWebServices of Hadoop 3.4, and what a real ResourceManager answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"

namespace tfyarn::wire {

/// Where one AM process runs, or ran.
struct AttemptPlace {
  ContainerId container;
  std::string web;  ///< "host:port" of the node's web server.
  friend bool operator==(const AttemptPlace&, const AttemptPlace&) = default;
};

[[nodiscard]] std::string AttemptsTarget(const ApplicationId& application, const std::string& user);
/// In the order of the answer; an attempt that has no container yet is left out. nullopt: no such
/// document.
[[nodiscard]] std::optional<std::vector<AttemptPlace>> ParseAttempts(std::string_view body);

}  // namespace tfyarn::wire
