// Files with many errors, as a user sees what is said about them: tests/golden/config/*.yaml beside
// *.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::golden_test {
namespace {

TEST(ConfigGoldenTest, WhatIsSaidAboutWrongFiles) {
  const std::string directory = SourceDir() + "/tests/golden/config";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  ASSERT_FALSE(names.empty());
  // Shown paths are relative, wherever the test runs.
  const OpenFile open = [&](const std::string& path) {
    return OpenRealFile(directory + "/" + path);
  };
  for (const std::string& name : names) {
    const LoadOptions options{.open = open};
    std::string text;
    if (name.starts_with("job_")) {
      const auto job = LoadJobDocument(name + ".yaml", options);
      text = job ? "no error\n" : Render(job.error());
    } else {
      const auto scenario = LoadScenario(name + ".yaml", options);
      text = scenario ? "no error\n" + scenario->effective_yaml : Render(scenario.error());
    }
    const std::string path = directory + "/" + name + ".txt";
    if (Rewriting()) std::ofstream(path) << text;
    EXPECT_EQ(ReadText(path), text) << name;
  }
}

}  // namespace
}  // namespace tfyarn::config::golden_test
