#include "wire/webhdfs/webhdfs_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace tfyarn::wire {
namespace {

using hdfs::HdfsErrorCode;
using nlohmann::json;

constexpr int kDeepest = 16;
constexpr std::size_t kLongestMessage = 1000;

/// null when it is no JSON, or deeper than any answer is.
json Parse(std::string_view text) {
  bool too_deep = false;
  json document = json::parse(
      text,
      [&](int depth, json::parse_event_t, json&) {
        too_deep = too_deep || depth > kDeepest;
        return !too_deep;
      },
      false);
  return document.is_discarded() || too_deep ? json() : document;
}

/// A member, or null.
const json& Member(const json& object, const char* name) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string TextOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

struct Known {
  std::string_view exception;
  HdfsErrorCode code;
  WebHdfsRemedy remedy;
};

constexpr auto kNone = WebHdfsRemedy::kNone;
constexpr auto kRepeat = WebHdfsRemedy::kRepeat;
constexpr auto kKnown = std::to_array<Known>({
    {"FileNotFoundException", HdfsErrorCode::kNotFound, kNone},                // (run)
    {"FileAlreadyExistsException", HdfsErrorCode::kAlreadyExists, kNone},      // (run)
    {"ParentNotDirectoryException", HdfsErrorCode::kInvalidPath, kNone},       // (run)
    {"PathIsNotEmptyDirectoryException", HdfsErrorCode::kInvalidPath, kNone},  // (run)
    {"InvalidPathException", HdfsErrorCode::kInvalidPath, kNone},
    {"IllegalArgumentException", HdfsErrorCode::kInvalidPath, kNone},  // (run)
    {"UnsupportedOperationException", HdfsErrorCode::kInvalidPath, kNone},
    {"NSQuotaExceededException", HdfsErrorCode::kQuotaExceeded, kNone},
    {"DSQuotaExceededException", HdfsErrorCode::kQuotaExceeded, kNone},
    {"QuotaByStorageTypeExceededException", HdfsErrorCode::kQuotaExceeded, kNone},
    {"AccessControlException", HdfsErrorCode::kAccessDenied, kNone},  // (run)
    {"SecurityException", HdfsErrorCode::kAccessDenied, kNone},
    {"AuthorizationException", HdfsErrorCode::kAccessDenied, kNone},
    {"InvalidToken", HdfsErrorCode::kAccessDenied, kNone},
    {"SafeModeException", HdfsErrorCode::kSafeMode, kRepeat},
    {"StandbyException", HdfsErrorCode::kUnavailable, WebHdfsRemedy::kOtherNameNode},
    {"RetriableException", HdfsErrorCode::kUnavailable, WebHdfsRemedy::kOtherNameNode},
    // A client's stream is open; it ends with that client's connection. (run)
    {"AlreadyBeingCreatedException", HdfsErrorCode::kUnavailable, WebHdfsRemedy::kWaitForWriter},
    {"RecoveryInProgressException", HdfsErrorCode::kUnavailable, WebHdfsRemedy::kWaitForWriter},
    // The file was taken away while it was written.
    {"LeaseExpiredException", HdfsErrorCode::kLeaseLost, kRepeat},
});

/// Of 0x and hexadecimal digits.
std::optional<std::string> BytesOf(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2 - 1);
  for (std::size_t i = 2; i < text.size(); i += 2) {
    unsigned char byte = 0;
    const char* end = text.data() + i + 2;
    const auto [stop, failed] = std::from_chars(text.data() + i, end, byte, 16);
    if (failed != std::errc{} || stop != end) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

std::optional<WebHdfsFile> FileOf(const json& entry, const std::string& path) {
  const json& length = Member(entry, "length");
  const json& modified = Member(entry, "modificationTime");
  const json& id = Member(entry, "fileId");
  const std::string type = TextOf(Member(entry, "type"));
  if (type.empty() || !length.is_number_integer() || !modified.is_number_integer())
    return std::nullopt;
  return WebHdfsFile{.status = {.path = path,
                                .directory = type == "DIRECTORY",
                                .size = length.get<std::int64_t>(),
                                .modification_time = modified.get<std::int64_t>()},
                     .id = id.is_number_integer() ? id.get<std::int64_t>() : 0,
                     .owner = TextOf(Member(entry, "owner"))};
}

}  // namespace

WebHdfsFailure WebHdfsFailureOf(unsigned status, std::string_view body) {
  const json document = Parse(body);
  const json& remote = Member(document, "RemoteException");
  const std::string exception = TextOf(Member(remote, "exception"));
  std::string message = TextOf(Member(remote, "message"));
  // Behind the first line stands Java's stack.
  message.resize(std::min({message.find('\n'), message.size(), kLongestMessage}));
  WebHdfsFailure failure{.error = {.message = exception.empty()
                                                  ? fmt::format("HTTP status {}", status)
                                                  : fmt::format("{} ({})", message, exception)}};
  const auto* known = std::find_if(kKnown.begin(), kKnown.end(),
                                   [&](const Known& each) { return each.exception == exception; });
  if (known != kKnown.end()) {
    failure.error.code = known->code;
    failure.remedy = known->remedy;
    // A NameNode in safe mode that has others beside it says so.
    if (message.find("SafeModeException") != std::string::npos)
      failure.error.code = HdfsErrorCode::kSafeMode;
    return failure;
  }
  // Off, or no more for this file (run): there is no exception of their own for that.
  const bool of_attributes = message.find("XAttr") != std::string::npos;
  if (status == 401 || (status == 403 && exception.empty())) {
    failure.error.code = HdfsErrorCode::kAccessDenied;
  } else if (status == 404 && exception.empty()) {
    failure.error.code = HdfsErrorCode::kNotFound;
  } else if (of_attributes || (status < 500 && status != 403)) {
    failure.error.code = HdfsErrorCode::kInvalidPath;
  } else {
    // Any other IOException or a server's own bug: it may pass.
    failure.remedy = kRepeat;
  }
  return failure;
}

std::optional<WebHdfsFile> ParseFileStatus(std::string_view body, const std::string& path) {
  const json document = Parse(body);
  return FileOf(Member(document, "FileStatus"), path);
}

std::optional<std::vector<WebHdfsFile>> ParseFileStatuses(std::string_view body,
                                                          const std::string& directory) {
  const json document = Parse(body);
  const json& entries = Member(Member(document, "FileStatuses"), "FileStatus");
  if (!entries.is_array()) return std::nullopt;
  std::vector<WebHdfsFile> files;
  for (const json& entry : entries) {
    const std::string name = TextOf(Member(entry, "pathSuffix"));
    const bool at_root = directory.ends_with('/');
    auto file = FileOf(entry, name.empty() ? directory : directory + (at_root ? "" : "/") + name);
    if (!file) return std::nullopt;
    files.push_back(std::move(*file));
  }
  return files;
}

std::string AttributeText(std::string_view bytes) {
  std::string text = "0x";
  text.reserve(2 + 2 * bytes.size());
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<WebHdfsAttributes> ParseAttributes(std::string_view body) {
  const json document = Parse(body);
  const json& entries = Member(document, "XAttrs");
  if (!entries.is_array()) return std::nullopt;
  WebHdfsAttributes attributes;
  for (const json& entry : entries) {
    const std::string name = TextOf(Member(entry, "name"));
    auto bytes = BytesOf(TextOf(Member(entry, "value")));
    if (!name.empty() && bytes) attributes[name] = std::move(*bytes);
  }
  return attributes;
}

std::optional<bool> ParseBoolean(std::string_view body) {
  const json document = Parse(body);
  const json& value = Member(document, "boolean");
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

}  // namespace tfyarn::wire
