// Runs the golden scripts in tests/golden/am: each command is followed by what the AM must order.
//
// TFYARN_REWRITE=1 writes what it does order into the scripts instead; commit the difference only
// if you can explain it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/golden/am_world.h"

namespace tfyarn::am::am_golden_test {
namespace {

/// One command with the comment above it and its output.
struct Case {
  std::string before;  ///< Comment lines and blank lines, as they stand.
  std::string command;
  std::string expected;
  int line = 0;
};

std::vector<Case> Parse(std::istream& in, std::string& after) {
  std::vector<Case> cases;
  std::string before;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') {
      before += line + "\n";
      continue;
    }
    Case one{.before = std::exchange(before, {}), .command = line, .line = number};
    if (std::getline(in, line)) ++number;
    if (line == "----") {
      while (std::getline(in, line) && ++number && !line.empty()) one.expected += line + "\n";
    }
    cases.push_back(std::move(one));
  }
  after = before;
  return cases;
}

std::filesystem::path ScriptFolder() {
  const char* root = std::getenv("TFYARN_SOURCE_DIR");
  return std::filesystem::path(root != nullptr ? root : TFYARN_SOURCE_ROOT) / "tests/golden/am";
}

std::vector<std::string> Scripts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ScriptFolder())) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class AmGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(AmGoldenTest, OrdersWhatTheScriptSays) {
  const std::filesystem::path path = ScriptFolder() / (GetParam() + ".txt");
  std::ifstream in(path);
  std::string after;
  const std::vector<Case> cases = Parse(in, after);
  in.close();
  const bool rewrite = std::getenv("TFYARN_REWRITE") != nullptr;
  AmWorld world;
  std::string rewritten;
  for (const Case& one : cases) {
    const std::string got = world.Do(one.command);
    EXPECT_TRUE(world.FoldsToItsLedger())
        << path.string() << ":" << one.line << ": " << one.command;
    if (!rewrite) {
      EXPECT_EQ(got, one.expected) << path.string() << ":" << one.line << ": " << one.command;
    }
    rewritten += one.before + one.command + "\n----\n" + got + "\n";
  }
  if (!rewrite) return;
  while (rewritten.size() > 1 && rewritten.substr(rewritten.size() - 2) == "\n\n")
    rewritten.pop_back();
  std::ofstream(path) << rewritten << after;
}

INSTANTIATE_TEST_SUITE_P(Scripts, AmGoldenTest, testing::ValuesIn(Scripts()),
                         [](const auto& script) {
                           std::string name = script.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tfyarn::am::am_golden_test
