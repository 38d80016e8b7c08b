// Where something listens: the one type for a host and a port, its text and the parser of that
// text.
//
// Not a NodeId: that is YARN's name of a node, written as Hadoop writes it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/describe.h"
#include "core/model/error.h"

namespace tfyarn {

/// `host`: a name or a literal address, IPv6 without brackets. `port`: 0 to 65535, 0 = not known.
/// 32 bits, as the hash of a cluster spec and the digest of a trace include them all.
struct HostPort {
  std::string host;
  std::int32_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};
BOOST_DESCRIBE_STRUCT(HostPort, (), (host, port))

/// host:port; [host]:port for a literal address of IPv6.
[[nodiscard]] std::string ToString(const HostPort& address);

/// Reads what ToString writes, with a port from 1 to 65535. `default_port`: that of a text which
/// is only a host; without it such a text is an error. Errors: kInvalidArgument with the text, what
/// is wrong with it and what is expected.
[[nodiscard]] Expected<HostPort> ParseHostPort(
    std::string_view text, std::optional<std::int32_t> default_port = std::nullopt);

/// Whether a host may have it: letters, digits, '.', '-' and '_', and ':' and '%' of a literal
/// address of IPv6 with its zone.
[[nodiscard]] bool IsHostCharacter(char c);

}  // namespace tfyarn
