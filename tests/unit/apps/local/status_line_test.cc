#include "apps/local/status_line.h"

#include <gtest/gtest.h>

namespace tfyarn::local::status_line_test {
namespace {

trace::TraceRecord Ordered(AmAction action) {
  return {.fact = trace::AmOrdered{.job = trace::kOnlyJob, .action = std::move(action)}};
}

TEST(StatusLine, SaysThatNodesAreWaitedFor) {
  StatusFacts facts{.state = "allocating", .tasks = 2};
  EXPECT_EQ(StatusText(facts, 3s), "allocating  0/2 tasks run  3 s");
  Fold(facts, Ordered(NodesAwaited{.limit = "worker needs 5 GPUs", .at_most = 10min}));
  EXPECT_EQ(StatusText(facts, 3s),
            "allocating  0/2 tasks run  waits for nodes that may still come  3 s");
  Fold(facts, Ordered(NodesAwaited{}));
  EXPECT_EQ(StatusText(facts, 3s), "allocating  0/2 tasks run  3 s");
}

}  // namespace
}  // namespace tfyarn::local::status_line_test
