#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/yarn/hdfs_staging.h"

namespace tfyarn::hosts::agent_context_test {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

const YarnAddresses kAddresses{.schedulers = {{"rm", 8030}}, .name_nodes = {{"nn", 9870}}};

TEST(AgentContextTest, StartsTheBundledAgentAndTellsItWhereTheClusterIs) {
  const auto context = AgentContext({}, kAddresses, {.path = "/r.tar.gz", .archive = true});
  EXPECT_EQ(context.command, BundledCommand("tfyarn-agent"));
  for (const auto& [name, value] : ToEnvironment(kAddresses))
    EXPECT_THAT(context.environment, Contains(Pair(name, value)));
  EXPECT_EQ(context.local_resources.at(kRuntimeDirectory).path, "/r.tar.gz");
  EXPECT_THAT(context.environment, Not(Contains(Key("YARN_CONTAINER_RUNTIME_TYPE"))));
}

TEST(AgentContextTest, AnImageIsAskedForAsYarnsDockerRuntime) {
  JobSpec job;
  job.container_image = "repo/tf:2";
  const auto context = AgentContext(job, kAddresses, {});
  EXPECT_THAT(context.environment, Contains(Pair("YARN_CONTAINER_RUNTIME_TYPE", "docker")));
  EXPECT_THAT(context.environment,
              Contains(Pair("YARN_CONTAINER_RUNTIME_DOCKER_IMAGE", "repo/tf:2")));
}

}  // namespace
}  // namespace tfyarn::hosts::agent_context_test
