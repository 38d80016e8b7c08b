#include "apps/cli/arguments.h"

#include <gtest/gtest.h>

#include "apps/cli/exit_codes.h"

namespace tfyarn::cli::arguments_test {
namespace {

tl::expected<Command, UsageError> Parse(const std::vector<std::string>& words) {
  return ParseArguments(words, "1.2.3");
}

RunArguments ParseRun(const std::vector<std::string>& words) {
  auto command = Parse(words);
  if (!command) {
    ADD_FAILURE() << command.error().message;
    return {};
  }
  return std::get<RunArguments>(*command);
}

std::string ErrorOf(const std::vector<std::string>& words) {
  const auto command = Parse(words);
  return command ? "" : command.error().message;
}

TEST(ArgumentsTest, RunTakesAllItsOptions) {
  const RunArguments run =
      ParseRun({"run", "s.yaml", "--seeds", "3..7", "-j", "2", "--set", "a.b=1", "--set=c=d e",
                "--out", "o", "--json", "--no-elision", "--tasks", "--junit", "j.xml"});
  EXPECT_EQ(run.input.file, "s.yaml");
  EXPECT_EQ(run.seeds, (std::pair<std::uint64_t, std::uint64_t>{3, 7}));
  EXPECT_EQ(run.at_once, 2U);
  EXPECT_EQ(run.input.sets, (std::vector<std::string>{"a.b=1", "c=d e"}));
  EXPECT_EQ(run.out, "o");
  EXPECT_TRUE(run.json);
  EXPECT_FALSE(run.elide);
  EXPECT_TRUE(run.tasks);
  EXPECT_EQ(run.junit, "j.xml");
}

TEST(ArgumentsTest, ExploreTakesATimeOrANumberOfRuns) {
  const auto explore = [](const std::vector<std::string>& words) {
    return std::get<ExploreArguments>(*Parse(words));
  };
  EXPECT_EQ(explore({"explore"}).seconds, 60);
  EXPECT_EQ(explore({"explore", "--budget", "10m"}).seconds, 600);
  EXPECT_EQ(explore({"explore", "--budget", "10m"}).runs, 0U);
  const ExploreArguments runs =
      explore({"explore", "a.yaml", "dir", "--budget", "500", "--seed", "7", "-j3"});
  EXPECT_EQ(runs.runs, 500U);
  EXPECT_EQ(runs.seconds, 0);
  EXPECT_EQ(runs.inputs, (std::vector<std::string>{"a.yaml", "dir"}));
  EXPECT_EQ(runs.at_once, 3U);
  EXPECT_EQ(explore({"explore", "a.yaml", "--relation", "key-order"}).relation,
            explore::Relation::kKeyOrder);
  EXPECT_EQ(explore({"explore"}).stop_after, 0U);
  EXPECT_EQ(explore({"explore", "--stop-after", "2", "--known", "old"}).stop_after, 2U);
  EXPECT_EQ(explore({"explore", "--stop-after", "2", "--known", "old"}).known, "old");
  EXPECT_NE(ErrorOf({"explore", "--stop-after", "0"}).find("a number from 1 on"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"explore", "--budget", "soon"}).find("a time like 10m or a number of runs"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"explore", "--relation", "key-order"}).find("FILES"), std::string::npos);
  EXPECT_EQ(explore({"explore", "--digests", "d"}).digests, "d");
  EXPECT_NE(ErrorOf({"explore", "a.yaml", "--coverage-only", "--digests", "d"})
                .find("goes with a search"),
            std::string::npos);
  EXPECT_EQ(explore({"explore", "--unguided", "--seed", "7", "--from", "300"}).from, 300U);
  for (const char* from : {"310", "x"}) {
    EXPECT_NE(
        ErrorOf({"explore", "--unguided", "--seed", "7", "--from", from}).find("a multiple of 100"),
        std::string::npos);
  }
  EXPECT_NE(ErrorOf({"explore", "--seed", "7", "--from", "300"}).find("with --unguided and --seed"),
            std::string::npos);
  EXPECT_EQ(explore({"explore", "--seed", "7", "--print", "0"}).print, 0U);
  EXPECT_NE(ErrorOf({"explore", "--print", "3"}).find("and --seed"), std::string::npos);
  for (const char* other : {"--relation=later", "--coverage-only"})
    EXPECT_NE(ErrorOf({"explore", "f.yaml", other, "--seed", "7", "--print", "3"})
                  .find("--print goes with a search"),
              std::string::npos);
  EXPECT_NE(ErrorOf({"explore", "--seed", "7", "--print", "x"}).find("number of a run"),
            std::string::npos);
}

TEST(ArgumentsTest, TheFileMayComeAfterTheOptions) {
  EXPECT_EQ(ParseRun({"run", "--set", "x=1", "s.yaml"}).input.file, "s.yaml");
  EXPECT_EQ(ParseRun({"run", "--seed", "18446744073709551615", "s.yaml"}).seed,
            18446744073709551615ULL);
  EXPECT_EQ(ParseRun({"run", "-j4", "s.yaml"}).at_once, 4U);
}

// CLI11 by itself takes the 3 for the file and complains that there is no such file.
TEST(ArgumentsTest, AMisspeltOptionIsNamedWithWhatMayHaveBeenMeant) {
  const std::string error = ErrorOf({"run", "--sed", "3", "s.yaml"});
  EXPECT_NE(error.find("unknown option --sed"), std::string::npos) << error;
  EXPECT_NE(error.find("--seed"), std::string::npos) << error;
  EXPECT_NE(ErrorOf({"run", "s.yaml", "--jsn"}).find("--json"), std::string::npos);
  EXPECT_NE(ErrorOf({"run", "s.yaml", "-x"}).find("unknown option -x"), std::string::npos);
}

TEST(ArgumentsTest, AMisspeltCommandIsNamedWithWhatMayHaveBeenMeant) {
  const std::string error = ErrorOf({"rum", "s.yaml"});
  EXPECT_NE(error.find("unknown command rum"), std::string::npos) << error;
  EXPECT_NE(error.find("`run`"), std::string::npos) << error;
}

TEST(ArgumentsTest, TheValueOfAnOptionMayLookLikeAnOption) {
  EXPECT_EQ(ParseRun({"run", "s.yaml", "--set=--x=1"}).input.sets,
            (std::vector<std::string>{"--x=1"}));
}

TEST(ArgumentsTest, WrongValuesAreUsageErrors) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "s.yaml", "--seed", "x"},
                                             {"run", "s.yaml", "--seed", "-1"},
                                             {"run", "s.yaml", "--seeds", "7..3"},
                                             {"run", "s.yaml", "--seeds", "1..2", "--seed", "1"},
                                             {"run", "s.yaml", "-j", "0"},
                                             {"run", "s.yaml", "--events"},
                                             {"run"},
                                             {"run", "s.yaml", "t.yaml"},
                                             {"run", "s.yaml", "--seed"},
                                             {"schema", "poem"},
                                             {"help", "exit-cods"},
                                             {}}) {
    EXPECT_NE(ErrorOf(words), "") << (words.empty() ? "nothing" : words.back());
  }
}

TEST(ArgumentsTest, HelpVersionAndExitCodesAreText) {
  EXPECT_EQ(std::get<PrintText>(*Parse({"--version"})).text, "tfsim 1.2.3\n");
  EXPECT_EQ(std::get<PrintText>(*Parse({"help", "exit-codes"})).text, ExitCodesText());
  EXPECT_NE(std::get<PrintText>(*Parse({"run", "--help"})).text.find("--seeds"), std::string::npos);
  EXPECT_NE(std::get<PrintText>(*Parse({"help", "diff"})).text.find("LEFT"), std::string::npos);
  EXPECT_NE(std::get<PrintText>(*Parse({"--help"})).text.find("replay"), std::string::npos);
}

TEST(ArgumentsTest, OtherCommandsAreParsed) {
  EXPECT_EQ(std::get<ValidateArguments>(*Parse({"validate", "a", "b"})).files.size(), 2U);
  EXPECT_EQ(std::get<InitArguments>(*Parse({"init"})).directory, ".");
  EXPECT_EQ(std::get<FaultsArguments>(*Parse({"faults", "node_crash"})).kind, "node_crash");
  EXPECT_EQ(std::get<ReplayArguments>(*Parse({"replay", "s.yaml", "--result", "r.json"})).result,
            "r.json");
  EXPECT_EQ(std::get<DiffArguments>(*Parse({"diff", "a", "b"})).right, "b");
}

TEST(ArgumentsTest, ExplainOfAJobIsToldFromOneOfAField) {
  const auto job =
      std::get<ExplainJobArguments>(*Parse({"explain", "s.yaml", "job/a", "--at", "1m30s"}));
  EXPECT_EQ(job.input.file, "s.yaml");
  EXPECT_EQ(job.job, "a");
  EXPECT_EQ(job.at, std::chrono::seconds(90));
  EXPECT_EQ(std::get<ExplainArguments>(*Parse({"explain", "policy", "tony"})).words.size(), 2U);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"explain", "s.yaml", "job/a"},
           {"explain", "s.yaml", "job/a", "--at", "90"},
           {"explain", "s.yaml", "job/a", "--at", "9s", "--seed", "x"},
           {"explain", "jobs", "--at", "9s"}}) {
    EXPECT_FALSE(Parse(words)) << words.back();
  }
}

TEST(ArgumentsTest, ManySeedsAreNotTooMany) {
  EXPECT_TRUE(Parse({"run", "--seeds", "1..1000000", "s.yaml"}));
  EXPECT_FALSE(Parse({"run", "--seeds", "0..1000000", "s.yaml"}));
  EXPECT_FALSE(Parse({"run", "--seeds", "0..18446744073709551615", "s.yaml"}));
}

TEST(ArgumentsTest, ExitCodesAreThoseOfTheContract) {
  const std::string text = ExitCodesText();
  for (const char* code :
       {"    0  ", "    1  ", "    2  ", "    3  ", "    4  ", "    5  ", "    6  ", "    7  ",
        "   10  ", "   11  ", "   20  ", "   21  ", "   22  ", "128+n  "}) {
    EXPECT_NE(text.find(code), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace tfyarn::cli::arguments_test
