// Asks all daemons of a cluster for what `tfyarn doctor` judges.
#pragma once

#include <string>
#include <vector>

#include "apps/yarn/checks.h"
#include "apps/yarn/cluster_health.h"
#include "config/hadoop_settings.h"

namespace tfyarn::apps {

/// Asks one service after the other and judges each; waits some seconds for one without an answer.
class ClusterSurvey {
 public:
  explicit ClusterSurvey(const config::HadoopSettings& settings) : settings_(settings) {}

  [[nodiscard]] std::vector<Check> Run();

 private:
  void AskManagers();
  void AskNodes();
  void AskScheduler();
  void AskDaemons();
  /// Adds what the NodeManager at `web` says; one that does not answer adds nothing.
  void AskNode(const std::string& web, DaemonFacts& facts);
  void TryHdfs();
  void Add(std::vector<Check> checks);
  void NotChecked(const std::string& subject, const std::string& why);
  /// What the Date header of an answer says.
  void NoteClock(const std::string& name, const std::string& date);

  const config::HadoopSettings& settings_;
  std::vector<Check> checks_;
  std::vector<ClockFacts> clocks_;
  bool active_ = false;  ///< Some ResourceManager takes calls.
  Resource cluster_;     ///< Of all nodes that are up.
  bool gpus_ = false;
};

}  // namespace tfyarn::apps
