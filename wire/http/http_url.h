// Addresses of HTTP, as Hadoop's servers use them: written with percent signs, and taken apart
// again.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"
#include "core/model/host_port.h"

namespace tfyarn::wire {

struct HttpUrl {
  HostPort server;
  std::string target = "/";  ///< Path and query, as they stand in a request.
};

inline constexpr std::size_t kLongestUrl = std::size_t{64} << 10;

/// http://HOST[:PORT][/...]. Errors: kInvalidArgument for anything else, https included.
[[nodiscard]] Expected<HttpUrl> ParseHttpUrl(std::string_view text);
/// Bytes that a path may not have become %XX; slashes stay.
[[nodiscard]] std::string EncodePath(std::string_view path);
/// The same for one value of a query, slashes included.
[[nodiscard]] std::string EncodeQueryValue(std::string_view value);

}  // namespace tfyarn::wire
