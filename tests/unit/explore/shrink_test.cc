#include "explore/shrink.h"

#include <gtest/gtest.h>

#include "config/emit.h"

namespace tfyarn::explore::shrink_test {
namespace {

Node DocumentFrom(const std::string& yaml) {
  return DocumentOf(yaml).value();
}

/// Shows the problem while there is a node_crash, and a job with at least two workers.
bool Shows(const Node& document) {
  const Node* faults = document.Find("faults");
  bool crash = false;
  if (faults != nullptr) {
    for (const Node& fault : faults->items) crash = crash || TextAt(fault, "kind") == "node_crash";
  }
  const std::string workers = TextAt(document, "jobs.0.tasks.worker.instances");
  return crash && !workers.empty() && std::stoi(workers) >= 2;
}

Node Shrunk(const Node& document, const ShrinkLimits& limits = {}) {
  return Shrink(
      document,
      [](const std::vector<Node>& candidates) {
        std::vector<bool> shows;
        for (const Node& candidate : candidates) shows.push_back(Shows(candidate));
        return shows;
      },
      limits);
}

constexpr const char* kLarge = R"(schema: tfsim/v1
name: explored
horizon: 1h
cluster: {nodes: [{name: n, count: 3}]}
jobs:
  - name: a
    tasks: {worker: {instances: 7, memory: 4GiB}, evaluator: {instances: 1}}
    submit: 90s
  - {name: b}
faults:
  - {kind: rm_restart, at: 17s}
  - {kind: node_crash, at: 1730ms, for: {dist: uniform, min: 2s, max: 9s}}
expect: [{job: a, status: [SUCCEEDED, FAILED]}]
)";

TEST(ShrinkTest, WhatTheProblemDoesNotNeedGoes) {
  EXPECT_EQ(config::EmitYaml(Shrunk(DocumentFrom(kLarge))),
            "schema: tfsim/v1\nname: explored\nhorizon: 1h\njobs:\n  - name: a\n    tasks:\n      "
            "worker:\n"
            "        instances: 2\nfaults:\n  - kind: node_crash\nexpect:\n  - job: a\n"
            "    status:\n      - SUCCEEDED\n      - FAILED\n");
}

TEST(ShrinkTest, AJobThatMustSucceedKeepsWhyItMust) {
  std::string yaml = kLarge;
  yaml.replace(yaml.find("[SUCCEEDED, FAILED]"), 19, "SUCCEEDED");
  yaml += "yarn: {am_max_attempts: 8}\n";
  const Node shrunk = Shrunk(DocumentFrom(yaml));
  EXPECT_EQ(TextAt(shrunk, "yarn.am_max_attempts"), "8");
  EXPECT_EQ(shrunk.Find("cluster"), nullptr);
}

TEST(ShrinkTest, AJobThatMustSucceedKeepsWhenAFaultComesAndGoes) {
  std::string yaml = kLarge;
  yaml.replace(yaml.find("[SUCCEEDED, FAILED]"), 19, "SUCCEEDED");
  yaml.replace(yaml.find("at: 1730ms"), 10, "when: {job: a, state: running}, after: 7s");
  const Node shrunk = Shrunk(DocumentFrom(yaml));
  EXPECT_EQ(shrunk.FindPath("faults.1"), nullptr);
  EXPECT_EQ(TextAt(shrunk, "faults.0.when.state"), "running");
  EXPECT_EQ(TextAt(shrunk, "faults.0.after"), "7s");
  EXPECT_NE(shrunk.FindPath("faults.0.for"), nullptr);
}

TEST(ShrinkTest, WhatAFaultWaitsForGoesWhereTheProblemDoesNotNeedIt) {
  std::string yaml = kLarge;
  yaml.replace(yaml.find("at: 1730ms"), 10, "when: {fault: 0}, after: 7s");
  const Node shrunk = Shrink(DocumentFrom(yaml), [](const std::vector<Node>& candidates) {
    std::vector<bool> shows;
    for (const Node& candidate : candidates) {
      const Node* faults = candidate.Find("faults");
      // As a scenario must be: a fault has a time, and what it waits for is there.
      bool valid = faults != nullptr;
      for (std::size_t i = 0; valid && i < faults->items.size(); ++i) {
        const std::string of = TextAt(faults->items[i], "when.fault");
        valid = faults->items[i].Find("at") != nullptr || (!of.empty() && i > 0);
      }
      shows.push_back(valid && Shows(candidate));
    }
    return shows;
  });
  EXPECT_EQ(TextAt(shrunk, "faults.0.kind"), "node_crash");
  EXPECT_EQ(TextAt(shrunk, "faults.0.at"), "1s");
  EXPECT_EQ(shrunk.FindPath("faults.0.when"), nullptr);
  EXPECT_EQ(shrunk.FindPath("faults.1"), nullptr);
}

TEST(ShrinkTest, WhatEndsFaultsAndJobsStaysWhereTheProblemIsThatNothingEnds) {
  std::string yaml = kLarge;
  yaml.replace(yaml.find("    submit: 90s\n"), 16, "    deadlines: {run: 90s, start: 5m}\n");
  yaml.replace(yaml.find("{dist: uniform, min: 2s, max: 9s}"), 33, "9s");
  const Node shrunk = Shrunk(DocumentFrom(yaml), {.keep_ends = true});
  EXPECT_EQ(TextAt(shrunk, "faults.0.for"), "1s");
  EXPECT_EQ(TextAt(shrunk, "jobs.0.deadlines.run"), "1s");
  EXPECT_EQ(shrunk.FindPath("jobs.0.deadlines.start"), nullptr);
  EXPECT_EQ(shrunk.FindPath("faults.1"), nullptr);
}

TEST(ShrinkTest, ItEndsAtItsLimit) {
  const Node shrunk = Shrunk(DocumentFrom(kLarge), {.candidates = 3, .at_once = 1});
  EXPECT_TRUE(Shows(shrunk));
  EXPECT_NE(shrunk.FindPath("faults.1"), nullptr);
}

}  // namespace
}  // namespace tfyarn::explore::shrink_test
