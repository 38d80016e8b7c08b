// On which nodes an application's containers run, or ran.
//
// The ResourceManager says where AMs ran and where containers run now; where others ran, an AM's
// own log says, which is on its node and later in HDFS.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/task_lines.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/log_sources.h"
#include "apps/yarn/started_containers.h"

namespace tfyarn::apps {

class ContainerPlaces {
 public:
  ContainerPlaces(const config::HadoopSettings& settings, ClusterQuestions& cluster,
                  const NodeLogs& nodes, const ApplicationId& application)
      : settings_(settings), cluster_(cluster), nodes_(nodes), application_(application) {}

  /// All that are known now, by container. What cannot be asked is left out, and `problem` says
  /// why.
  [[nodiscard]] std::vector<ContainerPlace> Find();
  /// The same without a call to the cluster.
  [[nodiscard]] std::vector<ContainerPlace> Known() const;
  /// Up to where an AM's own log was read; nullopt: it is no AM that is known.
  [[nodiscard]] std::optional<std::uint64_t> ReadOf(const ContainerId& am) const;
  /// A piece of an AM's own log, wherever it was found.
  void TakeAmLog(const ContainerId& am, std::uint64_t offset, std::string_view bytes);
  /// "" = all have answered.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  /// An AM's own log, as far as it was read.
  struct AmLog {
    std::uint64_t next = 0;
    cli::LineCutter lines;
  };

  void FindAms();
  void FindRunning();
  void ReadAmLogs();
  void Learn(const StartedContainer& started);
  [[nodiscard]] std::string WebOf(const NodeId& node);

  const config::HadoopSettings& settings_;
  ClusterQuestions& cluster_;
  const NodeLogs& nodes_;
  ApplicationId application_;
  std::map<ContainerId, std::string> places_;
  std::map<ContainerId, AmLog> ams_;
  std::optional<std::map<NodeId, std::string>> webs_;
  std::string problem_;
};

}  // namespace tfyarn::apps
