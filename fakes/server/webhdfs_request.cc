#include "fakes/server/webhdfs_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace tfyarn::fakes {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kPrefix = "/webhdfs/v1";
constexpr int kOctal = 8;
constexpr int kHex = 16;
constexpr std::int64_t kBlockSize = std::int64_t{128} << 20;

std::string Decoded(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, kHex).ptr ==
            text.data() + i + 3) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

template <class T>
std::optional<T> NumberIn(const std::string& text, int base) {
  T number{};
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || failed != std::errc{} || stop != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// {"NAME":value}
std::string Named(const char* name, ordered_json value) {
  ordered_json document;
  document[name] = std::move(value);
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json Json(const InodeStatus& status) {
  return {{"accessTime", status.directory ? 0 : status.modified.time_since_epoch().count()},
          {"blockSize", status.directory ? 0 : kBlockSize},
          {"childrenNum", status.children},
          {"fileId", status.id},
          {"group", "supergroup"},
          {"length", status.size},
          {"modificationTime", status.modified.time_since_epoch().count()},
          {"owner", status.owner},
          {"pathSuffix", status.name},
          {"permission", fmt::format("{:o}", status.permission)},
          {"replication", status.directory ? 0 : 1},
          {"storagePolicy", 0},
          {"type", status.directory ? "DIRECTORY" : "FILE"}};
}

/// Source: hdfs/web/resources/ExceptionHandler.java; what is no IOException is named here.
unsigned StatusOf(std::string_view exception) {
  constexpr unsigned kBadRequest = 400;
  constexpr unsigned kForbidden = 403;
  constexpr unsigned kNotFound = 404;
  if (exception == "java.io.FileNotFoundException") return kNotFound;
  // HadoopIllegalArgumentException is one of these.
  const bool argument = exception.ends_with("IllegalArgumentException") ||
                        exception == "org.apache.hadoop.fs.InvalidPathException" ||
                        exception == "java.lang.UnsupportedOperationException";
  return argument ? kBadRequest : kForbidden;
}

}  // namespace

WebHdfsRequest ParseWebHdfsRequest(std::string method, std::string target) {
  WebHdfsRequest request{.method = std::move(method), .target = std::move(target)};
  const std::string_view whole = request.target;
  const auto mark = std::min(whole.find('?'), whole.size());
  if (whole.starts_with(kPrefix))
    request.path = Decoded(whole.substr(kPrefix.size(), mark - kPrefix.size()), false);
  if (request.path.empty() && whole.substr(0, mark) == kPrefix) request.path = "/";
  std::string_view query = whole.substr(std::min(mark + 1, whole.size()));
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    request.parameters.emplace(Decoded(pair.substr(0, equals), true),
                               Decoded(pair.substr(std::min(equals + 1, pair.size())), true));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return request;
}

std::string WebHdfsRequest::Parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

std::string WebHdfsRequest::operation() const {
  std::string name = Parameter("op");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::uint32_t WebHdfsRequest::Permission(std::uint32_t fallback) const {
  return NumberIn<std::uint32_t>(Parameter("permission"), kOctal).value_or(fallback);
}

std::optional<std::int64_t> WebHdfsRequest::Number(const std::string& name) const {
  constexpr int kDecimal = 10;
  return NumberIn<std::int64_t>(Parameter(name), kDecimal);
}

std::string WebHdfsRequest::User() const {
  const std::string user = Parameter("user.name");
  return user.empty() ? "dr.who" : user;
}

WebHdfsAnswer BooleanAnswer(bool value) {
  return {.body = Named("boolean", value)};
}

WebHdfsAnswer StatusAnswer(const InodeStatus& status) {
  return {.body = Named("FileStatus", Json(status))};
}

WebHdfsAnswer ListAnswer(const std::vector<InodeStatus>& listed) {
  ordered_json statuses;
  statuses["FileStatus"] = ordered_json::array();
  for (const InodeStatus& status : listed) statuses["FileStatus"].push_back(Json(status));
  return {.body = Named("FileStatuses", std::move(statuses))};
}

WebHdfsAnswer AttributesAnswer(const HdfsAttributes& attributes) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, bytes] : attributes) {
    std::string value = "0x";
    for (const char byte : bytes) value += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    list.push_back({{"name", name}, {"value", value}});
  }
  return {.body = Named("XAttrs", std::move(list))};
}

std::optional<std::string> AttributeBytes(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 2; i < text.size(); i += 2) {
    const auto byte = NumberIn<unsigned>(std::string(text.substr(i, 2)), kHex);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

WebHdfsAnswer ExceptionAnswer(const HdfsException& exception) {
  const std::string simple = exception.name.substr(exception.name.rfind('.') + 1);
  return {.status = StatusOf(exception.name),
          .body = Named("RemoteException", {{"exception", simple},
                                            {"javaClassName", exception.name},
                                            {"message", exception.message}})};
}

}  // namespace tfyarn::fakes
