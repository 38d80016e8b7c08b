#include "config/hadoop_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/hadoop_directory.h"

namespace tfyarn::config::hadoop_settings_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

tl::expected<HadoopSettings, Diagnostics> Read(
    std::initializer_list<std::pair<const char*, const char*>> properties,
    std::map<std::string, std::string> variables = {}) {
  const auto loaded = HadoopDirectory{.files = {{"yarn-site.xml", Site(properties)}},
                                      .variables = std::move(variables)}
                          .Load();
  EXPECT_TRUE(loaded) << Render(loaded.error());
  return ReadHadoopSettings(*loaded);
}

HadoopSettings Good(std::initializer_list<std::pair<const char*, const char*>> properties,
                    std::map<std::string, std::string> variables = {}) {
  auto read = Read(properties, std::move(variables));
  EXPECT_TRUE(read) << Render(read.error());
  return read ? std::move(*read) : HadoopSettings{};
}

TEST(HadoopSettingsTest, OneResourceManagerIsItsHostAndTheUsualPorts) {
  const HadoopSettings read =
      Good({{"fs.defaultFS", "hdfs://nn"}, {"yarn.resourcemanager.hostname", "rm"}});
  ASSERT_EQ(read.resource_managers.size(), 1u);
  EXPECT_EQ(ToString(read.resource_managers[0].client), "rm:8032");
  EXPECT_EQ(ToString(read.resource_managers[0].scheduler), "rm:8030");
  EXPECT_EQ(ToString(read.resource_managers[0].web), "rm:8088");
  EXPECT_EQ(read.node_manager_web_port, 8042);
  EXPECT_EQ(read.resource_manager.longest, Duration(15min));
  EXPECT_EQ(read.resource_manager.pause, Duration(30s));
}

TEST(HadoopSettingsTest, SeveralResourceManagersHaveOwnKeysOrOwnHosts) {
  const HadoopSettings read = Good({{"fs.defaultFS", "hdfs://nn"},
                                    {"yarn.resourcemanager.ha.enabled", "true"},
                                    {"yarn.resourcemanager.ha.rm-ids", "rm1,rm2"},
                                    {"yarn.resourcemanager.hostname.rm1", "one"},
                                    {"yarn.resourcemanager.hostname.rm2", "two"},
                                    {"yarn.resourcemanager.address.rm2", "other:1"},
                                    {"yarn.client.failover-sleep-base-ms", "100"}});
  ASSERT_EQ(read.resource_managers.size(), 2u);
  EXPECT_EQ(read.resource_managers[0].id, "rm1");
  EXPECT_EQ(ToString(read.resource_managers[0].client), "one:8032");
  EXPECT_EQ(ToString(read.resource_managers[1].client), "other:1");
  EXPECT_EQ(ToString(read.resource_managers[1].scheduler), "two:8030");
  EXPECT_EQ(read.resource_manager.pause, Duration(100ms));
}

TEST(HadoopSettingsTest, HttpsTakesOtherKeysAndPorts) {
  const HadoopSettings read = Good({{"fs.defaultFS", "hdfs://nn"},
                                    {"yarn.http.policy", "HTTPS_ONLY"},
                                    {"dfs.http.policy", "HTTPS_ONLY"},
                                    {"yarn.resourcemanager.hostname", "rm"}});
  EXPECT_EQ(ToString(read.resource_managers[0].web), "rm:8090");
  EXPECT_EQ(ToString(read.hdfs.name_nodes[0].web), "nn:9871");
}

TEST(HadoopSettingsTest, OneNameNodeIsTheOneOfTheUri) {
  const HadoopSettings read = Good({{"fs.defaultFS", "hdfs://nn:9000/"},
                                    {"dfs.namenode.rpc-address", "inner:8020"},
                                    {"dfs.namenode.http-address", "0.0.0.0:5"}});
  EXPECT_EQ(read.hdfs.authority, "nn:9000");
  ASSERT_EQ(read.hdfs.name_nodes.size(), 1u);
  EXPECT_EQ(ToString(read.hdfs.name_nodes[0].rpc), "nn:9000");
  EXPECT_EQ(ToString(read.hdfs.name_nodes[0].web), "inner:5");
}

TEST(HadoopSettingsTest, ANameServiceHasItsNameNodes) {
  const HadoopSettings read = Good({{"fs.defaultFS", "hdfs://data"},
                                    {"dfs.nameservices", "other,data"},
                                    {"dfs.ha.namenodes.data", "a,b"},
                                    {"dfs.namenode.rpc-address.data.a", "one:8020"},
                                    {"dfs.namenode.rpc-address.data.b", "two"},
                                    {"dfs.namenode.http-address.data.b", "web:1"}});
  EXPECT_EQ(read.hdfs.authority, "data");
  ASSERT_EQ(read.hdfs.name_nodes.size(), 2u);
  EXPECT_EQ(ToString(read.hdfs.name_nodes[0].rpc), "one:8020");
  EXPECT_EQ(ToString(read.hdfs.name_nodes[0].web), "one:9870");
  EXPECT_EQ(ToString(read.hdfs.name_nodes[1].rpc), "two:8020");
  EXPECT_EQ(ToString(read.hdfs.name_nodes[1].web), "web:1");
}

TEST(HadoopSettingsTest, TheUserIsTheVariablesOrTheSystems) {
  EXPECT_EQ(Good({{"fs.defaultFS", "hdfs://nn"}}).user, "alice");
  EXPECT_EQ(Good({{"fs.defaultFS", "hdfs://nn"}}, {{"HADOOP_USER_NAME", "bob"}}).user, "bob");
}

TEST(HadoopSettingsTest, ProtectionIsAListInOrderOfPreference) {
  const HadoopSettings read = Good({{"fs.defaultFS", "hdfs://nn"},
                                    {"hadoop.rpc.protection", "privacy, Authentication"},
                                    {"hadoop.security.authentication", "Kerberos"}});
  EXPECT_THAT(read.rpc_protection,
              ElementsAre(RpcProtection::kPrivacy, RpcProtection::kAuthentication));
  EXPECT_TRUE(read.kerberos);
}

TEST(HadoopSettingsTest, AllThatIsWrongIsSaidAtOnce) {
  const auto read = Read({{"yarn.resourcemanager.ha.enabled", "true"},
                          {"yarn.resourcemanager.ha.rm-ids", "rm1"},
                          {"fs.permissions.umask-mode", "worldly"},
                          {"hadoop.rpc.protection", "strong"},
                          {"yarn.nodemanager.webapp.address", "node:x"},
                          {"dfs.replication", "many"}});
  ASSERT_FALSE(read);
  const std::string text = Render(read.error());
  for (const char* part :
       {"'rm1' of yarn.resourcemanager.ha.rm-ids names a ResourceManager without address",
        "expected: yarn.resourcemanager.hostname.rm1 or yarn.resourcemanager.address.rm1",
        "'worldly' of fs.permissions.umask-mode is no umask", "'strong' of hadoop.rpc.protection",
        "'many' of dfs.replication is no whole number",
        "'node:x' of yarn.nodemanager.webapp.address is no address",
        "its port is no number from 1 to 65535; expected HOST, HOST:PORT",
        "'file:///' of fs.defaultFS is no file system for jobs"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(HadoopSettingsTest, AddressesHaveManyForms) {
  EXPECT_EQ(ParseHadoopAddress("h", 7).value(), (HostPort{"h", 7}));
  EXPECT_EQ(ParseHadoopAddress("h:1", 7).value(), (HostPort{"h", 1}));
  EXPECT_EQ(ParseHadoopAddress("http://h:1/x", 7).value(), (HostPort{"h", 1}));
  EXPECT_EQ(ParseHadoopAddress("hdfs://[::1]:2", 7).value(), (HostPort{"::1", 2}));
  for (const char* wrong : {"", "http://", "/x", "h:0", "a b:1", "${host}:1"})
    EXPECT_FALSE(ParseHadoopAddress(wrong, 7)) << wrong;
}

TEST(HadoopSettingsTest, NodeManagersMayTakeAnyPort) {
  const HadoopSettings read =
      Good({{"fs.defaultFS", "hdfs://nn"}, {"yarn.nodemanager.webapp.address", "0.0.0.0:0"}});
  EXPECT_EQ(read.node_manager_web_port, 0);
}

TEST(HadoopSettingsTest, AUmaskIsANumberOrWhatStays) {
  EXPECT_EQ(ParseUmask("022"), 0022u);
  EXPECT_EQ(ParseUmask("0077"), 0077u);
  EXPECT_EQ(ParseUmask("u=rwx,g=r-x,o="), 0027u);
  EXPECT_EQ(ParseUmask("a=rx"), 0222u);
  for (const char* wrong : {"", "9", "1777", "u+x", "u=q", "=r", "x=r"})
    EXPECT_EQ(ParseUmask(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace tfyarn::config::hadoop_settings_test
