#include "config/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "config/reference_tree.h"
#include "config/yaml_reader.h"
#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::reference_test {
namespace {

using testing::HasSubstr;

void ExpectPage(FileKind kind, const std::string& name) {
  const std::string path = SourceDir() + "/docs/" + name;
  const std::string text = ReferenceMarkdown(kind);
  if (Rewriting()) std::ofstream(path) << text;
  EXPECT_EQ(ReadText(path), text) << "docs/" << name << " is stale: run with TFYARN_REWRITE=1";
}

TEST(ReferenceTest, ThePagesAreThoseOfTheFieldTable) {
  ExpectPage(FileKind::kScenario, "scenario.md");
  ExpectPage(FileKind::kJob, "job.md");
}

TEST(ReferenceTest, EveryFieldOfEveryRecordIsDocumented) {
  for (const FileKind kind : {FileKind::kScenario, FileKind::kJob}) {
    for (const PlacedRecord& placed : AllRecords(kind)) {
      EXPECT_FALSE(placed.record->doc.empty()) << placed.record->name;
      for (const FieldInfo& field : placed.record->fields) {
        EXPECT_TRUE(field.doc.ends_with('.'))
            << placed.record->name << "." << field.name << ": " << field.doc;
        EXPECT_FALSE(TextOf(field.type).empty()) << placed.record->name << "." << field.name;
      }
    }
  }
}

TEST(ReferenceTest, EveryExampleAndDefaultIsYaml) {
  for (const FileKind kind : {FileKind::kScenario, FileKind::kJob}) {
    for (const PlacedRecord& placed : AllRecords(kind)) {
      for (const FieldInfo& field : placed.record->fields) {
        if (field.example.empty()) continue;
        Sources sources;
        std::vector<Finding> findings;
        const auto node = ReadYaml(
            sources, sources.Add("s", "{" + field.name + ": " + field.example + "}"), findings);
        EXPECT_TRUE(node && findings.empty())
            << placed.record->name << "." << field.name << ": " << field.example;
      }
    }
  }
}

TEST(ExplainTest, AFieldIsFoundByItsPath) {
  EXPECT_EQ(ExplainField("gang.hold").value(),
            "gang.hold: duration, at least 1ms\n"
            "  With `all`: the longest time an incomplete gang keeps its containers. Below the "
            "RM's container\n"
            "  expiry.\n"
            "  default: 5m\n");
  EXPECT_THAT(ExplainField("jobs.a.tasks.worker.memory").value(),
              HasSubstr("memory size, at least 1MiB, required"));
  EXPECT_THAT(ExplainField("jobs[].tasks.worker.memory").value(), HasSubstr("memory size"));
  EXPECT_THAT(ExplainField("faults.0.at").value(), HasSubstr("duration"));
  EXPECT_THAT(ExplainField("yarn").value(), HasSubstr("scheduler"));
}

TEST(ExplainTest, TheEndOfAPathIsEnoughWhenItIsAlone) {
  EXPECT_THAT(ExplainField("hold").value(), HasSubstr("jobs[].gang.hold: duration"));
  EXPECT_THAT(ExplainField("after").value(), HasSubstr("is the name of several fields"));
}

TEST(ExplainTest, AKindOfFaultIsExplainedToo) {
  EXPECT_EQ(ExplainField("slow_node").value(),
            "slow_node\n"
            "  Processes on these nodes train slower; a job trains as fast as its slowest.\n"
            "  target: {node: N}, {rack: R}, {label: L}, nodes (all), {random: K, of: ...}, "
            "{fraction: F, of:\n"
            "  ...}; {job: J, task: T} and {am: J} mean the node that holds it then\n"
            "  for: for ever unless given\n"
            "  factor: number, default 4. Times slower.\n"
            "  example: {kind: slow_node, at: 10m, target: {node: n-1}, factor: 4, for: 1h}\n");
}

TEST(ExplainTest, AnUnknownFieldHasASuggestion) {
  const auto explained = ExplainField("gang.hodl");
  ASSERT_FALSE(explained);
  EXPECT_EQ(explained.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(explained.error().message, "there is no field `gang.hodl`; did you mean `gang.hold`?");
  const auto nearest = [](std::string_view path, FileKind kind) {
    return ExplainField(path, kind).error().message;
  };
  for (const FileKind kind : {FileKind::kScenario, FileKind::kJob}) {
    EXPECT_EQ(nearest("retires.user", kind),
              "there is no field `retires.user`; did you mean `retries.user`?");
    EXPECT_EQ(nearest("hodl", kind), "there is no field `hodl`; did you mean `hold`?");
    // What is right already is no suggestion; an element's own name is in no table.
    EXPECT_EQ(nearest("nothing.like.user", kind), "there is no field `nothing.like.user`");
    EXPECT_EQ(nearest("tasks.worker.memroy", kind),
              "there is no field `tasks.worker.memroy`; did you mean `memory`?");
  }
}

TEST(ExplainTest, OfAJobOnlyItsOwnFields) {
  EXPECT_THAT(ExplainField("name").value(), HasSubstr("The scenario's name."));
  EXPECT_THAT(ExplainField("name", FileKind::kJob).value(), HasSubstr("The job's name."));
  EXPECT_THAT(ExplainField("hold", FileKind::kJob).value(), HasSubstr("gang.hold: duration"));
  EXPECT_THAT(ExplainField("hold", FileKind::kJob).value(), Not(HasSubstr("jobs[]")));
  EXPECT_FALSE(ExplainField("horizon", FileKind::kJob));
}

TEST(SchemaTest, ItIsJsonWhoseReferencesExist) {
  for (const FileKind kind : {FileKind::kScenario, FileKind::kJob}) {
    const auto schema = nlohmann::json::parse(SchemaJson(kind));
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    std::vector<const nlohmann::json*> open = {&schema};
    while (!open.empty()) {
      const nlohmann::json* node = open.back();
      open.pop_back();
      for (const auto& [key, value] : node->items()) {
        if (key == "$ref") {
          const auto name = value.get<std::string>().substr(std::string_view("#/$defs/").size());
          EXPECT_TRUE(schema["$defs"].contains(name)) << name;
        }
        if (value.is_structured()) open.push_back(&value);
      }
    }
  }
  const auto schema = nlohmann::json::parse(SchemaJson(FileKind::kScenario));
  EXPECT_EQ(schema["properties"]["horizon"]["pattern"],
            "^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d|w))+$");
  EXPECT_EQ(schema["$defs"]["yarn"]["properties"]["scheduler"]["enum"],
            nlohmann::json({"capacity", "fifo", "uniform", "gang"}));
  EXPECT_EQ(schema["$defs"]["node-class"]["required"], nlohmann::json({"name", "resources"}));
  // Another file, or `defaults`, may bring it.
  EXPECT_FALSE(schema.contains("required"));
  EXPECT_FALSE(schema["$defs"]["job"].contains("required"));
}

TEST(FaultKindsTextTest, ListsAllOfThem) {
  const std::string text = FaultKindsText();
  EXPECT_THAT(text, HasSubstr("node_crash\n  Nodes stop"));
}

}  // namespace
}  // namespace tfyarn::config::reference_test
