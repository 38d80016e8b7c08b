// One request of WebHDFS, taken apart; and answers as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/hdfs/name_node.h"

namespace tfyarn::fakes {

struct WebHdfsRequest {
  std::string method;  ///< "PUT"
  std::string target;  ///< As it came.
  std::string path;    ///< Of the file; "" when the target is not below /webhdfs/v1.
  std::map<std::string, std::string> parameters;

  /// In capitals, as callers may write it as they like.
  [[nodiscard]] std::string operation() const;
  /// "" when it is not given.
  [[nodiscard]] std::string Parameter(const std::string& name) const;
  [[nodiscard]] bool Flag(const std::string& name) const { return Parameter(name) == "true"; }
  /// Octal; `fallback` when it is not given or no number.
  [[nodiscard]] std::uint32_t Permission(std::uint32_t fallback) const;
  [[nodiscard]] std::optional<std::int64_t> Number(const std::string& name) const;
  /// The user who calls. Source: hadoop.http.staticuser.user.
  [[nodiscard]] std::string User() const;
  /// Whether a DataNode is meant.
  [[nodiscard]] bool AtDataNode() const { return parameters.count("namenoderpcaddress") > 0; }
};

[[nodiscard]] WebHdfsRequest ParseWebHdfsRequest(std::string method, std::string target);

struct WebHdfsAnswer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string location;
};

[[nodiscard]] WebHdfsAnswer BooleanAnswer(bool value);
/// {"FileStatus":...}
[[nodiscard]] WebHdfsAnswer StatusAnswer(const InodeStatus& status);
/// {"FileStatuses":...}
[[nodiscard]] WebHdfsAnswer ListAnswer(const std::vector<InodeStatus>& listed);
/// {"XAttrs":...}, hexadecimal.
[[nodiscard]] WebHdfsAnswer AttributesAnswer(const HdfsAttributes& attributes);
/// The bytes of 0x and hexadecimal digits; nullopt: it is written in another way. Source:
/// XAttrCodec.decodeValue, of which only this is understood here.
[[nodiscard]] std::optional<std::string> AttributeBytes(std::string_view text);
/// {"RemoteException":...}, with the status that goes with it.
[[nodiscard]] WebHdfsAnswer ExceptionAnswer(const HdfsException& exception);

}  // namespace tfyarn::fakes
