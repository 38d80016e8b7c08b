#include "config/diagnostics.h"

#include <gtest/gtest.h>

#include "config/source.h"
#include "config/suggest.h"

namespace tfyarn::config::diagnostics_test {
namespace {

Diagnostic At(std::string line, std::uint32_t byte_col, std::uint32_t width) {
  Sources sources;
  const std::uint32_t file = sources.Add("s.yaml", line);
  std::vector<Finding> findings = {
      {.place = {.file = file, .line = 1, .col = byte_col}, .width = width, .message = "wrong"}};
  return sources.Finish(std::move(findings)).items[0];
}

TEST(DiagnosticsTest, ShowsThePlaceTheLineAndACaret) {
  Diagnostic diagnostic = At("hold: 30", 7, 2);
  diagnostic.notes = {"did you mean 30s?"};
  EXPECT_EQ(Render(diagnostic),
            "s.yaml:1:7: error: wrong\n"
            "  hold: 30\n"
            "        ^~\n"
            "  did you mean 30s?\n");
}

TEST(DiagnosticsTest, ColumnsCountCharactersAndTheCaretKnowsWideOnes) {
  const std::string line = "\xC3\xA9\xE6\xBC\xA2: x";  // e with accent, one wide character
  EXPECT_EQ(Render(At(line, 8, 1)), "s.yaml:1:5: error: wrong\n  " + line + "\n       ^\n");
}

TEST(DiagnosticsTest, TabsAreOneColumn) {
  EXPECT_EQ(Render(At("a:\t\tx", 5, 1)), "s.yaml:1:5: error: wrong\n  a:  x\n      ^\n");
}

TEST(DiagnosticsTest, WhatCouldFoolATerminalIsEscaped) {
  EXPECT_EQ(Render(At("\x1b[2J: x\xE2\x80\xAE\xFF", 1, 1)),
            "s.yaml:1:1: error: wrong\n  \\x1b[2J: x\\u202e\\xff\n  ^~~~\n");
  EXPECT_EQ(Printable("a\x1b\n\x7f\xC2\x9B"), "a\\x1b\\n\\x7f\\x9b");
  EXPECT_EQ(Printable(std::string(100, 'x'), 3), "xxx...");
}

TEST(DiagnosticsTest, LongLinesAreCutAroundTheCaret) {
  const std::string line = std::string(300, 'a') + "X" + std::string(300, 'b');
  EXPECT_EQ(Render(At(line, 301, 1), {.color = false, .columns = 30}),
            "s.yaml:1:301: error: wrong\n"
            "  ...aaaaaaaaaaXbbbbbbbbbbbbbbbbbbb...\n"
            "               ^\n");
}

TEST(DiagnosticsTest, AWidthBeyondTheLineEndsWithIt) {
  EXPECT_EQ(Render(At("abc", 2, 1000)), "s.yaml:1:2: error: wrong\n  abc\n   ^~\n");
  EXPECT_EQ(Render(At("abc", 1000, 5)), "s.yaml:1:4: error: wrong\n  abc\n     ^\n");
}

TEST(DiagnosticsTest, AWholeFileHasNoLine) {
  EXPECT_EQ(Render(Diagnostic{.file = "s.yaml", .message = "cannot be read"}),
            "s.yaml: error: cannot be read\n");
}

TEST(DiagnosticsTest, ColourIsOnlyThereWhenAskedFor) {
  const std::string with = Render(At("a: b", 4, 1), {.color = true, .columns = 100});
  EXPECT_NE(with.find("\x1b[1;31merror: \x1b[0m"), std::string::npos);
  EXPECT_EQ(Render(At("a: b", 4, 1)).find('\x1b'), std::string::npos);
}

TEST(DiagnosticsTest, TwentyAreShownSortedAndOnce) {
  Sources sources;
  std::string text;
  for (int i = 0; i < 30; ++i) text += "x\n";
  const std::uint32_t file = sources.Add("s", text);
  std::vector<Finding> findings;
  for (std::uint32_t line = 27; line > 0; --line) {
    for (int twice = 0; twice < 2; ++twice) {
      findings.push_back({.place = {.file = file, .line = line, .col = 1}, .message = "wrong"});
    }
  }
  const Diagnostics diagnostics = sources.Finish(std::move(findings));
  ASSERT_EQ(diagnostics.items.size(), 20U);
  EXPECT_EQ(diagnostics.items.front().line, 1U);
  EXPECT_EQ(diagnostics.items.back().line, 20U);
  EXPECT_EQ(diagnostics.more, 7U);
  EXPECT_TRUE(Render(diagnostics).ends_with("and 7 more\n"));
}

TEST(SuggestTest, CountsSwapsAsOneEdit) {
  EXPECT_EQ(EditDistance("memory", "memroy", 2), 1U);
  EXPECT_EQ(EditDistance("ca", "abc", 5), 3U);
  EXPECT_EQ(EditDistance("", "abc", 5), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting", 2), 3U);
  EXPECT_EQ(EditDistance("same", "same", 2), 0U);
}

TEST(SuggestTest, OnlyWhatIsNearIsSuggested) {
  const std::vector<std::string> names = {"instances", "memory", "vcores", "am", "ps"};
  EXPECT_EQ(Nearest("memroy", names), "memory");
  EXPECT_EQ(Nearest("Memory", names), "memory");
  EXPECT_EQ(Nearest("vcore", names), "vcores");
  EXPECT_EQ(Nearest("gpus", names), "");
  EXPECT_EQ(Nearest("at", names), "am");
  EXPECT_EQ(Nearest("xy", names), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), names), "");
}

TEST(SuggestTest, LongListsAreCut) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("n" + std::to_string(i));
  EXPECT_TRUE(NotesForNames("zzz", names)[0].ends_with("n23, and 6 more"));
}

TEST(SourcesTest, Utf8IsTold) {
  EXPECT_EQ(FindInvalidUtf8("abc \xC3\xA9 \xF0\x9F\x98\x80"), std::string_view::npos);
  EXPECT_EQ(FindInvalidUtf8("ab\xC0\x80"), 2U);        // overlong
  EXPECT_EQ(FindInvalidUtf8("a\xED\xA0\x80"), 1U);     // surrogate
  EXPECT_EQ(FindInvalidUtf8("\xF4\x90\x80\x80"), 0U);  // beyond Unicode
  EXPECT_EQ(FindInvalidUtf8("a\xE2\x82"), 1U);         // cut off
}

}  // namespace
}  // namespace tfyarn::config::diagnostics_test
