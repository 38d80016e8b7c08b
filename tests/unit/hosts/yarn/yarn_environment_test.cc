#include "hosts/yarn/yarn_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::hosts::yarn_environment_test {
namespace {

using testing::HasSubstr;

YarnAddresses Addresses() {
  return {.schedulers = {{"rm1", 8030}, {"rm2", 8031}},
          .name_nodes = {{"nn1", 9870}, {"fe80::1", 9871}},
          .file_system = "nameservice",
          .user = "alice"};
}

std::map<std::string, std::string> InContainer() {
  auto environment = ToEnvironment(Addresses());
  environment["CONTAINER_ID"] = "container_e02_1700000000000_0007_01_000003";
  environment["NM_HOST"] = "node-1";
  environment["LOG_DIRS"] = "/disk1/logs/c3,/disk2/logs/c3";
  environment["HADOOP_TOKEN_FILE_LOCATION"] = "/work/container_tokens";
  return environment;
}

TEST(YarnEnvironmentTest, WhatAClientSaysArrivesInAContainer) {
  const auto found = YarnEnvironmentFrom(InContainer());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->addresses, Addresses());
  EXPECT_EQ(ToString(found->container.container), "container_e02_1700000000000_0007_01_000003");
  EXPECT_EQ(found->container.host, "node-1");
  EXPECT_EQ(found->container.logs, "/disk1/logs/c3");
  EXPECT_EQ(found->container.credentials, "/work/container_tokens");
}

TEST(YarnEnvironmentTest, OnlyAClusterSaysWhereItsSchedulerIs) {
  EXPECT_TRUE(IsOnYarn(InContainer()));
  EXPECT_FALSE(IsOnYarn({{"CONTAINER_ID", "container_1_0001_01_000001"}}));
}

TEST(YarnEnvironmentTest, WhatIsMissingIsNamed) {
  for (const auto& [name, value] : InContainer()) {
    auto environment = InContainer();
    environment.erase(name);
    const auto found = YarnEnvironmentFrom(environment);
    ASSERT_FALSE(found) << name;
    EXPECT_THAT(found.error().message, HasSubstr(name));
  }
}

TEST(YarnEnvironmentTest, WhatIsNoAddressIsNamed) {
  for (const char* wrong : {"rm1", "rm1:", "rm1:x", ":8030", "rm1:0", "rm1:70000", "rm1:8030,,"}) {
    auto environment = InContainer();
    environment["TFYARN_RM_SCHEDULERS"] = wrong;
    const auto found = YarnEnvironmentFrom(environment);
    ASSERT_FALSE(found) << wrong;
    EXPECT_THAT(found.error().message, HasSubstr("TFYARN_RM_SCHEDULERS"));
  }
  auto environment = InContainer();
  environment["CONTAINER_ID"] = "container_x";
  EXPECT_FALSE(YarnEnvironmentFrom(environment));
}

}  // namespace
}  // namespace tfyarn::hosts::yarn_environment_test
