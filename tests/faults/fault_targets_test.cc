// What each kind of fault strikes, for every kind and every form of a target: two forms that name
// the same things make the same run. And that a fault that strikes nothing is an error of the
// scenario or said in the verdict. What an effect is, fault_effects_test.cc has.
//
// The table is complete by construction: kinds come from config::FaultKinds, forms from the values
// of config::TargetKind; a form that the loader takes for a kind has to equal one that is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/byte_source.h"
#include "config/diagnostics.h"
#include "config/fault_kinds.h"
#include "config/load.h"
#include "core/model/text.h"
#include "tests/unit/sim/small_run.h"

namespace tfyarn::sim::fault_targets_test {
namespace {

/// The ApplicationMaster and worker:0 are on n-1, worker:1 is on m, alone in its rack and under its
/// label. From 40 s on containers and processes are lost, so that launches, localizations, messages
/// and calls are there to be struck.
constexpr const char* kScenario = R"(name: targets
horizon: 2h
cluster:
  racks: 2
  nodes:
    - {name: n, count: 2, rack: r1, labels: [any, first], resources: {memory: 16GiB, vcores: 8, gpus: 2}}
    - {name: m, rack: r2, labels: [any, third], resources: {memory: 16GiB, vcores: 8, gpus: 2}}
yarn: {expiry: {nm: 10s, am: 60s}}
jobs:
  - name: a
    tasks:
      worker: {instances: 2, memory: 2GiB, vcores: 1, gpus: 1, placement: {spread: node}}
    retries: {user: 50, infrastructure: 50}
    am: {attempts: 4}
    training: {steps: 1200, step_time: 100ms, checkpoint: {every: 10s, cost: 1ms}}
faults:
  - {kind: container_lost, at: 40s, target: {job: a, task: "worker:1"}}
  - {kind: container_exit, at: 60s, target: {job: a, task: "worker:0"}, exit: 3}
)";

std::string With(const std::vector<std::string>& faults) {
  std::string text = kScenario;
  for (const std::string& fault : faults) text += "  - {" + fault + "}\n";
  return text;
}

/// Everything that happened but the faults themselves.
std::string Story(const std::vector<std::string>& faults) {
  const SmallRun run(With(faults));
  std::string story;
  for (const trace::TraceRecord& record : run.records()) {
    if (std::holds_alternative<trace::RunStarted>(record.fact) ||
        std::holds_alternative<trace::FaultBegan>(record.fact) ||
        std::holds_alternative<trace::FaultEnded>(record.fact))
      continue;
    story += ToText(record) + "\n";
  }
  return story;
}

/// The first line that differs; empty when none does.
std::string Difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto line = [](const std::string& text, std::string::const_iterator from) {
    while (from != text.begin() && *(from - 1) != '\n') --from;
    return std::string(from, std::find(from, text.end(), '\n'));
  };
  return line(a, at.first) + "\n" + line(b, at.second);
}

/// What a kind needs beside a target and a time, and values that show.
std::string Parameters(const config::FaultKind& kind) {
  static const std::map<std::string, std::string> more = {
      {"drop", ", message: ProcessEnded, nth: 0"},
      {"delay", ", message: ProcessEnded, nth: 0"},
      {"duplicate", ", message: ProcessEnded, nth: 0"},
      {"rm_drop_response", ", count: 40"},
      {"rm_duplicate_response", ", count: 40"},
      {"loss", ", loss: 1"},
      {"latency", ", delay: 2s"},
      {"reorder", ", by: 4s"},
      {"partition", ""},
      {"container_exit", ", exit: 9"},
      {"clock_skew", ", offset: 20m"},
      {"clock_jump", ", offset: 20m"},
      {"disk_full", ", noticed: 1s"},
      {"disks_failed", ", noticed: 1s"},
      {"hdfs_slow", ", factor: 300"}};
  const auto found = more.find(kind.name);
  return found == more.end() ? "" : found->second;
}

std::string FaultOf(const config::FaultKind& kind, const std::string& target,
                    const std::string& at = "38s", const std::string& lasts = "30s") {
  std::string text = "kind: " + kind.name + ", at: " + at;
  if (!target.empty()) text += ", target: " + target;
  if (kind.lasts != config::ForRule::kNever) text += ", for: " + lasts;
  return text + Parameters(kind);
}

/// Forms that name the same; the first is the plainest.
using Forms = std::vector<std::string>;

/// Each form has a home here: a new value of TargetKind does not compile without one.
std::vector<Forms> FormsOf(config::TargetKind kind) {
  switch (kind) {
    case config::TargetKind::kNode:
      return {{"{node: m}", "{node: m}"}};
    case config::TargetKind::kRack:
      return {{"{node: m}", "{rack: r2}"}, {"{label: first}", "{rack: r1}"}};
    case config::TargetKind::kLabel:
      return {{"{node: m}", "{label: third}"}, {"nodes", "{label: any}"}};
    case config::TargetKind::kTask:
      return {{"{job: a}", "{job: a}"},
              {"{job: a, task: \"worker:1\"}", "{random: 1, of: {job: a, task: \"worker:1\"}}"},
              {"{job: a}", "{job: a, task: worker}"}};
    case config::TargetKind::kAm:
      return {{"{am: a}", "{am: a}"}, {"{am: a}", "{random: 1, of: {am: a}}"}};
    case config::TargetKind::kRm:
      return {{"rm", ""}};
    case config::TargetKind::kHdfs:
      return {{"hdfs", ""}};
    case config::TargetKind::kRandom:
      return {{"{node: m}", "{random: 1, of: {label: third}}"},
              {"{label: first}", "{random: 2, of: {rack: r1}}"},
              {"nodes", "{random: 3}"},
              {"nodes", "{random: 3, of: nodes}"},
              {"{job: a}", "{random: 2, of: {job: a}}"},
              {"{job: a}", "{random: 9, of: {job: a}}"},
              {"{job: a, task: \"worker:1\"}", "{random: 1, of: {job: a, task: \"worker:1\"}}"}};
    case config::TargetKind::kFraction:
      return {{"{node: m}", "{fraction: 1, of: {label: third}}"},
              {"nodes", "{fraction: 1}"},
              {"{label: first}", "{fraction: 1, of: {rack: r1}}"},
              {"{job: a}", "{fraction: 1, of: {job: a}}"}};
    case config::TargetKind::kAllNodes:
      return {{"nodes", "{label: any}"}};
  }
  return {};
}

/// Forms that mean the node of something, for faults of nodes.
const std::vector<Forms>& NodesOfThings() {
  static const std::vector<Forms> forms = {
      {"{node: m}", "{job: a, task: \"worker:1\"}"},
      {"{node: n-1}", "{am: a}"},
      {"{node: n-1}", "{job: a, task: \"worker:0\"}"},
      {"{node: m}", "{random: 1, of: {job: a, task: \"worker:1\"}}"},
      {"{node: n-1}", "{fraction: 1, of: {am: a}}"}};
  return forms;
}

std::vector<Forms> AllForms(const config::FaultKind& kind) {
  std::vector<Forms> all;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<config::TargetKind>>(
      [&](auto described) {
        for (const Forms& forms : FormsOf(described.value)) all.push_back(forms);
      });
  if (kind.target == config::FaultTarget::kNode)
    all.insert(all.end(), NodesOfThings().begin(), NodesOfThings().end());
  return all;
}

bool Loads(const std::string& fault) {
  return config::LoadScenarioText(With({fault}), "s").has_value();
}

TEST(FaultTargetsTest, FormsThatNameTheSameStrikeTheSame) {
  const std::string undisturbed = Story({});
  for (const config::FaultKind& kind : config::FaultKinds()) {
    if (kind.target == config::FaultTarget::kGroups ||
        kind.target == config::FaultTarget::kRecorded ||
        kind.needs == config::FaultNeeds::kSuspendedClient)
      continue;
    std::size_t compared = 0;
    bool shows = false;
    for (const Forms& forms : AllForms(kind)) {
      if (!Loads(FaultOf(kind, forms[1]))) continue;
      // Without a target a fault of one service strikes that.
      if (forms[1].empty() && !Loads(FaultOf(kind, forms[0]))) continue;
      ASSERT_TRUE(Loads(FaultOf(kind, forms[0])))
          << kind.name << " takes " << forms[1] << " and not " << forms[0];
      const std::string plain = Story({FaultOf(kind, forms[0])});
      EXPECT_EQ(Difference(plain, Story({FaultOf(kind, forms[1])})), "")
          << kind.name << ": " << forms[0] << " and " << forms[1];
      shows = shows || plain != undisturbed;
      ++compared;
    }
    EXPECT_TRUE(shows) << kind.name << " shows nothing";
    EXPECT_GT(compared, 0U) << kind.name;
  }
}

// ---------------------------------------------------------------- ends

/// A target that every fault of the kind may have: the plainest.
std::string PlainTarget(const config::FaultKind& kind) {
  // Another fault may move a task to another node, and these leave the nodes up.
  static const std::set<std::string> everywhere = {"slow_node",   "clock_skew",    "gpu_slow",
                                                   "launch_fail", "localize_fail", "localize_slow",
                                                   "drop",        "delay",         "duplicate"};
  if (everywhere.contains(kind.name)) return "nodes";
  switch (kind.target) {
    case config::FaultTarget::kNode:
    case config::FaultTarget::kCaller:
      return "{node: m}";
    case config::FaultTarget::kTask:
    case config::FaultTarget::kJob:
      return "{job: a}";
    case config::FaultTarget::kAm:
      return "{am: a}";
    case config::FaultTarget::kRm:
    case config::FaultTarget::kHdfs:
    case config::FaultTarget::kGroups:
    case config::FaultTarget::kRecorded:
      return "";
  }
  return "";
}

std::string Lasting(const config::FaultKind& kind, const std::string& at,
                    const std::string& lasts) {
  std::string text = FaultOf(kind, PlainTarget(kind), at, lasts);
  if (kind.name == "partition") text += ", between: [{node: m}]";
  return text;
}

std::vector<const config::FaultKind*> KindsThatLast() {
  std::vector<const config::FaultKind*> kinds;
  for (const config::FaultKind& kind : config::FaultKinds()) {
    if (kind.lasts != config::ForRule::kNever) kinds.push_back(&kind);
  }
  return kinds;
}

/// Two of these together do more than one, or are declared once more; fault_effects_test.cc has
/// rows for that.
const std::set<std::string>& Adding() {
  static const std::set<std::string> kinds = {
      "slow_node",  "localize_slow", "latency", "delay",        "duplicate", "hdfs_slow",
      "clock_skew", "reorder",       "rm_slow", "gpu_scarcity", "gpu_lost",  "gpu_slow"};
  return kinds;
}

/// Starts at which the kind has something to disturb, and goes on having it. A hang concerns only
/// the processes of its beginning: those that start after the loss at 40 s.
int StartOf(const config::FaultKind& kind) {
  return kind.name == "hang" ? 46 : 38;
}

std::string Seconds(double seconds) {
  return std::to_string(static_cast<int>(seconds * 1000)) + "ms";
}

TEST(FaultTargetsTest, TwoOfAKindLastUntilTheLaterEnd) {
  for (const config::FaultKind* kind : KindsThatLast()) {
    if (Adding().contains(kind->name)) continue;
    const int start = StartOf(*kind);
    const auto lasting = [&](double at, double lasts) {
      return Lasting(*kind, Seconds(start + at), Seconds(lasts));
    };
    const std::string one = Story({lasting(0, 12)});
    EXPECT_EQ(Difference(one, Story({lasting(0, 12), lasting(3, 5)})), "")
        << kind->name << " within another";
    EXPECT_EQ(Difference(one, Story({lasting(0, 8), lasting(5, 7)})), "")
        << kind->name << " one after another";
  }
}

/// Pairs in which the first has nothing left to disturb once the second has struck.
bool LeavesNothingTo(const std::string& kind, const std::string& other) {
  static const std::set<std::pair<std::string, std::string>> pairs = {
      {"hang", "node_decommission"},
      {"hang", "gpu_lost"},
      {"client_suspend", "client_lost"},
      {"localize_slow", "node_decommission"}};  // The files are on the other node by then.
  return pairs.contains({kind, other});
}

// The first lasts on when the second ends: it is not as if it had ended then.
TEST(FaultTargetsTest, NoFaultEndsAnother) {
  for (const config::FaultKind* kind : KindsThatLast()) {
    const int start = StartOf(*kind);
    const std::string whole = Lasting(*kind, Seconds(start), "30s");
    const std::string cut = Lasting(*kind, Seconds(start), "1s");
    EXPECT_NE(Difference(Story({whole}), Story({cut})), "") << kind->name << ": its end shows";
    for (const config::FaultKind* other : KindsThatLast()) {
      const std::string within = Lasting(*other, Seconds(start + 0.2), "800ms");
      if (LeavesNothingTo(kind->name, other->name)) continue;
      EXPECT_NE(Difference(Story({whole, within}), Story({cut, within})), "")
          << other->name << " within " << kind->name;
    }
  }
}

// ---------------------------------------------------------------- nothing to strike

TEST(FaultTargetsTest, WhatIsNotInTheScenarioIsAnError) {
  for (const config::FaultKind& kind : config::FaultKinds()) {
    for (const char* target :
         {"{node: x}", "{rack: r9}", "{label: none}", "{job: b}", "{job: a, task: \"worker:2\"}",
          "{job: a, task: ps}", "{am: b}", "{random: 1, of: {label: none}}",
          "{fraction: 1, of: {job: b}}", "{random: 1, of: {job: a, task: \"ps:0\"}}"}) {
      EXPECT_FALSE(Loads(FaultOf(kind, target))) << kind.name << " " << target;
    }
  }
  for (const char* between : {"{node: x}", "{rack: r9}", "{label: none}", "{job: b}", "{am: b}"})
    EXPECT_FALSE(Loads(std::string("kind: partition, at: 1s, between: [") + between + "]"));
}

/// What these name is there; it may be that no machine calls it, or that a second answer says
/// nothing new.
bool IsThereUnasked(const config::FaultKind& kind) {
  static const std::set<std::string> kinds = {
      "clock_skew", "gpu_slow",      "disk_full", "disks_failed",         "node_unhealthy",
      "slow_node",  "localize_slow", "rm_pause",  "rm_duplicate_response"};
  return kinds.contains(kind.name) || kind.target == config::FaultTarget::kHdfs;
}

TEST(FaultTargetsTest, WhatIsNotThereThenIsSaid) {
  struct Way {
    std::string name;
    std::string at;
    std::vector<std::string> before;
  };
  const std::vector<Way> ways = {
      {"before the job runs", "100ms", {}},
      {"after it has ended", "2000s", {}},
      {"on a node that is down", "38s", {"kind: node_crash, at: 30s, target: {node: m}"}},
      {"while the ResourceManager is down", "38s", {"kind: rm_restart, at: 30s, for: 60s"}}};
  for (const config::FaultKind& kind : config::FaultKinds()) {
    if (kind.name == "trace") continue;  // Its nodes are those of the cluster.
    for (const Way& way : ways) {
      std::vector<std::string> faults = way.before;
      const std::string without = Story(faults);
      faults.push_back(Lasting(kind, way.at, "1s"));
      const bool nothing = Story(faults) == without;
      const SmallRun run(With(faults));
      const auto& idle = run.result.faults_without_effect;
      const std::size_t index = 2 + way.before.size();
      const bool said = std::any_of(idle.begin(), idle.end(),
                                    [&](const auto& fault) { return fault.index == index; });
      if (nothing && !IsThereUnasked(kind)) {
        EXPECT_TRUE(said) << kind.name << " " << way.name << " does nothing, in silence";
      }
      // The capacity of a node is declared also while it is down.
      if (!nothing && kind.name != "gpu_scarcity" && kind.name != "gpu_lost") {
        EXPECT_FALSE(said) << kind.name << " " << way.name << " does something";
      }
    }
  }
}

TEST(FaultTargetsTest, ATrapThatNothingRunsIntoIsSaid) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kind: drop, message: ProcessEnded, nth: 9, at: 1s", "no such message came"},
      {"kind: rm_drop_response, method: SubmitApplication, at: 30s", "no such message came"},
      {"kind: launch_fail, at: 70s, target: {node: m}", "nothing was started there"},
      {"kind: localize_fail, at: 70s, target: {node: m}, for: 1s", "nothing was started there"},
      {"kind: port_in_use, at: 70s, target: {job: a, task: \"worker:0\"}",
       "no process of it started"},
      {"kind: hang, target: {job: a}, when: {job: a, append: 90}",
       "what it waits for did not come"}};
  for (const auto& [fault, why] : cases) {
    const SmallRun run(With({fault}));
    ASSERT_EQ(run.result.faults_without_effect.size(), 1U) << fault;
    EXPECT_EQ(run.result.faults_without_effect[0].why, why) << fault;
  }
}

// A fault that begins while another has taken its target away strikes when that is back.
TEST(FaultTargetsTest, AFaultThatOutlastsAnAbsenceStrikes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kind: node_crash, at: 30s, target: {node: m}, for: 20s",
       "kind: nm_heartbeat_loss, at: 38s, target: {node: m}, for: 60s"},
      {"kind: node_crash, at: 30s, target: {node: m}, for: 20s",
       "kind: node_crash, at: 38s, target: {node: m}, for: 60s"},
      {"kind: rm_restart, at: 30s, for: 20s", "kind: rm_restart, at: 38s, for: 30s"},
      {"kind: rm_restart, at: 30s, for: 20s", "kind: rm_pause, at: 38s, for: 30s"}};
  for (const auto& [first, second] : cases) {
    for (const trace::FaultWithoutEffect& idle :
         SmallRun(With({first, second})).result.faults_without_effect)
      EXPECT_LT(idle.index, 2U) << second;
  }
}

}  // namespace
}  // namespace tfyarn::sim::fault_targets_test
