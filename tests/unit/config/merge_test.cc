#include "config/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/emit.h"
#include "config/yaml_reader.h"
#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::merge_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Node Parse(const std::string& yaml) {
  Sources sources;
  std::vector<Finding> findings;
  return ReadYaml(sources, sources.Add("s", yaml), findings).value();
}

std::string Merged(const std::string& earlier, const std::string& later) {
  return EmitInline(Merge(Parse(earlier), Parse(later)));
}

/// The document after `assignment`, or the error.
std::string Set(const std::string& yaml, const std::string& assignment) {
  Sources sources;
  std::vector<Finding> findings;
  Node root = ReadYaml(sources, sources.Add("s", yaml), findings).value();
  ApplySet(sources, assignment, root, findings);
  if (findings.empty()) return EmitInline(root);
  return Short(sources.Finish(std::move(findings)))[0];
}

TEST(MergeTest, MapsMergeAndAllElseIsReplaced) {
  EXPECT_EQ(Merged("{a: 1, b: {c: 2, d: 3}}", "{b: {d: 4, e: 5}, f: 6}"),
            "{a: 1, b: {c: 2, d: 4, e: 5}, f: 6}");
  EXPECT_EQ(Merged("{a: [1, 2]}", "{a: [3]}"), "{a: [3]}");
  EXPECT_EQ(Merged("{a: {b: 1}}", "{a: 2}"), "{a: 2}");
  EXPECT_EQ(Merged("{a: 1}", "{a: {b: 2}}"), "{a: {b: 2}}");
}

TEST(MergeTest, NullRemovesWhatIsThere) {
  EXPECT_EQ(Merged("{a: 1, b: 2, c: 3}", "{b: ~, d: ~}"), "{a: 1, c: 3, d: null}");
}

TEST(MergeTest, SetFindsKeysPositionsAndNames) {
  const std::string yaml = "{jobs: [{name: a, x: 1}, {name: b}], faults: [{at: 1s}], yarn: {s: c}}";
  EXPECT_EQ(Set(yaml, "yarn.s=fifo"),
            "{jobs: [{name: a, x: 1}, {name: b}], faults: [{at: 1s}], yarn: {s: fifo}}");
  EXPECT_EQ(Set(yaml, "jobs.b.tasks.worker.instances=4"),
            "{jobs: [{name: a, x: 1}, {name: b, tasks: {worker: {instances: 4}}}], faults: [{at: "
            "1s}], yarn: {s: c}}");
  EXPECT_EQ(Set(yaml, "faults.0.at=5m"),
            "{jobs: [{name: a, x: 1}, {name: b}], faults: [{at: 5m}], yarn: {s: c}}");
  EXPECT_EQ(Set(yaml, "faults.1={at: 2s}"),
            "{jobs: [{name: a, x: 1}, {name: b}], faults: [{at: 1s}, {at: 2s}], yarn: {s: c}}");
  EXPECT_EQ(Set("{}", "a.\"yarn.io/fpga\"=[1, {b: c}]"), "{a: {yarn.io/fpga: [1, {b: c}]}}");
}

TEST(MergeTest, SetToNothingRemoves) {
  EXPECT_EQ(Set("{a: {b: 1, c: 2}}", "a.b="), "{a: {c: 2}}");
  EXPECT_EQ(Set("{a: {b: 1, c: 2}}", "a.b=null"), "{a: {c: 2}}");
  EXPECT_EQ(Set("{a: [x, y, z]}", "a.1="), "{a: [x, z]}");
  EXPECT_EQ(Set("{a: 1}", "b.c.d="), "{a: 1}");
}

TEST(MergeTest, SetSaysWhatItCannotFind) {
  const std::string yaml = "{jobs: [{name: mnist}], a: 1}";
  EXPECT_EQ(Set(yaml, "jobs.minst.x=1"),
            "--set:1:6: no element of the list is called `minst` | allowed: mnist | did you mean "
            "`mnist`?");
  EXPECT_EQ(Set(yaml, "jobs.5.x=1"),
            "--set:1:6: there is no element 5: the list has 1, counted from 0");
  EXPECT_EQ(Set(yaml, "a.b=1"), "--set:1:3: `b` is below `1`, which is not a map");
  EXPECT_EQ(Set(yaml, "a"), "--set:1:1: `--set` wants path=value, like yarn.scheduler=fifo");
  EXPECT_EQ(
      Set(yaml, "a..b=1"),
      "--set:1:1: a path is keys with dots between them, like yarn.scheduler or jobs.a.queue");
  EXPECT_EQ(Set(yaml, "a=[1"), "--set:1:3: this bracket is not closed");
}

// ---------------------------------------------------------------- includes

std::vector<std::string> ErrorsOf(const VirtualFiles& files) {
  const auto scenario = LoadScenario("dir/s.yaml", {.open = OpenVirtual(files)});
  return scenario ? std::vector<std::string>{} : Short(scenario.error());
}

TEST(IncludeTest, TheFileItselfWinsOverWhatItIncludes) {
  const VirtualFiles files = {
      {"dir/s.yaml", "include: [common/base.yaml, more.yaml]\nname: s\nhorizon: 3h\n"},
      {"dir/common/base.yaml", "include: cluster.yaml\nhorizon: 1h\nwarmup: 1s\nseed: 4\n"},
      {"dir/common/cluster.yaml",
       "cluster: {nodes: [{name: n, resources: {memory: 1GiB, vcores: 1}}]}\n"},
      {"dir/more.yaml", "warmup: 2s\njobs: [{name: a, tasks: {worker: {memory: 1GiB}}}]\n"}};
  const auto scenario = LoadScenario("dir/s.yaml", {.open = OpenVirtual(files)});
  ASSERT_TRUE(scenario) << Render(scenario.error());
  EXPECT_EQ(scenario->horizon, 3h);
  EXPECT_EQ(scenario->warmup, 2s);
  EXPECT_EQ(scenario->seed, 4U);
  EXPECT_EQ(scenario->jobs.size(), 1U);
  EXPECT_EQ(scenario->effective_yaml.find("include"), std::string::npos);
}

TEST(IncludeTest, ErrorsPointIntoTheIncludedFile) {
  EXPECT_THAT(
      ErrorsOf(
          {{"dir/s.yaml",
            "include: base.yaml\nname: s\njobs: [{name: a, tasks: {worker: {memory: 1GiB}}}]\n"},
           {"dir/base.yaml",
            "cluster:\n  nodes: [{name: n, resources: {memory: 1, vcores: 1}}]\n"}}),
      ElementsAre("dir/base.yaml:2:41: `memory`: 1 has no unit | did you mean 1MiB or 1GiB?"));
}

TEST(IncludeTest, CyclesAndMissingFilesAreErrors) {
  EXPECT_THAT(
      ErrorsOf({{"dir/s.yaml", "include: a.yaml\n"}, {"dir/a.yaml", "include: ../dir/s.yaml\n"}}),
      ElementsAre("dir/a.yaml:1:10: `../dir/s.yaml` includes itself"));
  EXPECT_THAT(
      ErrorsOf({{"dir/s.yaml", "include: [none.yaml]\n"}}),
      ElementsAre("dir/s.yaml:1:11: cannot read `dir/none.yaml`: No such file or directory"));
  EXPECT_THAT(
      ErrorsOf({{"dir/s.yaml", "include: {a: b}\n"}}),
      ElementsAre("dir/s.yaml:1:10: `include` must be a file name or a list of them, got a map"));
  EXPECT_THAT(ErrorsOf({}),
              ElementsAre("dir/s.yaml:0:0: cannot read the file: No such file or directory"));
  EXPECT_THAT(ErrorsOf({{"dir/s.yaml", "# nothing\n"}}),
              ElementsAre("dir/s.yaml:0:0: the file is empty"));
  EXPECT_THAT(ErrorsOf({{"dir/s.yaml", "- a\n"}}),
              ElementsAre("dir/s.yaml:1:1: a file is a map of fields, this one is a list"));
}

TEST(IncludeTest, ManyFilesThatIncludeEachOtherEnd) {
  // Each file includes the next twice: 2^30 files if the reader did not count.
  VirtualFiles files = {{"dir/s.yaml", "include: [f0, f0]\n"}};
  for (int i = 0; i < 30; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    files["dir/f" + std::to_string(i)] = "include: [" + next + ", " + next + "]\n";
  }
  files["dir/f30"] = "name: x\n";
  const auto errors = ErrorsOf(files);
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors[0], testing::HasSubstr("more than 100 files are included"));
}

TEST(IncludeTest, AByteOrderMarkIsNoText) {
  const auto scenario = LoadScenarioText("\xEF\xBB\xBF" + std::string(kSmall), "s", NoFiles());
  EXPECT_TRUE(scenario);
}

}  // namespace
}  // namespace tfyarn::config::merge_test
