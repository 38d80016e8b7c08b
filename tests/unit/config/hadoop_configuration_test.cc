// Rules: Configuration.java of Hadoop 3.4 (loadProperty, substituteVars, Parser), and
// tests/hadoop/config.py, which asks Hadoop.
#include "config/hadoop_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/hadoop_directory.h"

namespace tfyarn::config::hadoop_configuration_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// All in the file that comes last.
HadoopConfiguration LoadOne(std::string yarn_site) {
  auto loaded = HadoopDirectory{.files = {{"yarn-site.xml", std::move(yarn_site)}}}.Load();
  EXPECT_TRUE(loaded) << Render(loaded.error());
  return std::move(*loaded);
}

std::string ErrorsOf(const HadoopDirectory& directory) {
  const auto loaded = directory.Load();
  EXPECT_FALSE(loaded);
  return loaded ? "" : Render(loaded.error());
}

std::string ErrorsOf(std::string core_site) {
  return ErrorsOf(HadoopDirectory{.files = {{"core-site.xml", std::move(core_site)}}});
}

std::string OriginOf(const HadoopConfiguration& configuration, std::string_view key) {
  return configuration.OriginOf(**configuration.Find(key));
}

TEST(HadoopConfigurationTest, LaterFilesOverrideAndEachValueKnowsItsPlace) {
  const auto loaded =
      HadoopDirectory{.files = {{"core-site.xml", Site({{"a", "core"}, {"b", "core"}})},
                                {"hdfs-site.xml", Site({{"b", "hdfs"}, {"c", "hdfs"}})},
                                {"yarn-site.xml", Site({{"c", "yarn"}})}}}
          .Load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->Text("a"), "core");
  EXPECT_EQ(loaded->Text("b"), "hdfs");
  EXPECT_EQ(loaded->Text("c"), "yarn");
  EXPECT_EQ(OriginOf(*loaded, "a"), "/conf/core-site.xml:2");
  EXPECT_EQ(OriginOf(*loaded, "b"), "/conf/hdfs-site.xml:2");
  EXPECT_EQ(OriginOf(*loaded, "c"), "/conf/yarn-site.xml:2");
  EXPECT_EQ(OriginOf(*loaded, "dfs.replication"), "default");
  EXPECT_THAT(loaded->SetKeys(), ElementsAre("a", "b", "c"));
}

TEST(HadoopConfigurationTest, DefaultsLieOverTheFilesOfOtherKinds) {
  const std::string both = Site({{"dfs.replication", "5"}, {"yarn.http.policy", "x"}});
  const auto core = HadoopDirectory{.files = {{"core-site.xml", both}}}.Load();
  const auto hdfs = HadoopDirectory{.files = {{"hdfs-site.xml", both}}}.Load();
  ASSERT_TRUE(core && hdfs);
  EXPECT_EQ(core->Text("dfs.replication"), "3");
  EXPECT_EQ(core->Text("yarn.http.policy"), "HTTP_ONLY");
  EXPECT_EQ(hdfs->Text("dfs.replication"), "5");
  EXPECT_EQ(hdfs->Text("yarn.http.policy"), "HTTP_ONLY");
}

TEST(HadoopConfigurationTest, WhatIsFinalStays) {
  const std::string held =
      "<configuration><property><name>a</name><value>1</value><final>true</final></property>"
      "<property><name>a</name><value>2</value></property></configuration>";
  const auto loaded =
      HadoopDirectory{.files = {{"core-site.xml", held}, {"yarn-site.xml", Site({{"a", "3"}})}}}
          .Load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->Text("a"), "1");
  EXPECT_TRUE((**loaded->Find("a")).is_final);
}

TEST(HadoopConfigurationTest, FinalWithoutValueHoldsTheDefault) {
  const auto loaded =
      HadoopDirectory{
          .files = {{"core-site.xml",
                     "<configuration><property><name>dfs.replication</name><value></value>"
                     "<final>true</final></property></configuration>"},
                    {"hdfs-site.xml", Site({{"dfs.replication", "7"}})}}}
          .Load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->Whole("dfs.replication"), 3);
}

TEST(HadoopConfigurationTest, AnEmptyElementSaysNothingAnEmptyAttributeDoes) {
  const HadoopConfiguration loaded = LoadOne(
      "<configuration><property><name>fs.defaultFS</name><value/></property>"
      "<property name=\"dfs.http.policy\" value=\"\"/></configuration>");
  EXPECT_EQ(loaded.Text("fs.defaultFS"), "file:///");
  EXPECT_EQ(loaded.Text("dfs.http.policy"), "");
}

TEST(HadoopConfigurationTest, TextMayBeInPiecesAndNamesHaveBlanksAroundThem) {
  const HadoopConfiguration loaded = LoadOne(
      "<configuration><property><name>\n  a\n</name><value>1<!-- one --><![CDATA[&2]]>&lt;3"
      "</value></property></configuration>");
  EXPECT_EQ(loaded.Text("a"), "1&2<3");
}

TEST(HadoopConfigurationTest, OldNamesMeanNewOnes) {
  const HadoopConfiguration loaded = LoadOne(Site({{"fs.default.name", "hdfs://old"}}));
  EXPECT_EQ(loaded.Text("fs.defaultFS"), "hdfs://old");
  EXPECT_EQ(loaded.Text("fs.default.name"), "hdfs://old");
}

TEST(HadoopConfigurationTest, ValuesReferToOthersToTheUserAndToTheEnvironment) {
  HadoopDirectory directory{.files = {{"core-site.xml", Site({{"a", "${b}/${user.name}"},
                                                              {"b", "${env.PLACE}"},
                                                              {"unset", "${env.NONE}-${nobody}"},
                                                              {"else", "${env.EMPTY:-x}"},
                                                              {"only.unset", "[${env.EMPTY-x}]"},
                                                              {"odd", "${} ${x y} $a {b} ${b}"},
                                                              {"open", "${b"}})}},
                            .variables = {{"PLACE", "here"}, {"EMPTY", ""}}};
  const auto loaded = directory.Load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->Text("a"), "here/alice");
  EXPECT_EQ(loaded->Text("unset"), "${env.NONE}-${nobody}");
  EXPECT_EQ(loaded->Text("else"), "x");
  EXPECT_EQ(loaded->Text("only.unset"), "[]");
  EXPECT_EQ(loaded->Text("odd"), "${} ${x y} $a {b} here");
  EXPECT_EQ(loaded->Text("open"), "${b");
  EXPECT_EQ(loaded->Text("yarn.resourcemanager.address"), "0.0.0.0:8032");
}

TEST(HadoopConfigurationTest, AValueThatRefersToItselfStays) {
  EXPECT_EQ(LoadOne(Site({{"a", "x${a}"}})).Text("a"), "x${a}");
}

TEST(HadoopConfigurationTest, ExpansionEndsAfterNineteenSteps) {
  std::string fine;
  for (int i = 0; i < 19; ++i) fine += "${x}";
  const HadoopConfiguration loaded =
      LoadOne(Site({{"x", "1"}, {"fine", fine.c_str()}, {"long", (fine + "${x}").c_str()}}));
  EXPECT_EQ(loaded.Text("fine"), std::string(19, '1'));
  const auto text = loaded.Text("long");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("of long does not end to be expanded"));
  EXPECT_EQ(text.error().place.line, 4u);
}

TEST(HadoopConfigurationTest, TwoValuesThatReferToEachOtherEndToo) {
  EXPECT_FALSE(LoadOne(Site({{"a", "${b}"}, {"b", "${a}"}})).Text("a"));
}

TEST(HadoopConfigurationTest, IncludesStandBesideTheFileOrInTheDirectory) {
  const auto include = [](const char* href) {
    return std::string(
               "<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"") +
           href + "\"/></configuration>";
  };
  const auto loaded = HadoopDirectory{.files = {{"core-site.xml", include("part/one.xml")},
                                                {"part/one.xml", include("two.xml")},
                                                {"part/two.xml", include("three.xml")},
                                                {"three.xml", include("file:///else/four.xml")},
                                                {"part/three.xml", Site({{"a", "wrong"}})},
                                                {"/else/four.xml", Site({{"a", "right"}})}}}
                          .Load();
  ASSERT_TRUE(loaded) << Render(loaded.error());
  EXPECT_EQ(loaded->Text("a"), "right");
  EXPECT_EQ(OriginOf(*loaded, "a"), "/else/four.xml:2");
}

TEST(HadoopConfigurationTest, AFallbackCountsOnlyWhenTheFileIsMissing) {
  const std::string core =
      "<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include "
      "href=\"one.xml\"><xi:fallback>"
      "<property><name>a</name><value>fallback</value></property></xi:fallback></xi:include>"
      "</configuration>";
  EXPECT_EQ(LoadOne(core).Text("a"), "fallback");
  const auto there =
      HadoopDirectory{.files = {{"core-site.xml", core}, {"one.xml", Site({{"a", "file"}})}}}
          .Load();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->Text("a"), "file");
}

TEST(HadoopConfigurationTest, AMissingIncludeWithoutFallbackIsAnError) {
  EXPECT_EQ(ErrorsOf("<configuration>\n  <include href=\"gone.xml\"/>\n</configuration>\n"),
            "/conf/core-site.xml:2:4: error: there is no file 'gone.xml' to include\n"
            "    <include href=\"gone.xml\"/>\n"
            "     ^\n"
            "  an <xi:fallback/> inside would say that it may be missing\n");
}

TEST(HadoopConfigurationTest, AFileThatIncludesItselfIsAnError) {
  EXPECT_THAT(ErrorsOf("<configuration><include href=\"core-site.xml\"/></configuration>"),
              HasSubstr("'/conf/core-site.xml' includes itself"));
  EXPECT_THAT(
      ErrorsOf(HadoopDirectory{.files = {{"core-site.xml", "<c><include href=\"two.xml\"/></c>"},
                                         {"two.xml", "<c><include href=\"core-site.xml\"/></c>"}}}),
      HasSubstr("/conf/two.xml:1:5: error: '/conf/core-site.xml' includes itself"));
}

TEST(HadoopConfigurationTest, FilesThatIncludeOthersTwiceEachEnd) {
  HadoopDirectory directory{.files = {{"10", "<c/>"}}};
  for (int i = 0; i < 10; ++i) {
    const std::string next = "<include href=\"" + std::to_string(i + 1) + "\"/>";
    directory.files[i == 0 ? "core-site.xml" : std::to_string(i)] = "<c>" + next + next + "</c>";
  }
  EXPECT_THAT(ErrorsOf(directory), HasSubstr("more than 64 files"));
}

TEST(HadoopConfigurationTest, NothingIsFetchedAndNoEntityIsRead) {
  EXPECT_THAT(ErrorsOf("<configuration><include href=\"http://a/b.xml\"/></configuration>"),
              HasSubstr("'http://a/b.xml' is not read"));
  EXPECT_THAT(ErrorsOf("<!DOCTYPE c [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><configuration/>"),
              HasSubstr("entities are not read"));
}

TEST(HadoopConfigurationTest, BrokenXmlIsShownWithItsLine) {
  EXPECT_THAT(ErrorsOf("<configuration>\n<property>\n</configuration>\n"),
              HasSubstr("/conf/core-site.xml:3:"));
  EXPECT_THAT(ErrorsOf(""), HasSubstr("/conf/core-site.xml:1:1: error: this is no XML"));
}

TEST(HadoopConfigurationTest, ADirectoryWithoutFilesIsNone) {
  EXPECT_EQ(ErrorsOf(HadoopDirectory{}),
            "/conf: error: this is no configuration of Hadoop\n"
            "  expected: at least one of core-site.xml, hdfs-site.xml, yarn-site.xml\n");
}

TEST(HadoopConfigurationTest, NumbersTimesAndSizesAreHadoops) {
  const HadoopConfiguration loaded = LoadOne(Site({{"dfs.replication", " 0x10 "},
                                                   {"ipc.ping.interval", "5M"},
                                                   {"ipc.client.connect.timeout", "250"},
                                                   {"ipc.client.rpc-timeout.ms", "30s"},
                                                   {"dfs.client.socket-timeout", "9999999999d"},
                                                   {"dfs.blocksize", "64m"},
                                                   {"yarn.log-aggregation-enable", "TRUE"},
                                                   {"dfs.nameservices", " a, b ,,c"}}));
  EXPECT_EQ(loaded.Whole("dfs.replication"), 16);
  EXPECT_EQ(loaded.Time("ipc.ping.interval"), Duration(5min));
  EXPECT_EQ(loaded.Time("ipc.client.connect.timeout"), Duration(250ms));
  EXPECT_EQ(loaded.Time("ipc.client.rpc-timeout.ms"), Duration(30s));
  EXPECT_EQ(loaded.Time("dfs.client.socket-timeout"), Duration(100LL * 365 * 24h));
  EXPECT_EQ(loaded.Bytes("dfs.blocksize"), std::int64_t{64} << 20);
  EXPECT_EQ(loaded.Boolean("yarn.log-aggregation-enable"), true);
  EXPECT_EQ(loaded.List("dfs.nameservices"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(loaded.Time("yarn.client.failover-sleep-base-ms", 7s), Duration(7s));
}

TEST(HadoopConfigurationTest, AWrongValueSaysWhereAndWhatIsAllowed) {
  const HadoopConfiguration loaded = LoadOne(Site({{"ipc.ping.interval", "soon"},
                                                   {"dfs.blocksize", "1.5g"},
                                                   {"yarn.log-aggregation-enable", "yes"},
                                                   {"dfs.replication", "3 "}}));
  EXPECT_EQ(Render(loaded.Finish({loaded.Time("ipc.ping.interval").error()})),
            "/conf/yarn-site.xml:2:48: error: 'soon' of ipc.ping.interval is no time\n"
            "  <property><name>ipc.ping.interval</name><value>soon</value></property>\n"
            "                                                 ^\n"
            "  allowed: a whole number with ns, us, ms, s, m, h or d; milliseconds without\n");
  EXPECT_FALSE(loaded.Bytes("dfs.blocksize"));
  EXPECT_THAT(loaded.Boolean("yarn.log-aggregation-enable").error().notes,
              ElementsAre("allowed: true, false"));
  EXPECT_EQ(loaded.Whole("dfs.replication"), 3);
}

}  // namespace
}  // namespace tfyarn::config::hadoop_configuration_test
