// What there is in a simulated cluster: nodes and the network between them, actors, containers, and
// jobs with their user processes.
//
// Records, which all parts of the simulator read, and change where it is theirs to do so; what
// happens to them is not here. No actor or job is found by a scan: each is in a table.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/scenario.h"
#include "core/model/client.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/trace/record.h"
#include "sim/actors.h"
#include "sim/network.h"
#include "sim/node_table.h"
#include "sim/run.h"
#include "sim/workload.h"

namespace tfyarn::sim {

/// One container on a node, from the NodeManager's Localize to its end. At most one of its
/// processes lives, the AM or the agent; nullptr: none yet, or it has ended.
struct ContainerRecord {
  std::int32_t node = 0;
  trace::JobIndex job;
  AmActor* am = nullptr;
  AgentActor* agent = nullptr;
};

/// One job, from its submission until a minute after its end.
struct JobRecord {
  trace::JobIndex index;
  std::shared_ptr<const config::JobConfig> config;
  std::shared_ptr<const JobSpec> spec;
  std::string name;
  ClientActor* client = nullptr;    ///< nullptr: its process has ended.
  AmActor* am = nullptr;            ///< The newest that lives; nullptr: none does.
  std::vector<std::uint32_t> ams;   ///< Actors of all that there were.
  std::vector<AgentActor*> agents;  ///< Living ones.
  std::vector<ApplicationId> applications;
  std::string staging_directory;
  ClusterFacts facts;
  WallTime surveyed{};  ///< When the client had the facts.
  std::unique_ptr<JobWorkload> workload;
  Instant workload_scheduled = kNever;
  /// When the files that an application's containers have in common are on a node.
  std::map<std::pair<ApplicationId, Place>, Instant> localized;
  bool ended = false;
};

class Cluster {
 public:
  Cluster(const config::Scenario& scenario, const RunOptions& options);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// The NodeManager of the node; nullptr: it is down.
  [[nodiscard]] NmActor* NmOn(std::int32_t node) const {
    return nm_of_node[static_cast<std::size_t>(node)];
  }
  /// The living AM of that attempt; nullptr: there is none, and its address is dead.
  [[nodiscard]] AmActor* AmOf(const JobRecord& job, const ApplicationAttemptId& attempt) const;
  /// nullptr: none lives in it.
  [[nodiscard]] AgentActor* AgentIn(const ContainerId& container) const;
  /// In order.
  [[nodiscard]] std::vector<ContainerId> ContainersOn(std::int32_t node) const;
  /// nullptr: the job is over and forgotten, or there was none.
  [[nodiscard]] JobRecord* JobAt(trace::JobIndex index) const;
  [[nodiscard]] JobRecord* JobOf(const ApplicationId& application) const;
  [[nodiscard]] JobRecord* JobNamed(std::string_view name) const;
  /// Empty: the job is over and forgotten.
  [[nodiscard]] std::string_view NameOf(trace::JobIndex index) const;
  /// In order of submission.
  [[nodiscard]] std::vector<JobRecord*> JobsInOrder() const;
  /// The RM and the job's AM can talk to the node and its NM.
  [[nodiscard]] bool ReachableFromMasters(const JobRecord& job, Place place) const;

  NodeTable nodes;
  Network network;
  Instant healed_at{};  ///< When a cut or a loss by fault has last ended.
  ActorTable<fakes::NodeManager> nms;
  ActorTable<client::JobClient> clients;
  ActorTable<am::ApplicationMaster> ams;
  ActorTable<agent::TaskAgent> agents;
  std::vector<NmActor*> nm_of_node;
  boost::unordered_flat_map<ContainerId, ContainerRecord> containers;
  /// By JobIndex.
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<JobRecord>> jobs;
  boost::unordered_flat_map<ApplicationId, std::uint32_t> job_of_application;
  boost::unordered_flat_map<std::string, std::uint32_t> job_by_name;
};

}  // namespace tfyarn::sim
