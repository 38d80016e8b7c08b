// What the tests of config share: files that are not there, errors as short texts.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"

namespace tfyarn::config {

using VirtualFiles = std::map<std::string, std::string>;

/// Opens the given files and no others.
inline OpenFile OpenVirtual(VirtualFiles files) {
  return
      [files = std::move(files)](const std::string& path) -> Expected<std::unique_ptr<ByteSource>> {
        const auto found = files.find(path);
        if (found == files.end()) return Fail(ErrorCode::kNotFound, "No such file or directory");
        return OpenBytes(found->second);
      };
}

inline LoadOptions NoFiles() {
  return {.open = OpenVirtual({})};
}

/// "FILE:LINE:COL: message | note | note" for each; the file only when it is not `s`.
inline std::vector<std::string> Short(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : diagnostics.items) {
    std::string text = diagnostic.file == "s" ? "" : diagnostic.file + ":";
    text += std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.col) + ": " +
            diagnostic.message;
    for (const std::string& note : diagnostic.notes) text += " | " + note;
    out.push_back(std::move(text));
  }
  if (diagnostics.more > 0) out.push_back("and " + std::to_string(diagnostics.more) + " more");
  return out;
}

inline std::vector<std::string> ScenarioErrors(std::string_view text,
                                               const LoadOptions& options = NoFiles()) {
  const auto scenario = LoadScenarioText(text, "s", options);
  return scenario ? std::vector<std::string>{} : Short(scenario.error());
}

inline std::vector<std::string> JobErrors(std::string_view text,
                                          const LoadOptions& options = NoFiles()) {
  const auto job = LoadJobText(text, "s", options);
  return job ? std::vector<std::string>{} : Short(job.error());
}

/// A scenario that has nothing wrong: one node class, one job; five lines.
inline constexpr std::string_view kSmall = R"(name: small
cluster: {racks: 2, nodes: [{name: n, count: 3, labels: [gpu], resources: {memory: 16GiB, vcores: 8, gpus: 2}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 1GiB}, ps: {memory: 1GiB}}
)";

/// kSmall and more lines, of which the first is line 6.
inline std::string Small(std::string_view more) {
  return std::string(kSmall) + std::string(more);
}

inline std::string SourceDir() {
  const char* directory = std::getenv("TFYARN_SOURCE_DIR");
  return directory != nullptr ? directory : ".";
}

inline bool Rewriting() {
  const char* rewrite = std::getenv("TFYARN_REWRITE");
  return rewrite != nullptr && std::string_view(rewrite) == "1";
}

inline std::string ReadText(const std::string& path) {
  auto source = OpenRealFile(path);
  if (!source) return {};
  auto text = ReadAll(**source, 16 << 20);
  return text ? *text : std::string();
}

}  // namespace tfyarn::config
