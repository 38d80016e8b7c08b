#include "hosts/local/local_environment.h"

#include <gmock/gmock.h>

#include "core/model/text.h"
#include "hosts/local/machine.h"

namespace tfyarn::hosts::local_environment_test {
namespace {

using testing::HasSubstr;

std::map<std::string, std::string> Whole() {
  auto environment = ToEnvironment({.storage = "/run/storage",
                                    .recordings = "/run/records",
                                    .shared = "/run/shared",
                                    .heartbeat = 100ms});
  environment["CONTAINER_ID"] = "container_5_0001_01_000002";
  environment["NM_HOST"] = "here";
  environment["LOG_DIRS"] = "/run/logs";
  return environment;
}

TEST(LocalEnvironmentTest, ComesBackAsItWas) {
  const auto local = LocalEnvironmentFrom(Whole());
  ASSERT_TRUE(local) << local.error().message;
  EXPECT_EQ(ToString(local->container), "container_5_0001_01_000002");
  EXPECT_EQ(local->host, "here");
  EXPECT_EQ(local->logs, "/run/logs");
  EXPECT_EQ(local->storage, "/run/storage");
  EXPECT_EQ(local->recordings, "/run/records");
  EXPECT_EQ(local->shared, "/run/shared");
  EXPECT_EQ(local->heartbeat, 100ms);
}

TEST(LocalEnvironmentTest, NamesWhatIsMissing) {
  for (const auto& [name, value] : Whole()) {
    auto environment = Whole();
    environment.erase(name);
    const auto missing = LocalEnvironmentFrom(environment);
    ASSERT_FALSE(missing) << name;
    EXPECT_EQ(missing.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(missing.error().message, HasSubstr(name));
    environment[name] = "";
    EXPECT_FALSE(LocalEnvironmentFrom(environment)) << name;
  }
}

TEST(LocalEnvironmentTest, NamesWhatIsMalformed) {
  for (const char* text : {"0", "-5", "1s", "x", "99999999999999999999"}) {
    auto environment = Whole();
    environment["TFYARN_RM_HEARTBEAT_MS"] = text;
    const auto malformed = LocalEnvironmentFrom(environment);
    ASSERT_FALSE(malformed) << text;
    EXPECT_THAT(malformed.error().message, HasSubstr("TFYARN_RM_HEARTBEAT_MS"));
  }
  auto environment = Whole();
  environment["CONTAINER_ID"] = "mine";
  EXPECT_FALSE(LocalEnvironmentFrom(environment));
}

TEST(MachineTest, AQuotaIsProcessorsRoundedUp) {
  EXPECT_EQ(ProcessorsOf("150000 100000"), 2);
  EXPECT_EQ(ProcessorsOf("200000 100000\n"), 2);
  EXPECT_EQ(ProcessorsOf("10000 100000"), 1);
  for (const char* none : {"max 100000", "", "100000", "0 100000", "100000 0", "x y"})
    EXPECT_EQ(ProcessorsOf(none), 0) << none;
}

TEST(MachineTest, HasSomethingToOffer) {
  const Resource capacity = MachineCapacity();
  EXPECT_GE(capacity.vcores, 1);
  EXPECT_GE(capacity.memory_mb, 64);
  EXPECT_LT(capacity.memory_mb, std::int64_t{1} << 30);
  EXPECT_GE(capacity.gpus, 0);
}

}  // namespace
}  // namespace tfyarn::hosts::local_environment_test
