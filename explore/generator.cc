#include "explore/generator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/scenario_table.h"
#include "explore/draw.h"
#include "explore/job_drawer.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::explore {
namespace {

constexpr int kHealthyPercent = 45;
constexpr int kHarmlessPercent = 55;   ///< Of those.
constexpr int kContendedPercent = 25;  ///< Of those with queues that need not be healthy.
/// What a harmless fault may cost beside its own time: calls that are repeated, agents that look
/// for their AM, an AM that starts again.
constexpr Duration kFaultCosts = 90s;
/// Hadoop's own times, and heartbeats that are waited for.
constexpr Duration kSlack = 2min;

/// Those that have a node; a fault wants no other.
std::vector<std::string> RackNames(std::int64_t racks, std::int64_t nodes) {
  std::vector<std::string> names;
  for (std::int64_t i = 1; i <= std::min(racks, nodes); ++i)
    names.push_back("r" + std::to_string(i));
  return names;
}

class ScenarioDrawer {
 public:
  explicit ScenarioDrawer(std::uint64_t seed)
      : seed_(seed), draw_(seed, "scenario"), swarm_(Swarm::Of(draw_)) {
    sketch_.healthy = draw_.Percent(kHealthyPercent);
    sketch_.harmless = sketch_.healthy && draw_.Percent(kHarmlessPercent);
    contended_ = wild() && swarm_.queues && draw_.Percent(kContendedPercent);
    swarm_.two_jobs = swarm_.two_jobs || contended_;
  }

  Node Finish() {
    Set(document_, "schema", Text("tfsim/v1"));
    Set(document_, "name", Text("explored"));
    Set(document_, "description",
        Text(sketch_.harmless  ? "Nothing goes wrong that must cost more than time."
             : sketch_.healthy ? "Every job is healthy, and must succeed."
                               : "Every job must come to an end."));
    Set(document_, "seed", Number(draw_.Whole(1, 1'000'000)));
    Set(document_, "horizon", Text(""));
    DrawCluster();
    DrawYarn();
    if (swarm_.delays && draw_.Percent(40)) {
      Set(document_, "hdfs", Map({{"latency", SomeDelay(100us, 500ms)}}));
      calls_ += 40 * longest_;
    }
    DrawJobs();
    const std::int64_t faults = sketch_.healthy ? draw_.Whole(0, 2) : draw_.Whole(0, 3);
    DrawnFaults drawn = DrawFaults(seed_, sketch_, faults);
    const auto count = static_cast<std::int64_t>(drawn.list.items.size());
    if (faults > 0) Set(document_, "faults", std::move(drawn.list));
    Set(document_, "horizon", Time(std::max<Duration>(drawn.ends, last_submit_) + bound_));
    Expect(start_ + calls_ + kSlack + drawn.lasts + count * (kFaultCosts + start_ + calls_));
    return std::move(document_);
  }

 private:
  bool wild() const { return !sketch_.healthy; }
  bool harmless() const { return sketch_.harmless; }

  /// A time, or a law around it.
  Node SomeDelay(Duration least, Duration most) {
    const Duration first = draw_.Time(least, most);
    longest_ = first * 3;
    if (draw_.Percent(50)) return Time(first);
    return Map({{"dist", Text("uniform")}, {"min", Time(first)}, {"max", Time(first * 3)}});
  }

  void Delay(Node& yarn, std::string_view key, int chance, Duration most) {
    if (!draw_.Percent(chance)) return;
    Set(yarn, key, SomeDelay(1ms, most));
    start_ += 2 * longest_;  // Of an AM, and of its tasks.
    starts_.push_back(longest_ / 2);
  }

  void DrawCluster() {
    // A healthy job must fit on what is left when one node is away.
    const std::int64_t nodes = draw_.Whole(wild() ? 1 : 2, 4);
    std::int64_t racks = 1;
    Node cluster = Map();
    if (draw_.Percent(30)) {
      racks = 2;
      Set(cluster, "racks", Number(racks));
    }
    const auto large = [&] { return !wild() || (!contended_ && draw_.Percent(55)); };
    const bool much_memory = large();
    Node resources = Map(
        {{"memory", Text(much_memory ? "64GiB" : "8GiB")}, {"vcores", Number(large() ? 32 : 4)}});
    gpus_ = swarm_.gpus;
    // Both jobs of a harmless scenario have room at once.
    if (gpus_) Set(resources, "gpus", Number(wild() ? draw_.Whole(1, 4) : harmless() ? 16 : 8));
    partition_ = swarm_.partitions && wild() && nodes > 1;
    Node classes = List();
    const std::int64_t first = partition_ ? nodes - 1 : nodes;
    classes.items.push_back(Map({{"name", Text("n")},
                                 {"count", Number(first)},
                                 {"labels", List({Text("any")})},
                                 {"resources", resources}}));
    if (partition_) {
      classes.items.push_back(
          Map({{"name", Text("q")}, {"partition", Text("p")}, {"resources", resources}}));
      sketch_.nodes.emplace_back("q");
    }
    for (std::int64_t i = 1; i <= first; ++i)
      sketch_.nodes.push_back(first == 1 ? "n" : "n-" + std::to_string(i));
    sketch_.racks = RackNames(racks, nodes);
    sketch_.gpus = gpus_;
    nodes_ = nodes;
    sketch_.nodes_for_ams = first;
    Set(cluster, "nodes", std::move(classes));
    if (swarm_.delays) {
      Node network = Map({{"latency", SomeDelay(50us, 200ms)}});
      calls_ += 80 * longest_;
      if (wild() && draw_.Percent(20)) Set(network, "loss", Text("0.02"));
      Set(cluster, "network", std::move(network));
    }
    Set(document_, "cluster", std::move(cluster));
  }

  void DrawYarn() {
    Node yarn = Map();
    if (wild() && swarm_.yarn) {
      const auto schedulers = fakes::AllSchedulers();
      const std::vector all(schedulers.begin(), schedulers.end());
      Set(yarn, "scheduler", Text(std::string(draw_.Of(all)->name)));
      if (draw_.Percent(30)) Set(yarn, "am_max_attempts", Number(draw_.Whole(1, 3)));
      if (draw_.Percent(30)) Set(yarn, "work_preserving_restart", Flag(false));
      if (draw_.Percent(30)) Set(yarn, "sigkill_delay", Time(draw_.Time(1ms, 5s)));
      if (draw_.Percent(20)) Set(yarn, "tokens", Map({{"nm", Text("30s")}, {"amrm", Text("45s")}}));
      if (draw_.Percent(20)) Set(yarn, "preemption_notice", Time(draw_.Time(10ms, 1min)));
      if (draw_.Percent(20)) Set(yarn, "offswitch_per_heartbeat", Number(draw_.Whole(1, 4)));
      if (draw_.Percent(20)) Set(yarn, "scheduling_wait", Time(draw_.Time(100ms, 2min)));
      if (draw_.Percent(20)) Set(yarn, "heartbeat", Map({{"nm", Time(draw_.Time(100ms, 2s))}}));
      if (draw_.Percent(20))
        Set(yarn, "minimum_allocation",
            Map({{"memory", Text(std::to_string(draw_.Whole(1, 3)) + "GiB")},
                 {"vcores", Number(1)}}));
    } else if (!wild()) {
      Set(yarn, "am_max_attempts", Number(8));
    }
    queues_ = {"default"};
    if (swarm_.queues && wild()) {
      const std::int64_t share = draw_.Whole(1, 6) * 10;
      Node queue =
          Map({{"path", Text("root.ml")}, {"capacity", Text(std::to_string(share) + "%")}});
      if (draw_.Percent(50)) Set(queue, "max_capacity", Text(std::to_string(share + 20) + "%"));
      Set(queue, "am_share", Text("50%"));
      Set(yarn, "queues", List({std::move(queue)}));
      queues_.emplace_back("ml");
      if (contended_ || draw_.Percent(30)) Set(yarn, "preemption", Flag(true));
    }
    // A node or an AM that is taken for lost costs a restart.
    if (swarm_.expiry && !harmless()) {
      Node expiry = Map();
      // The RM's own times, shorter than Hadoop's but above the beats that they count.
      // A NodeManager whose call is lost is silent for ten seconds.
      const Duration least = document_.FindPath("cluster.network.loss") != nullptr ? 1min : 5s;
      if (draw_.Percent(50)) Set(expiry, "nm", Time(draw_.Time(least, 10min)));
      // From an AM's launch on: its files, which delays and faults make slow, come in that time.
      if (wild() && draw_.Percent(50)) Set(expiry, "am", Time(draw_.Time(10s, 10min)));
      if (wild() && draw_.Percent(40)) {
        const Duration container = draw_.Time(10s, 10min);
        Set(expiry, "container", Time(container));
        hold_ = std::max<Duration>(container / 2, 1ms);
      }
      if (!expiry.entries.empty()) Set(yarn, "expiry", std::move(expiry));
    }
    if (swarm_.delays) {
      // Longer than some deadline, now and then.
      const bool slow = wild() && draw_.Percent(20);
      Delay(yarn, "localize", 50, slow ? Duration(10min) : Duration(20s));
      Delay(yarn, "launch", 50, slow ? Duration(10min) : Duration(10s));
      Delay(yarn, "am_launch", 30, 20s);
    }
    if (!yarn.entries.empty()) Set(document_, "yarn", std::move(yarn));
  }

  void DrawJobs() {
    constexpr Duration kExpiries = 10min + 15min + 10min;
    JobSurroundings around{.healthy = sketch_.healthy,
                           .harmless = sketch_.harmless,
                           .nodes = nodes_,
                           .gpus = gpus_,
                           .partition = partition_,
                           .queues = queues_,
                           .contended = contended_,
                           .expiries = kExpiries,
                           .starts = starts_,
                           .hold = hold_};
    Node jobs = List();
    const std::vector<std::string> names =
        swarm_.two_jobs ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a"};
    for (const std::string& name : names) {
      if (contended_) around.queues = {queues_[jobs.items.size() % queues_.size()]};
      DrawnJob job = DrawJob(draw_, swarm_, around, name);
      bound_ += job.bound;  // One may wait for the other.
      takes_.push_back(job.takes);
      last_submit_ = 2min;
      sketch_.any_times.insert(sketch_.any_times.end(), job.sketch.times.begin(),
                               job.sketch.times.end());
      sketch_.jobs.push_back(std::move(job.sketch));
      jobs.items.push_back(std::move(job.document));
    }
    Set(document_, "jobs", std::move(jobs));
  }

  /// `beside`: what may come to the time that a job's own work takes.
  void Expect(Duration beside) {
    Node rows = List();
    for (std::size_t i = 0; i < sketch_.jobs.size(); ++i) {
      Node status =
          wild() ? List({Text("SUCCEEDED"), Text("FAILED"), Text("KILLED")}) : Text("SUCCEEDED");
      Node row = Map({{"job", Text(sketch_.jobs[i].name)}, {"status", std::move(status)}});
      if (harmless()) {
        Set(row, "epochs", Number(1));
        Set(row, "restarts", Map({{"task", Number(0)}, {"gang", Number(0)}}));
        Set(row, "jct_seconds", Map({{"at_most", Number((takes_[i] + beside) / 1s + 1)}}));
      }
      rows.items.push_back(std::move(row));
    }
    Set(document_, "expect", std::move(rows));
  }

  std::uint64_t seed_;
  Draw draw_;
  Swarm swarm_;
  Sketch sketch_;
  Node document_ = Map();
  std::int64_t nodes_ = 1;
  bool gpus_ = false;
  bool partition_ = false;
  bool contended_ = false;  ///< Two jobs of two queues that want more than there is.
  std::vector<std::string> queues_;
  Duration hold_{};
  Duration longest_{};  ///< Of the delay that was drawn last.
  Duration start_{};    ///< Of an AM and its tasks, beside Hadoop's own times.
  std::vector<Duration> starts_;
  Duration calls_{};             ///< On slow ways, of a job's life.
  std::vector<Duration> takes_;  ///< Each job's own work.
  Duration bound_{};
  Duration last_submit_{};
};

}  // namespace

Node DrawScenario(std::uint64_t seed) {
  return ScenarioDrawer(seed).Finish();
}

Sketch SketchOf(const config::Scenario& scenario) {
  Sketch sketch{.nodes = config::NodeNames(scenario.cluster)};
  for (const config::NodeClass& node_class : scenario.cluster.nodes) {
    if (node_class.partition.empty()) sketch.nodes_for_ams += node_class.count;
  }
  const std::vector<std::string> racks = config::RacksOfNodes(scenario.cluster);
  const std::set<std::string> with_nodes(racks.begin(), racks.end());
  sketch.racks.assign(with_nodes.begin(), with_nodes.end());
  sketch.gpus = std::all_of(scenario.cluster.nodes.begin(), scenario.cluster.nodes.end(),
                            [](const config::NodeClass& of) { return of.resources.gpus > 0; });
  const config::JobNames jobs(scenario);
  for (std::string& name : jobs.All()) {
    const config::JobConfig* job = jobs.Find(name);
    if (job == nullptr || job->spec.tasks.empty()) continue;
    JobSketch one{.name = std::move(name), .ends_for_sure = job->spec.deadlines.run.has_value()};
    for (const TaskTypeSpec& type : job->spec.tasks) {
      one.types.push_back({.name = type.name, .instances = type.instances});
      for (const ExitRule& rule : job->spec.on_exit) {
        if (rule.task_type == type.name) one.named.push_back(one.types.back());
      }
    }
    sketch.jobs.push_back(std::move(one));
  }
  return sketch;
}

}  // namespace tfyarn::explore
