// What a host says of fields that a file sets and the host ignores: one line for each field, at the
// first place, and nothing of what the file does not set.
#include "config/ignored_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::ignored_fields_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> OfScenario(std::string_view text, std::vector<std::string> sets = {}) {
  LoadOptions options = NoFiles();
  options.sets = std::move(sets);
  const auto scenario = LoadScenarioText(text, "s.yaml", options);
  if (!scenario) {
    ADD_FAILURE() << Render(scenario.error());
    return {};
  }
  return scenario->ignored;
}

JobDocument Job(const std::string& text, std::optional<Host> host = std::nullopt) {
  LoadOptions options;
  options.open = [text](const std::string&) { return OpenBytes(text); };
  const auto job = LoadJobDocument("j.yaml", options, host);
  if (!job) {
    ADD_FAILURE() << Render(job.error());
    return {};
  }
  return *job;
}

constexpr const char* kJob =
    "name: a\n"
    "queue: ml\n"
    "tasks:\n"
    "  ps: {memory: 1GiB, shell: x, node_label: gold}\n"
    "  worker: {memory: 1GiB, shell: x, node_label: gold, env: {A: b}}\n";

TEST(IgnoredFieldsTest, AFieldIsNamedOnceWithItsFirstPlaceAndWhy) {
  EXPECT_THAT(
      OfScenario("name: s\n"
                 "cluster: {nodes: [{name: n, resources: {memory: 9GiB, vcores: 9}}]}\n"
                 "defaults: {env: {X: y}}\n"
                 "jobs:\n"
                 "  - name: a\n"
                 "    history: {keep: 3d}\n"
                 "    tasks: {w: {memory: 1GiB, env: {A: b}}, v: {memory: 1GiB, env: {A: b}}}\n"
                 "  - {name: b, env: {A: b}, tasks: {w: {memory: 1GiB}}}\n"),
      ElementsAre("s.yaml:3:12: note: `defaults.env` (and at 1 place more) is ignored by the "
                  "simulator: no process reads it there",
                  "s.yaml:6:5: note: `jobs[0].history` is ignored by the simulator: `--out` says "
                  "what is kept of a run",
                  "s.yaml:7:31: note: `jobs[0].tasks.w.env` (and at 1 place more) is ignored by "
                  "the simulator: no process reads it there"));
}

TEST(IgnoredFieldsTest, WhatSetsNothingIsNotNamed) {
  EXPECT_THAT(OfScenario(Small("")), IsEmpty());
  EXPECT_THAT(OfScenario(Small("defaults: {env: {}, files: [], archives: }\n")), IsEmpty());
  EXPECT_THAT(Job("name: a\nqueue: default\npriority: 0\ntasks: {w: {memory: 1GiB, shell: x}}\n",
                  Host::kMachine)
                  .ignored,
              IsEmpty());
}

TEST(IgnoredFieldsTest, WhatTheCommandLineSetsIsNamedThere) {
  EXPECT_THAT(OfScenario(Small(""), {"jobs.a.shell=x"}),
              ElementsAre("--set:1:8: note: `jobs[0].shell` is ignored by the simulator: no "
                          "command runs there; `behavior` says what processes do"));
}

TEST(IgnoredFieldsTest, WhatTheApplicationMasterWouldHeedIsTakenOut) {
  const JobDocument here = Job(kJob, Host::kMachine);
  EXPECT_THAT(here.ignored,
              ElementsAre("j.yaml:2:1: note: `queue` is ignored on one machine: it has no queues",
                          "j.yaml:4:32: note: `tasks.ps.node_label` (and at 1 place more) is "
                          "ignored on one machine: it has no partitions"));
  EXPECT_EQ(here.spec.tasks[1].node_label, "");
  EXPECT_EQ(here.effective_yaml.find("node_label"), std::string::npos);
  EXPECT_EQ(here.spec.tasks[1].env.at("A"), "b");
  const JobDocument there = Job(kJob, Host::kCluster);
  EXPECT_THAT(there.ignored, IsEmpty());
  EXPECT_EQ(there.spec.tasks[1].node_label, "gold");
}

TEST(IgnoredFieldsTest, WithoutAHostTheNotesOfEachAreGiven) {
  const JobDocument any = Job(kJob);
  EXPECT_EQ(any.ignored, Job(kJob, Host::kMachine).ignored);
  EXPECT_EQ(any.spec.tasks[1].node_label, "gold");
}

}  // namespace
}  // namespace tfyarn::config::ignored_fields_test
