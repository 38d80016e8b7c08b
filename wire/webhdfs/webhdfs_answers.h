// What WebHDFS answers, as values: JSON documents, and Java exceptions by their names.
//
// Source of the names: the exceptions of NamenodeWebHdfsMethods, DatanodeWebHdfs and what
// FSNamesystem throws (Hadoop 3.4); each that a comment marks (run) was seen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/hdfs.h"

namespace tfyarn::wire {

struct WebHdfsFile {
  hdfs::FileStatus status;
  std::int64_t id = 0;  ///< Of the inode: renaming keeps it, and no other file ever has it.
  std::string owner;    ///< "" = not said.
};

/// What may be done about a call that failed.
enum class WebHdfsRemedy {
  kNone,
  kRepeat,
  kWaitForWriter,  ///< A client's stream is open on the file: as kRepeat, for a caller that does
                   ///< not know whose.
  kOtherNameNode,  ///< This one is not the active one.
};

struct WebHdfsFailure {
  hdfs::HdfsError error;
  WebHdfsRemedy remedy = WebHdfsRemedy::kNone;
};

/// Of an answer with a status that is no success.
[[nodiscard]] WebHdfsFailure WebHdfsFailureOf(unsigned status, std::string_view body);

/// GETFILESTATUS; nullopt: no such document.
[[nodiscard]] std::optional<WebHdfsFile> ParseFileStatus(std::string_view body,
                                                         const std::string& path);
/// LISTSTATUS of a directory, or of a file, which lists itself.
[[nodiscard]] std::optional<std::vector<WebHdfsFile>> ParseFileStatuses(
    std::string_view body, const std::string& directory);
/// Extended attributes: bytes by name.
using WebHdfsAttributes = std::map<std::string, std::string>;

/// How a value is written in a request: 0x and hexadecimal digits.
[[nodiscard]] std::string AttributeText(std::string_view bytes);
/// GETXATTRS with encoding=hex. Attributes of another encoding are none of ours, and left out.
[[nodiscard]] std::optional<WebHdfsAttributes> ParseAttributes(std::string_view body);
/// {"boolean": ...}
[[nodiscard]] std::optional<bool> ParseBoolean(std::string_view body);

}  // namespace tfyarn::wire
