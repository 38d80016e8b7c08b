// Where an application's logs can be read: on the nodes where they were written, and in HDFS, where
// NodeManagers collect them at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/yarn/web_questions.h"
#include "core/model/error.h"
#include "core/model/ids.h"
#include "wire/yarnweb/node_logs.h"

namespace tfyarn::apps {

using LogBytes = std::function<void(std::uint64_t offset, std::string_view bytes)>;

/// A container, and the web server of the node that has or had it, "host:port".
struct ContainerPlace {
  ContainerId container;
  std::string web;
};

/// Logs on nodes.
class NodeLogs {
 public:
  /// `user`: who asks.
  explicit NodeLogs(std::string user) : user_(std::move(user)) {}

  using Files = Expected<std::vector<wire::LogFile>>;
  /// In the order of the places. Errors, in words for the user: kNotFound where the node does not
  /// have them (any more), kUnavailable where it does not answer, kFailedPrecondition where it
  /// does not show them to this user.
  [[nodiscard]] std::vector<Files> List(const std::vector<ContainerPlace>& places) const;
  /// All from byte `from` to the file's end; perhaps some bytes before that, too. Errors as above.
  [[nodiscard]] Expected<void> Read(const ContainerPlace& place, const std::string& file,
                                    std::uint64_t from, std::uint64_t size,
                                    const LogBytes& bytes) const;

 private:
  std::string user_;
};

/// Logs in HDFS.
class CollectedLogs {
 public:
  CollectedLogs(const config::HadoopSettings& settings, const ApplicationId& application,
                const std::string& owner);

  struct Log {
    std::string path;  ///< Of the file that one node has written.
    std::uint64_t path_size = 0;
    ContainerId container;
    wire::LogFile file;
  };
  /// Every log file of every container. Errors: kNotFound when nothing is there (yet), and others;
  /// in words for the user.
  [[nodiscard]] Expected<std::vector<Log>> List();
  [[nodiscard]] Expected<void> Read(const Log& log, const LogBytes& bytes);

 private:
  [[nodiscard]] Expected<void> Visit(const std::string& path, std::uint64_t size,
                                     const std::function<bool(const Log&)>& wants,
                                     const LogBytes& bytes);

  HdfsQuestions hdfs_;
  std::vector<std::string> directories_;  ///< Where they may be.
  std::string unreadable_;                ///< Where they are in a format that is not read here.
};

}  // namespace tfyarn::apps
