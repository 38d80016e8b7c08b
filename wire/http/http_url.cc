#include "wire/http/http_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <charconv>

namespace tfyarn::wire {
namespace {

namespace urls = boost::urls;

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
  std::string_view authority = text.substr(0, end);
  HttpUrl url;
  const std::string_view rest = text.substr(end, text.find('#') - end);
  url.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return Bad(authority, "a bracket is not closed");
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
  }
  if (url.host.empty() || url.host.find('@') != std::string::npos) return Bad(text, "no host");
  if (port.empty()) return url;
  const char* last = port.data() + port.size();
  const auto [stop, failed] = std::from_chars(port.data() + 1, last, url.port);
  if (port[0] != ':' || failed != std::errc{} || stop != last || url.port == 0)
    return Bad(text, "the port is none");
  return url;
}

std::string HostText(const HttpUrl& url) {
  const bool is_v6 = url.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", url.host, is_v6 ? "]" : "", url.port);
}

std::string EncodePath(std::string_view path) {
  return urls::encode({path.data(), path.size()}, urls::unreserved_chars + '/');
}

std::string EncodeQueryValue(std::string_view value) {
  return urls::encode({value.data(), value.size()}, urls::unreserved_chars);
}

}  // namespace tfyarn::wire
