#include "apps/cli/recorded_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/cli/replay_recordings.h"

namespace tfyarn::cli {
namespace {

/// A document that tfsim wrote, such as the summary of many runs, and no scenario.
bool IsOurOutput(const std::string& text) {
  const Expected<Document> document = ReadDocument(text);
  if (!document || !document->is_object() || !document->contains("schema")) return false;
  const Document& schema = document->at("schema");
  return schema.is_string() && schema.get<std::string>().starts_with("tfsim.");
}

}  // namespace

std::optional<std::string> TextOf(const std::string& path) {
  // A directory opens as a file does, and would read as an empty one.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return std::nullopt;
  const std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Expected<std::optional<SimulatedRun>> SimulatedRunAt(const std::string& path) {
  const auto refuse = [](std::string why) {
    return Fail(ErrorCode::kInvalidArgument, std::move(why));
  };
  std::error_code ignored;
  const bool directory = std::filesystem::is_directory(path, ignored);
  if (!directory && !path.ends_with(".json")) return std::nullopt;
  if (directory && !RecordingsIn(path).empty()) {
    return refuse(fmt::format(
        "{} is a run with real processes, which has no other futures; `tfsim replay {} --policy "
        "NAME` shows where another policy decides otherwise",
        path, path));
  }
  SimulatedRun found;
  found.result = directory ? (std::filesystem::path(path) / "result.json").string() : path;
  const std::optional<std::string> text = TextOf(found.result);
  if (!text) {
    return refuse(directory
                      ? fmt::format("{} holds no run: no result.json, as `tfsim run FILE --out {}` "
                                    "writes it",
                                    path, path)
                      : "cannot read " + path);
  }
  Expected<RecordedRun> run = ReadRecordedRun(*text);
  // A scenario may be written in JSON too.
  if (!run && !directory && !IsOurOutput(*text)) return std::nullopt;
  if (!run) return refuse(fmt::format("{}: {}", found.result, run.error().message));
  found.run = *std::move(run);
  found.scenario = std::filesystem::path(found.result).replace_filename("scenario.yaml").string();
  if (!std::filesystem::is_regular_file(found.scenario, ignored)) {
    return refuse(fmt::format(
        "{} has no scenario.yaml beside it: name the scenario itself, with --seed {}, or run it "
        "again with --out",
        found.result, found.run.seed));
  }
  return found;
}

}  // namespace tfyarn::cli
