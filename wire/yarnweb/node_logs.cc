#include "wire/yarnweb/node_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/parse_number.h"
#include "wire/http/http_url.h"
#include "wire/yarnweb/json_list.h"

namespace tfyarn::wire {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestHeader = std::size_t{64} << 10;
constexpr std::string_view kLengthLine = "\nLogLength:";
constexpr std::string_view kContentsLine = "\nLogContents:\n";

bool AddFile(const json& entry, std::vector<LogFile>& files) {
  const json& name = MemberOf(entry, "fileName");
  const auto size = ParseNumber<std::uint64_t>(TextOf(MemberOf(entry, "fileSize")));
  if (!name.is_string() || !size) return false;
  files.push_back({.name = name.get<std::string>(), .size = *size});
  return true;
}

/// What lies in HDFS already is not read from a node.
bool AddFiles(const json& info, std::vector<LogFile>& files) {
  const std::string kind = TextOf(MemberOf(info, "logAggregationType"));
  if (kind == "AGGREGATED") return true;
  const json& list = MemberOf(info, "containerLogInfo");
  if (list.is_null()) return !kind.empty();
  return ForEachOf(list, [&](const json& entry) { return AddFile(entry, files); });
}

}  // namespace

std::string ContainerLogsTarget(const ContainerId& container, const std::string& user) {
  return fmt::format("/ws/v1/node/containers/{}/logs?user.name={}", ToString(container),
                     EncodeQueryValue(user));
}

std::optional<std::vector<LogFile>> ParseContainerLogs(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  std::vector<LogFile> files;
  const bool good = ForEachOf(MemberOf(document, "containerLogsInfo"),
                              [&](const json& each) { return AddFiles(each, files); });
  if (!good) return std::nullopt;
  return files;
}

std::string LogTailTarget(const ContainerId& container, const std::string& file,
                          std::uint64_t bytes, const std::string& user) {
  return fmt::format("/ws/v1/node/containers/{}/logs/{}?size=-{}&user.name={}", ToString(container),
                     EncodeQueryValue(file), bytes, EncodeQueryValue(user));
}

LogTailReader::LogTailReader(std::uint64_t asked, Bytes bytes)
    : asked_(asked), bytes_(std::move(bytes)) {}

bool LogTailReader::Take(std::string_view piece) {
  if (length_) {
    Pass(piece);
    return true;
  }
  header_ += piece;
  return ReadHeader();
}

bool LogTailReader::ReadHeader() {
  const auto end = header_.find(kContentsLine);
  if (end == std::string::npos) return header_.size() <= kLongestHeader;
  const auto line = header_.rfind(kLengthLine, end);
  if (line == std::string::npos || end > kLongestHeader) return false;
  const auto from = line + kLengthLine.size();
  length_ = ParseNumber<std::uint64_t>(std::string_view(header_).substr(from, end - from));
  if (!length_) return false;
  left_ = std::min(asked_, *length_);
  offset_ = *length_ - left_;
  const std::string rest = std::exchange(header_, {}).substr(end + kContentsLine.size());
  Pass(rest);
  return true;
}

void LogTailReader::Pass(std::string_view piece) {
  piece = piece.substr(0, left_);
  if (piece.empty()) return;
  bytes_(offset_, piece);
  offset_ += piece.size();
  left_ -= piece.size();
}

}  // namespace tfyarn::wire
