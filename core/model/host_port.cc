#include "core/model/host_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/parse_number.h"

namespace tfyarn {
namespace {

constexpr std::int32_t kLastPort = 65535;
/// A text may come from a peer: an error quotes no more of it.
constexpr std::size_t kQuoted = 200;

}  // namespace

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == ':' || c == '%';
}

std::string ToString(const HostPort& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", address.host, is_v6 ? "]" : "", address.port);
}

Expected<HostPort> ParseHostPort(std::string_view text, std::optional<std::int32_t> default_port) {
  const auto fail = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no address: {}; expected {}HOST:PORT, or [HOST]:PORT for IPv6",
                            text.substr(0, kQuoted), why, default_port ? "HOST, " : ""));
  };
  std::string_view host;
  std::string_view rest;
  const bool brackets = text.starts_with('[');
  if (brackets) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return fail("its bracket is not closed");
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
    if (!rest.empty() && rest[0] != ':') return fail("only a port may follow the bracket");
  } else {
    host = text.substr(0, text.find(':'));
    rest = text.substr(host.size());
    if (rest.find(':', 1) != std::string_view::npos) return fail("it has more than one colon");
  }
  if (host.empty()) return fail("it has no host");
  const bool good = std::all_of(host.begin(), host.end(), [brackets](char c) {
    return IsHostCharacter(c) && (brackets || c != '%');
  });
  if (!good) return fail("its host has characters that no host has");
  if (rest.empty()) {
    if (!default_port) return fail("it has no port");
    return HostPort{.host = std::string(host), .port = *default_port};
  }
  const auto port = ParseNumber<std::int32_t>(rest.substr(1));
  if (!port || *port < 1 || *port > kLastPort)
    return fail(fmt::format("its port is no number from 1 to {}", kLastPort));
  return HostPort{.host = std::string(host), .port = *port};
}

}  // namespace tfyarn
