// The field table of scenario.yaml beyond its jobs.
#pragma once

#include "config/job_table.h"
#include "config/record.h"
#include "config/scenario.h"

namespace tfyarn::config {

/// `include` is not among the fields: it is gone when a tree is decoded, and only documented.
[[nodiscard]] const Record<Scenario>& ScenarioTable();

[[nodiscard]] const Record<ClusterSpecConfig>& ClusterTable();
[[nodiscard]] const Record<YarnSpec>& YarnTable();
[[nodiscard]] const Record<HdfsSpec>& HdfsTable();
[[nodiscard]] const Record<ArrivalSpec>& ArrivalTable();

/// A selector: `{node: n3}`, `{job: a, task: "worker:1"}`, `rm`, ...
[[nodiscard]] Type<Target> Selector();
[[nodiscard]] Type<FaultSpec> Fault();
[[nodiscard]] Type<Expectation> Expect();
[[nodiscard]] Type<SweepSpec> Sweep();

/// Names of all invariants that can be switched off.
[[nodiscard]] const std::vector<std::string>& InvariantNames();

/// Names of all nodes of a cluster, in order: gpu-1, gpu-2, cpu.
[[nodiscard]] std::vector<std::string> NodeNames(const ClusterSpecConfig& cluster);
/// The rack of each of them, in the same order.
[[nodiscard]] std::vector<std::string> RacksOfNodes(const ClusterSpecConfig& cluster);

/// What must hold between the parts of a scenario.
void CheckScenario(Decoder& decoder, const Node& node, const Scenario& scenario);
void CheckTargets(Decoder& decoder, const Node& node, const Scenario& scenario);
void CheckExpectations(Decoder& decoder, const Node& node, const Scenario& scenario);

/// The jobs that names may refer to: those listed, and `<prefix>-<n>` of arrivals.
class JobNames {
 public:
  explicit JobNames(const Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] const JobConfig* Find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> All() const;

 private:
  const Scenario& scenario_;
};

}  // namespace tfyarn::config
