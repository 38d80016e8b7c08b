#include "config/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/emit.h"
#include "tests/unit/config/config_testing.h"

namespace tfyarn::config::yaml_reader_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Read {
  std::string text;  // in flow style; "nothing" when there is no tree
  std::vector<std::string> errors;
};

Read ReadAs(const std::string& yaml) {
  Sources sources;
  std::vector<Finding> findings;
  const std::uint32_t file = sources.Add("s", yaml);
  const auto node = ReadYaml(sources, file, findings);
  return {.text = node ? EmitInline(*node) : "nothing",
          .errors = Short(sources.Finish(std::move(findings)))};
}

std::vector<std::string> ErrorsOf(const std::string& yaml) {
  return ReadAs(yaml).errors;
}

TEST(YamlReaderTest, KeepsPlainScalarsAsTheyAreWritten) {
  EXPECT_EQ(ReadAs("{version: 1.10, norway: no, octal: 012, none: ~}").text,
            "{version: 1.10, norway: no, octal: 012, none: null}");
}

TEST(YamlReaderTest, KnowsWhereEveryNodeIs) {
  Sources sources;
  std::vector<Finding> findings;
  const std::uint32_t file = sources.Add("s", "a: 1\nb:\n  - x\n  - {c: 'two words'}\n");
  const auto root = ReadYaml(sources, file, findings);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->Nearest("a").place, (Place{.file = file, .line = 1, .col = 4}));
  EXPECT_EQ(root->Nearest("b.0").place, (Place{.file = file, .line = 3, .col = 5}));
  const Node& quoted = root->Nearest("b.1.c");
  EXPECT_EQ(quoted.place, (Place{.file = file, .line = 4, .col = 9}));
  EXPECT_EQ(quoted.end, (Place{.file = file, .line = 4, .col = 20}));
  EXPECT_TRUE(quoted.quoted);
  EXPECT_EQ(root->Find("b")->items[1].entries[0].key_place,
            (Place{.file = file, .line = 4, .col = 6}));
}

TEST(YamlReaderTest, AliasesBecomeCopiesThatPointToTheAnchor) {
  Sources sources;
  std::vector<Finding> findings;
  const std::uint32_t file = sources.Add("s", "a: &x {b: 1}\nc: *x\n");
  const auto root = ReadYaml(sources, file, findings);
  ASSERT_TRUE(root);
  EXPECT_EQ(EmitInline(*root), "{a: {b: 1}, c: {b: 1}}");
  EXPECT_EQ(root->Nearest("c.b").place.line, 1U);
}

TEST(YamlReaderTest, RefusesWhatWouldBeReadInSurprisingWays) {
  EXPECT_THAT(ErrorsOf("a: 1\nb: 2\na: 3\n"),
              ElementsAre("3:1: the key `a` is here twice | it is first on line 1"));
  EXPECT_THAT(ErrorsOf("a: &x {b: 1}\nc:\n  <<: *x\n"),
              ElementsAre("3:3: merge keys are not supported | use `defaults:` for what jobs "
                          "share, `include:` for what "
                          "files share"));
  EXPECT_THAT(
      ErrorsOf("a: 1\n---\nb: 2\n"),
      ElementsAre("2:1: a second document begins here | a file holds one document: remove `---`"));
  EXPECT_THAT(ErrorsOf("a: !!int 3\n"),
              ElementsAre("1:4: the tag `tag:yaml.org,2002:int` has no meaning here | remove it"));
  EXPECT_THAT(ErrorsOf("? [a]\n: 1\n"),
              ElementsAre("1:3: a key must be plain text | quote it if it begins with [ or {"));
  EXPECT_THAT(ErrorsOf("a: &r\n  b: *r\n"),
              ElementsAre("2:6: this alias stands inside what it stands for"));
  EXPECT_THAT(ErrorsOf("a: *nowhere\n"),
              ElementsAre("1:4: not valid YAML: the referenced anchor is not defined"));
}

TEST(YamlReaderTest, ATabThatIndentsIsNamed) {
  EXPECT_THAT(ErrorsOf("a:\n\tb: 1\n"), ElementsAre("2:1: a tab cannot indent | use spaces"));
  EXPECT_THAT(ErrorsOf("a:\n  b: 1\n\tc: 2\n"),
              ElementsAre("3:1: a tab cannot indent | use spaces"));
  EXPECT_THAT(ErrorsOf("a: {b: 1,\n\tc: 2}\n"), IsEmpty());
  EXPECT_THAT(ErrorsOf("a: |\n  x\n  \ty\n"), IsEmpty());
}

TEST(YamlReaderTest, BinaryContentHasAPlace) {
  EXPECT_THAT(
      ErrorsOf(std::string("a: 1\nb: \x00", 9)),
      ElementsAre("2:4: not a text file: there is a byte that is neither UTF-8 nor printable"));
  EXPECT_THAT(
      ErrorsOf("a: \xff\xfe\n"),
      ElementsAre("1:4: not a text file: there is a byte that is neither UTF-8 nor printable"));
}

TEST(YamlReaderTest, AnUnclosedQuoteIsFound) {
  EXPECT_THAT(ErrorsOf("a: 'x\n"), ElementsAre("1:4: the closing quote of this text is missing"));
  EXPECT_THAT(ErrorsOf("a: \"x\\\"\nb: 1\n"),
              ElementsAre("1:4: the closing quote of this text is missing"));
  EXPECT_THAT(ErrorsOf("a: 'it''s'\nb: \"a\\\"b\"\n"), IsEmpty());
}

TEST(YamlReaderTest, SyntaxErrorsSayWhatToDo) {
  EXPECT_THAT(ErrorsOf("a: b: c\n"),
              ElementsAre("1:5: not valid YAML: illegal map value | a text with `: ` in it needs "
                          "quotes; a nested key needs a deeper line of its own"));
  EXPECT_THAT(ErrorsOf("a:\n  - b\n - c\n"),
              ElementsAre("3:2: not valid YAML: end of map not found | the line is "
                          "indented differently from its neighbours"));
}

TEST(YamlReaderTest, ABracketThatIsNotClosedIsFoundWhereItStands) {
  const auto place = [](std::string_view text) {
    const auto errors = ErrorsOf(std::string(text));
    return errors.empty() ? std::string() : errors[0].substr(0, errors[0].find(" | "));
  };
  EXPECT_EQ(place("a: 1\nb: {c: 1\n\nd: 2\n"), "2:4: this `{` is not closed");
  EXPECT_EQ(place("a: 1\nb: {c: 1\n"), "2:4: this `{` is not closed");
  EXPECT_EQ(place("a: {b: [1, 2}\n"), "1:8: this `[` is not closed");
  EXPECT_EQ(place("a: {b: [1, 2], c: {d: 1}\n"), "1:4: this `{` is not closed");
  // Others only look like brackets.
  EXPECT_EQ(place("a: x[1 # [\nb: '[' # {\nc: \"\\\"[\"\nd: it's\ne: [1\n"),
            "5:4: this `[` is not closed");
  EXPECT_THAT(ErrorsOf("a: [1]]\n"),
              ElementsAre(testing::HasSubstr("no bracket that this one closes is open")));
  EXPECT_THAT(ErrorsOf("a: @b\n"),
              ElementsAre(testing::HasSubstr("begins with this needs quotes")));
  EXPECT_THAT(ErrorsOf("a: - b\n"), ElementsAre(testing::HasSubstr("a line of its own")));
}

TEST(YamlReaderTest, DepthIsLimited) {
  EXPECT_THAT(ErrorsOf(std::string(64, '[') + std::string(64, ']')), IsEmpty());
  EXPECT_THAT(ErrorsOf(std::string(65, '[') + std::string(65, ']')),
              ElementsAre("1:65: nested deeper than 64"));
  EXPECT_THAT(ErrorsOf(std::string(100'000, '[')), ElementsAre("1:1: this bracket is not closed"));
  EXPECT_THAT(ErrorsOf("a: [1, 2\nb: 3\n"),
              ElementsAre("1:4: this `[` is not closed | a comma or the closing bracket is missing "
                          "before line 2, column 2"));
}

TEST(YamlReaderTest, AliasesCannotExplode) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) bomb += "*a" + std::to_string(i - 1) + (j < 8 ? ", " : "]\n");
  }
  EXPECT_THAT(ErrorsOf(bomb),
              ElementsAre(testing::HasSubstr("more than 100000 values, aliases expanded")));
  std::string many = "a: &a 1\nb: [";
  for (int i = 0; i < 101; ++i) many += "*a, ";
  EXPECT_THAT(ErrorsOf(many + "1]\n"), ElementsAre("2:405: more than 100 aliases"));
}

TEST(YamlReaderTest, SizesAreLimited) {
  std::string values = "a: [";
  for (int i = 0; i < 100'001; ++i) values += "1,";
  EXPECT_THAT(ErrorsOf(values + "]"),
              ElementsAre("1:200003: more than 100000 values, aliases expanded"));
  EXPECT_THAT(ErrorsOf("a: " + std::string(kMaxFileBytes, 'x')),
              ElementsAre("0:0: the file is larger than 1048576 bytes"));
}

// A look at all earlier keys for each one would take hours: the test would be ended.
TEST(YamlReaderTest, ManyKeysAreRead) {
  std::string keys;
  for (int i = 0; i < 40'000; ++i) keys += "key" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(ErrorsOf(keys), IsEmpty());
}

TEST(YamlReaderTest, EmittedYamlReadsAsTheSameTree) {
  const std::string yaml =
      "a: 'null'\nb: \"1\"\nc: [x, [y, {z: ~}], {}, []]\n\"d e\": \"line\\nbreak\\ttab \\\\ "
      "\\\"q\\\"\"\n'#': {-x: ': '}\n"
      "e: |\n  two\n  lines\nf:\n  - g: 1\n    h: 2\n  - - i\n    - j\n";
  Sources sources;
  std::vector<Finding> findings;
  const auto first = ReadYaml(sources, sources.Add("s", yaml), findings);
  ASSERT_TRUE(first);
  const auto second = ReadYaml(sources, sources.Add("s", EmitYaml(*first)), findings);
  ASSERT_TRUE(second);
  const auto third = ReadYaml(sources, sources.Add("s", EmitInline(*first)), findings);
  ASSERT_TRUE(third);
  EXPECT_EQ(EmitCanonical(*first), EmitCanonical(*second));
  EXPECT_EQ(EmitCanonical(*first), EmitCanonical(*third));
  EXPECT_EQ(EmitYaml(*first), EmitYaml(*second));
  EXPECT_THAT(findings, IsEmpty());
}

}  // namespace
}  // namespace tfyarn::config::yaml_reader_test
