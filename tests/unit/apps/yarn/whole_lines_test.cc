#include "apps/yarn/whole_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tfyarn::apps::whole_lines_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::pair<std::vector<std::string>, std::size_t> Read(std::string_view bytes) {
  std::vector<std::string> lines;
  const std::size_t taken =
      ForEachWholeLine(bytes, [&](std::string_view line) { lines.emplace_back(line); });
  return {lines, taken};
}

TEST(WholeLinesTest, ALineThatStillGrowsIsLeftForTheNextRead) {
  const std::string file = "one\n\nthree\nfo";
  const auto [lines, taken] = Read(file);
  EXPECT_THAT(lines, ElementsAre("one", "", "three"));
  EXPECT_EQ(taken, file.size() - 2);
  EXPECT_THAT(Read(std::string(file.substr(taken)) + "ur\n").first, ElementsAre("four"));
}

TEST(WholeLinesTest, WithoutALineEndNothingIsTaken) {
  for (const char* bytes : {"", "a line that still grows"}) {
    const auto [lines, taken] = Read(bytes);
    EXPECT_THAT(lines, IsEmpty());
    EXPECT_EQ(taken, 0u);
  }
}

}  // namespace
}  // namespace tfyarn::apps::whole_lines_test
