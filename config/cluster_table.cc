// Fields of the cluster and of its services: nodes, network, YARN, HDFS.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/names.h"
#include "config/resource_table.h"
#include "config/scenario_table.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::config {
namespace {

constexpr std::int32_t kMaxNodesInCluster = 100'000;

const Record<NodeClass>& NodeClassTable() {
  static const Record<NodeClass> table = [] {
    Record<NodeClass> record("node class",
                             "Equal nodes: NAME-1 to NAME-count, or just NAME when there is one.");
    record.Field("name", &NodeClass::name, PlainName(), "Name of the class.",
                 {.example = "gpu", .required = true});
    record.Field("count", &NodeClass::count, Count(1, kMaxNodesInCluster), "How many.",
                 {.also = {"instances", "nodes"}});
    record.Field("rack", &NodeClass::rack, PlainName(), "The rack all of them are in.",
                 {.example = "r1", .default_text = "dealt round robin"});
    record.Field(
        "labels", &NodeClass::labels, OneOrMore(PlainName()),
        "Words by which the selectors of faults find them. YARN's node label is `partition`.",
        {.example = "[gpu]"});
    record.Field("partition", &NodeClass::partition, PlainName(),
                 "YARN's exclusive node label (partition): only tasks with this `node_label` get "
                 "containers here.",
                 {.default_text = "the default partition"});
    record.Field("resources", &NodeClass::resources, Of(ResourceTable), "What each of them has.",
                 {.example = "{memory: 256GiB, vcores: 32, gpus: 8}", .required = true});
    record.Checked([](Decoder& decoder, const Node& node, const NodeClass& node_class) {
      if (node_class.resources.memory_mb == 0 || node_class.resources.vcores == 0) {
        decoder.Error(*node.Find("resources"), "`resources`: a node needs `memory` and `vcores`");
      }
    });
    return record;
  }();
  return table;
}

const Record<NetworkSpec>& NetworkTable() {
  static const Record<NetworkSpec> table = [] {
    Record<NetworkSpec> record("network", "How messages travel.");
    record.Field("latency", &NetworkSpec::latency, Random(LawUnit::kSeconds),
                 "One way, within a rack.");
    record.Field("cross_rack", &NetworkSpec::cross_rack, Random(LawUnit::kSeconds),
                 "One way, between racks.");
    record.Field("loss", &NetworkSpec::loss, Number(0, 1), "Probability that a message is lost.");
    return record;
  }();
  return table;
}

void CheckNodeNames(Decoder& decoder, const Node& node, const ClusterSpecConfig& cluster) {
  const Node& list = node.Nearest("nodes");
  std::int64_t total = 0;
  for (const NodeClass& node_class : cluster.nodes) total += node_class.count;
  if (total > kMaxNodesInCluster) {
    return decoder.Error(
        list, fmt::format("`nodes`: {} nodes are more than {}", total, kMaxNodesInCluster));
  }
  std::vector<std::string> racks;
  for (std::int32_t r = 1; r <= cluster.racks; ++r) racks.push_back(fmt::format("r{}", r));
  std::set<std::string> names;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    ClusterSpecConfig one;
    one.nodes.push_back(cluster.nodes[i]);
    for (const std::string& name : NodeNames(one)) {
      if (names.insert(name).second) continue;
      decoder.Error(list.items[i].Nearest("name"),
                    fmt::format("`name`: there are two nodes `{}`", name));
      break;
    }
    const std::string& rack = cluster.nodes[i].rack;
    if (!rack.empty() && std::find(racks.begin(), racks.end(), rack) == racks.end()) {
      const Decoder::Scope scope(decoder, "rack");
      decoder.Unknown(list.items[i].Nearest("rack"), "rack", rack, racks);
    }
  }
}

const Record<QueueSpec>& QueueTable() {
  static const Record<QueueSpec> table = [] {
    Record<QueueSpec> record("queue",
                             "A queue of the capacity scheduler; parents may be listed too.");
    record.Field("path", &QueueSpec::path, QueueName(), "Its full path, from `root`.",
                 {.example = "root.ml", .required = true});
    record.Field(
        "capacity", &QueueSpec::capacity_permille, Percent(),
        "Its share of its parent. What is missing to 100% is the share of `default` beside it.",
        {.example = "60%", .required = true});
    record.Field(
        "max_capacity", &QueueSpec::max_capacity_permille, Percent(),
        "YARN's maximum-capacity: how much of its parent it may use when others leave it free.");
    record.Field("user_limit", &QueueSpec::user_limit_permille, Percent(),
                 "YARN's minimum-user-limit-percent.");
    record.Custom("user_limit_factor", Number(0.001, 1000).info, "YARN's user-limit-factor.",
                  [](Decoder& decoder, const Node& node, QueueSpec& queue) {
                    double factor = 1;
                    Number(0.001, 1000).read(decoder, node, factor);
                    queue.user_limit_factor_permille =
                        static_cast<std::int32_t>(factor * 1000 + 0.5);
                  },
                  {.default_text = "1"});
    record.Field("am_share", &QueueSpec::am_share_permille, Percent(),
                 "YARN's maximum-am-resource-percent.");
    record.Checked([](Decoder& decoder, const Node& node, const QueueSpec& queue) {
      if (queue.capacity_permille > queue.max_capacity_permille) {
        decoder.Error(*node.Find("capacity"),
                      fmt::format("`capacity`: {} is above `max_capacity` {}",
                                  PermilleText(queue.capacity_permille),
                                  PermilleText(queue.max_capacity_permille)));
      }
      if (queue.path != "root" && !queue.path.starts_with("root.")) {
        decoder.Error(*node.Find("path"),
                      fmt::format("`path`: `{}` does not begin at the root", queue.path),
                      {fmt::format("did you mean root.{}?", queue.path)});
      }
    });
    return record;
  }();
  return table;
}

std::string ParentOf(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

void CheckQueues(Decoder& decoder, const Node& node, const YarnSpec& yarn) {
  const Node& list = node.Nearest("queues");
  std::set<std::string> paths;
  std::map<std::string, std::int32_t> shares;
  for (std::size_t i = 0; i < yarn.queues.size(); ++i) {
    const QueueSpec& queue = yarn.queues[i];
    if (!paths.insert(queue.path).second) {
      decoder.Error(list.items[i].Nearest("path"),
                    fmt::format("`path`: `{}` is here twice", queue.path));
    }
    if (queue.path == "root") continue;
    std::int32_t& share = shares[ParentOf(queue.path)];
    const bool was_within = share <= 1000;
    share += queue.capacity_permille;
    if (was_within && share > 1000) {
      decoder.Error(list.items[i].Nearest("capacity"),
                    fmt::format("`capacity`: the queues of {} have {} together",
                                ParentOf(queue.path), PermilleText(share)),
                    {"at most 100%"});
    }
  }
}

void CheckYarn(Decoder& decoder, const Node& node, const YarnSpec& yarn) {
  CheckQueues(decoder, node, yarn);
  // Sooner a heartbeat that only took its way would count as missing.
  if (yarn.nm_expiry < 2 * yarn.nm_heartbeat) {
    decoder.Error(
        node.Nearest("expiry.nm"),
        "`expiry.nm`: must be at least twice heartbeat.nm, or nodes that are well expire");
  }
  if (!IsZero(yarn.maximum_allocation) && yarn.maximum_allocation.memory_mb != 0 &&
      yarn.maximum_allocation.memory_mb < yarn.minimum_allocation.memory_mb) {
    decoder.Error(node.Nearest("maximum_allocation"),
                  "`maximum_allocation`: its memory is below minimum_allocation's");
  }
}

/// Periods, expiries and keys.
void AddYarnTimes(Record<YarnSpec>& record) {
  Record<YarnSpec> heartbeat("yarn heartbeat", "How often YARN's daemons report.");
  heartbeat.Field("nm", &YarnSpec::nm_heartbeat, Time(10ms, 1h),
                  "From one heartbeat of a NodeManager to the next "
                  "(yarn.resourcemanager.nodemanagers.heartbeat-interval-ms).");
  record.Group("heartbeat", std::move(heartbeat));
  Record<YarnSpec> expiry("yarn expiry", "After how much silence something counts as lost.");
  expiry.Field("nm", &YarnSpec::nm_expiry, Time(1ms),
               "A NodeManager (yarn.nm.liveness-monitor.expiry-interval-ms).");
  expiry.Field(
      "am", &YarnSpec::am_expiry, Time(2s),
      "An ApplicationMaster (yarn.am.liveness-monitor.expiry-interval-ms); its heartbeat comes "
      "each second.");
  expiry.Field("container", &YarnSpec::container_expiry, Time(1ms),
               "An allocated container that is not launched "
               "(yarn.resourcemanager.rm.container-allocation.expiry-interval-ms).");
  record.Group("expiry", std::move(expiry));
  Record<YarnSpec> tokens("yarn tokens", "How often the master keys of tokens roll.");
  tokens.Field("nm", &YarnSpec::nm_token_roll, Time(1s),
               "Of NMTokens, for calls from AM to NodeManager.");
  tokens.Field("amrm", &YarnSpec::amrm_token_roll, Time(1s),
               "Of AMRMTokens, for calls from AM to ResourceManager.");
  record.Group("tokens", std::move(tokens));
  record.Field("sigkill_delay", &YarnSpec::sigkill_delay, Time(),
               "From a NodeManager's SIGTERM to its SIGKILL "
               "(yarn.nodemanager.sleep-delay-before-sigkill.ms).");
  record.Field("scheduling_wait", &YarnSpec::scheduling_wait, Time(),
               "How long a restarted RM waits for its nodes to report before it allocates again "
               "(yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms).");
  record.Field("preemption_notice", &YarnSpec::preemption_notice, Time(),
               "From the preemption message to the AM until the container is killed.");
  record.Field("localize", &YarnSpec::localize, Random(LawUnit::kSeconds),
               "Localization of a container, besides what it fetches from HDFS.");
  record.Field("localize_again", &YarnSpec::localize_again,
               Maybe(Random(LawUnit::kSeconds), "as localize"),
               "The same of further containers of an application on a node: a real one fetches "
               "their common files once. They wait for it, and then so long.");
  record.Field("launch", &YarnSpec::launch, Random(LawUnit::kSeconds),
               "From the end of localization to the running process.");
  record.Field(
      "am_launch", &YarnSpec::am_launch, Maybe(Random(LawUnit::kSeconds), "as launch"),
      "The same of an ApplicationMaster, until it begins: it reads its job's facts and keys "
      "from HDFS first.");
}

/// How containers are given out.
void AddYarnScheduling(Record<YarnSpec>& record) {
  record.Field("minimum_allocation", &YarnSpec::minimum_allocation, Of(ResourceTable),
               "The smallest container (yarn.scheduler.minimum-allocation-mb, -vcores); requests "
               "are rounded up to multiples of it.",
               {.default_text = "{memory: 1GiB, vcores: 1}"});
  record.Field("maximum_allocation", &YarnSpec::maximum_allocation, Of(ResourceTable),
               "The largest container (yarn.scheduler.maximum-allocation-mb, -vcores).",
               {.default_text = "the largest node"});
  record.Field("offswitch_per_heartbeat", &YarnSpec::offswitch_per_heartbeat, Count(1, 10'000),
               "YARN's maximum-offswitch-assignments: containers on one node per heartbeat.");
  record.Field("node_locality_delay", &YarnSpec::node_locality_delay, Count(0, 1'000'000),
               "YARN's node-locality-delay: after so many missed opportunities a request for a "
               "node or rack is met elsewhere.");
}

}  // namespace

std::vector<std::string> NodeNames(const ClusterSpecConfig& cluster) {
  std::vector<std::string> names;
  for (const NodeClass& node_class : cluster.nodes) {
    for (std::int32_t i = 1; i <= node_class.count; ++i) {
      names.push_back(node_class.count == 1 ? node_class.name
                                            : fmt::format("{}-{}", node_class.name, i));
    }
  }
  return names;
}

std::vector<std::string> RacksOfNodes(const ClusterSpecConfig& cluster) {
  std::vector<std::string> racks;
  std::int32_t next = 0;
  for (const NodeClass& node_class : cluster.nodes) {
    for (std::int32_t i = 0; i < node_class.count; ++i) {
      racks.push_back(node_class.rack.empty() ? fmt::format("r{}", next++ % cluster.racks + 1)
                                              : node_class.rack);
    }
  }
  return racks;
}

const Record<ClusterSpecConfig>& ClusterTable() {
  static const Record<ClusterSpecConfig> table = [] {
    Record<ClusterSpecConfig> record("cluster",
                                     "The nodes, their racks and the network between them.");
    record.Field(
        "racks", &ClusterSpecConfig::racks, Count(1, 10'000),
        "How many racks: r1, r2, ... Nodes are dealt round robin unless their class names one.");
    record.Field("nodes", &ClusterSpecConfig::nodes, ListOf(Of(NodeClassTable)),
                 "The nodes, by class.",
                 {.example = "[{name: n, count: 4, resources: {memory: 64GiB, vcores: 16}}]",
                  .required = true});
    record.Field("network", &ClusterSpecConfig::network, Of(NetworkTable), "How messages travel.",
                 {.example = "{latency: 200us, loss: 0.001}"});
    record.Checked([](Decoder& decoder, const Node& node, const ClusterSpecConfig& cluster) {
      if (cluster.nodes.empty())
        return decoder.Error(node.Nearest("nodes"), "`nodes`: a cluster needs a node");
      CheckNodeNames(decoder, node, cluster);
    });
    return record;
  }();
  return table;
}

namespace {

std::vector<std::string> SchedulerNames() {
  std::vector<std::string> names;
  for (const fakes::SchedulerKind* kind : fakes::AllSchedulers()) names.emplace_back(kind->name);
  return names;
}

std::string SchedulerTexts() {
  std::string with_limits;
  std::string without;
  for (const fakes::SchedulerKind* kind : fakes::AllSchedulers()) {
    std::string& text = kind->has_limits ? with_limits : without;
    text += fmt::format("`{}`: {} ", kind->name, kind->text);
  }
  without.pop_back();
  return with_limits + "For comparison, without queue limits: " + without;
}

}  // namespace

const Record<YarnSpec>& YarnTable() {
  static const Record<YarnSpec> table = [] {
    Record<YarnSpec> record(
        "yarn",
        "The ResourceManager and the NodeManagers. Defaults are Hadoop's own, but the largest "
        "container is the largest node, the capacity scheduler uses the "
        "DominantResourceCalculator, and "
        "the recovery of ResourceManager (RM) and NodeManagers (NM) is on.");
    record.Field("scheduler", &YarnSpec::scheduler, Word(SchedulerNames()), SchedulerTexts());
    record.Field("queues", &YarnSpec::queues, ListOf(Of(QueueTable)), "Queues beside root.default.",
                 {.example = "[{path: root.ml, capacity: 60%, max_capacity: 100%}]"});
    record.Field("am_max_attempts", &YarnSpec::am_max_attempts, Count(1, 1000),
                 "Application attempts: how often an ApplicationMaster is started "
                 "(yarn.resourcemanager.am.max-attempts).");
    record.Field("work_preserving_restart", &YarnSpec::work_preserving_restart, Bool(),
                 "Containers survive a restart of the RM "
                 "(yarn.resourcemanager.work-preserving-recovery.enabled).");
    record.Field("preemption", &YarnSpec::preemption, Bool(),
                 "Queues take back containers that others use beyond their capacity.");
    AddYarnScheduling(record);
    AddYarnTimes(record);
    record.Checked(CheckYarn);
    return record;
  }();
  return table;
}

const Record<HdfsSpec>& HdfsTable() {
  static const Record<HdfsSpec> table = [] {
    Record<HdfsSpec> record("hdfs", "The file system.");
    record.Field("latency", &HdfsSpec::latency, Random(LawUnit::kSeconds), "Of one call.");
    record.Field("bandwidth", &HdfsSpec::bandwidth_bps, Bandwidth(), "Of one reader or writer.");
    record.Field("replicas", &HdfsSpec::replicas, Count(1, 100), "Copies of each block.");
    record.Field("quota", &HdfsSpec::quota_bytes, Maybe(Bytes(), "none"),
                 "Space for what jobs write.", {.example = "1TiB"});
    return record;
  }();
  return table;
}

}  // namespace tfyarn::config
