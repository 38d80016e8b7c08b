#include "wire/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/host_port.h"
#include "wire/am_agent_codec.h"

namespace tfyarn::wire {
namespace {

constexpr std::int64_t kMaxPort = 65535;

bool IsTypeCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

std::string TaskTypeFault(std::string_view type) {
  if (type.empty()) return "is empty";
  if (type.size() > kMaxTaskType)
    return fmt::format("has {} bytes; most are {}", type.size(), kMaxTaskType);
  if (type[0] < 'a' || type[0] > 'z' || !std::all_of(type.begin(), type.end(), IsTypeCharacter))
    return "has characters that no task type has (a-z, 0-9, _ and -)";
  return {};
}

std::string HostFault(std::string_view host) {
  if (host.size() > kMaxHost)
    return fmt::format("has {} bytes; most are {}", host.size(), kMaxHost);
  if (!std::all_of(host.begin(), host.end(), IsHostCharacter))
    return "has characters that no host name has";
  return {};
}

std::string AddressFault(std::string_view host, std::int64_t port) {
  if (port < 0 || port > kMaxPort) return fmt::format("has port {}; expected 0 to 65535", port);
  if (host.empty() && port != 0) return "has a port but no host";
  return HostFault(host);
}

}  // namespace tfyarn::wire
