#include "core/model/ids.h"

#include <gtest/gtest.h>

namespace tfyarn::ids_test {
namespace {

ContainerId Container(std::int64_t rm_epoch, std::int64_t number) {
  return {.application_attempt = {.application = {.cluster_timestamp = 1700000000000, .id = 12},
                                  .attempt = 3},
          .id = (rm_epoch << 40) | number};
}

// Source: ApplicationId.java, ApplicationAttemptId.java, ContainerId.java.
TEST(IdsTest, TextFormsAreYarns) {
  EXPECT_EQ(ToString(ApplicationId{.cluster_timestamp = 1700000000000, .id = 12}),
            "application_1700000000000_0012");
  EXPECT_EQ(ToString(ApplicationId{.cluster_timestamp = 1, .id = 123456}), "application_1_123456");
  EXPECT_EQ(ToString(Container(0, 1).application_attempt), "appattempt_1700000000000_0012_000003");
  EXPECT_EQ(ToString(Container(0, 1)), "container_1700000000000_0012_03_000001");
  EXPECT_EQ(ToString(Container(1, 1)), "container_e01_1700000000000_0012_03_000001");
  EXPECT_EQ(ToString(NodeId{.host = "n1", .port = 45454}), "n1:45454");
  EXPECT_EQ(ToString(TaskId{.type = "worker", .index = 1}), "worker:1");
}

TEST(IdsTest, AContainerIdIsReadBackAsItWas) {
  for (const ContainerId& id : {Container(0, 1), Container(1, 1), Container(123, 7654321),
                                Container(0, (1LL << 40) - 1), Container(0x7fffff, 5)}) {
    const auto parsed = ParseContainerId(ToString(id));
    ASSERT_TRUE(parsed.has_value()) << ToString(id);
    EXPECT_EQ(*parsed, id);
  }
}

TEST(IdsTest, WhatIsNoContainerIdIsRefused) {
  for (const char* text :
       {"", "container", "container_", "container_1_2_3", "container_1_2_3_4_5_6",
        "contain_1_0001_01_000001", "container_x_0001_01_000001", "container_1_0001_01_",
        "container_1_0001_01_1x", "container_f01_1_0001_01_000001", "container_e_1_0001_01_000001",
        "container_e99999999_1_0001_01_000001", "container_e-1_1_0001_01_000001",
        "container_1_0001_01_1099511627776", "container_1_99999999999_01_000001",
        "container_-1_0001_01_000001", "container_1_-1_01_000001", "container_1_0001_-1_000001",
        "container_1_0001_01_-1"}) {
    const auto parsed = ParseContainerId(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(parsed.error().message.find("is not a container id"), std::string::npos);
  }
}

TEST(IdsTest, ATaskIsTypeAndIndex) {
  EXPECT_EQ(ParseTaskId("worker:12"), (TaskId{.type = "worker", .index = 12}));
  for (const char* text :
       {"", "worker", "worker:", ":1", "worker:-1", "worker:1x", "worker:4294967296"}) {
    EXPECT_FALSE(ParseTaskId(text).has_value()) << text;
  }
}

TEST(IdsTest, ContainersOfOneAttemptAreOrderedByTheWholeNumber) {
  EXPECT_LT(Container(0, 1), Container(0, 2));
  EXPECT_LT(Container(0, 99), Container(1, 1));
}

TEST(IdsTest, StrongNumbersCountUp) {
  EXPECT_EQ(Incarnation(3).next(), Incarnation(4));
  EXPECT_LT(Epoch(1), Epoch(2));
}

}  // namespace
}  // namespace tfyarn::ids_test
