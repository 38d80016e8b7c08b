// What people are told of a port.
#include "core/model/port_use.h"

#include <gmock/gmock.h>

namespace tfyarn::port_use_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

PortUseFound Found(PortListener listener, std::vector<std::int32_t> elsewhere = {}) {
  return {.task = {.type = "worker", .index = 1},
          .process = {},
          .container = {},
          .address = {.host = "n3", .port = 41233},
          .use = {.listener = listener, .elsewhere = std::move(elsewhere)},
          .after = 5min};
}

TEST(PortUseTest, WhoDoesNotListenIsToldWithPortTimeAndWhatToLookAt) {
  EXPECT_THAT(PortUseInWords(Found(PortListener::kNobody)),
              AllOf(StartsWith("worker:1 does not listen on its port 41233, 5m after its start"),
                    HasSubstr("TF_CONFIG")));
}

TEST(PortUseTest, WhereItListensInsteadIsTold) {
  EXPECT_THAT(PortUseInWords(Found(PortListener::kNobody, {5001, 5002})),
              StartsWith("worker:1 listens on 5001, 5002, not on its port 41233, 5m"));
}

TEST(PortUseTest, AStrangerIsToldWithTheMachine) {
  EXPECT_THAT(PortUseInWords(Found(PortListener::kStranger)),
              AllOf(StartsWith("another program listens on the port of worker:1, 41233"),
                    HasSubstr("on n3")));
}

TEST(PortUseTest, WhoListensHasNothingToBeBlamedFor) {
  const PortUseFound found = Found(PortListener::kOurs);
  EXPECT_EQ(PortUseInBrief(found.task, found.use, 41233), "");
  EXPECT_THAT(PortUseInWords(found), StartsWith("worker:1 listens on its port 41233"));
}

}  // namespace
}  // namespace tfyarn::port_use_test
