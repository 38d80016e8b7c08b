#include "core/model/launch.h"

#include <gtest/gtest.h>

namespace tfyarn::launch_test {
namespace {

AgentLaunch Sample() {
  return {.fence = {.container = {.application_attempt = {.application = {1700000000000, 7},
                                                          .attempt = 1},
                                  .id = (1LL << 40) + 2},
                    .task = {"worker", 3},
                    .incarnation = Incarnation(2),
                    .nonce = Nonce(UINT64_MAX)},
          .am_attempt = 1,
          .am_address = {.host = "n1.example.org", .port = 31000},
          .staging_directory = "/user/ann/.tfyarn/application_1700000000000_0007"};
}

TEST(LaunchTest, AnAgentReadsBackWhatItWasGiven) {
  const auto environment = ToEnvironment(Sample());
  EXPECT_EQ(LaunchRole(environment), "agent");
  const auto read = AgentLaunchFrom(environment);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->fence, Sample().fence);
  EXPECT_EQ(read->am_attempt, 1);
  EXPECT_EQ(read->am_address, Sample().am_address);
  EXPECT_EQ(read->staging_directory, Sample().staging_directory);
}

TEST(LaunchTest, AnAmReadsBackItsDirectory) {
  const auto environment = ToEnvironment(AmLaunch{.staging_directory = "/d"});
  EXPECT_EQ(LaunchRole(environment), "am");
  EXPECT_EQ(AmLaunchFrom(environment)->staging_directory, "/d");
  EXPECT_FALSE(AmLaunchFrom({}).has_value());
}

TEST(LaunchTest, EveryMissingVariableIsNamed) {
  for (const auto& [name, value] : ToEnvironment(Sample())) {
    if (name == "TFYARN_ROLE") continue;  // Says which of the two to read, no more.
    auto environment = ToEnvironment(Sample());
    environment.erase(name);
    const auto read = AgentLaunchFrom(environment);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(read.error().message.find(name), std::string::npos) << read.error().message;
  }
}

TEST(LaunchTest, EveryMalformedVariableIsRefused) {
  for (const auto& [name, value] : ToEnvironment(Sample())) {
    if (name == "TFYARN_ROLE" || name == "TFYARN_STAGING_DIRECTORY" || name == "TFYARN_AM_HOST")
      continue;
    for (const char* bad : {"", "x", "1x", " 1", "99999999999999999999999"}) {
      auto environment = ToEnvironment(Sample());
      environment[name] = bad;
      const auto read = AgentLaunchFrom(environment);
      ASSERT_FALSE(read.has_value()) << name << "=" << bad;
      EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    }
  }
}

// A NodeManager writes `export K="value"` unescaped into a shell script.
TEST(LaunchTest, ValuesAreWordsThatAShellLeavesAlone) {
  for (const auto& [name, value] : ToEnvironment(Sample())) {
    EXPECT_EQ(value.find_first_of(" \"'$`\\\n{}<>"), std::string::npos) << name << "=" << value;
  }
}

TEST(LaunchTest, OtherProcessesHaveNoRole) {
  EXPECT_EQ(LaunchRole({{"HOME", "/"}}), "");
}

TEST(AmAddressTest, TheNewestOfWholeLinesCounts) {
  const std::string second = ToText(AmAddress{2, {.host = "gpu-1", .port = 40000}});
  EXPECT_EQ(second, "2 gpu-1 40000\n");
  const std::string first = ToText(AmAddress{1, {.host = "gpu-0", .port = 39999}});
  for (const std::string& text : {second, first + second, second + first, second + "3 gpu-2 400",
                                  second + "3 gpu-2\n", "x\n\n" + second + "9 a b\n"}) {
    const AmAddress known = AmAddressFrom(text);
    EXPECT_EQ(known.am_attempt, 2) << text;
    EXPECT_EQ(known.address.host, "gpu-1") << text;
    EXPECT_EQ(known.address.port, 40000) << text;
  }
  EXPECT_EQ(AmAddressFrom("").am_attempt, 0);
  EXPECT_EQ(AmAddressFrom("2 gpu-1 40000").am_attempt, 0);
}

}  // namespace
}  // namespace tfyarn::launch_test
