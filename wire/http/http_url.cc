#include "wire/http/http_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <utility>

namespace tfyarn::wire {
namespace {

namespace urls = boost::urls;

constexpr std::int32_t kHttpPort = 80;

tl::unexpected<Error> Bad(std::string_view text, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no HTTP address of a server: {}", text.substr(0, 200), why));
}

}  // namespace

// Not Boost.URL's parse_uri(): it refuses the brackets of an IPv6 address in a query, which a
// NameNode's redirect may have (namenoderpcaddress), and is 230 kB of code.
Expected<HttpUrl> ParseHttpUrl(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (text.size() > kLongestUrl) return Bad(text, "it is too long");
  const bool odd =
      std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c == '\x7f'; });
  if (odd) return Bad(text, "it has blanks or bytes that must be written as %XX");
  if (!text.starts_with(kScheme)) return Bad(text, "expected: http://HOST:PORT/...");
  text.remove_prefix(kScheme.size());
  const auto end = std::min(text.find_first_of("/?#"), text.size());
  auto server = ParseHostPort(text.substr(0, end), kHttpPort);
  if (!server) return Bad(text, server.error().message);
  const std::string_view rest = text.substr(end, text.find('#') - end);
  return HttpUrl{.server = std::move(*server),
                 .target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest)};
}

std::string EncodePath(std::string_view path) {
  return urls::encode({path.data(), path.size()}, urls::unreserved_chars + '/');
}

std::string EncodeQueryValue(std::string_view value) {
  return urls::encode({value.data(), value.size()}, urls::unreserved_chars);
}

}  // namespace tfyarn::wire
