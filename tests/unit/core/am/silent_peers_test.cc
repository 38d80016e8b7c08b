// Words of TensorFlow 2.21, as its survivors wrote them.
#include "core/am/silent_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::am {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SilentPeersTest, TheTasksThatStoppedSendingHeartbeatsAreNamed) {
  EXPECT_THAT(
      SilentPeersIn("Collective ops is aborted by: Error reported from /job:worker/task:1: The "
                    "following tasks are unhealthy (stopped sending heartbeats):\n"
                    "/job:worker/replica:0/task:1\n"
                    "/job:chief/replica:0/task:0\n"
                    "The tasks have crashed. Check the task logs for an earlier error\n"
                    "\t [[{{node CollectiveReduceV2}}]] [Op:__inference_one_step_203]\n"),
      ElementsAre(TaskId{"worker", 1}, TaskId{"chief", 0}));
}

TEST(SilentPeersTest, TheSameWordsSaidTwiceNameATaskOnce) {
  const std::string once = "unhealthy (stopped sending heartbeats):\n/job:worker/replica:0/task:2";
  EXPECT_THAT(SilentPeersIn(once + "\n" + once + "\n"), ElementsAre(TaskId{"worker", 2}));
}

TEST(SilentPeersTest, ABrokenConnectionNamesNoTask) {
  EXPECT_THAT(SilentPeersIn("Collective ops is aborted by: Connection reset by peer\n"
                            "Additional GRPC error information from remote target "
                            "/job:worker/replica:0/task:1 while calling RecvBuf:\n"),
              IsEmpty());
}

TEST(SilentPeersTest, WhatIsCutOrMeansNoTaskIsPassedOver) {
  const std::string heading = "unhealthy (stopped sending heartbeats):";
  for (const char* rest :
       {"", "\n", "\n/job:", "\n/job:/replica:0/task:1", "\n/job:worker",
        "\n/job:worker/replica:0/task:", "\n/job:worker/replica:0/task:-1",
        "\n/job:worker/replica:x/task:1", "\n/job:worker/replica:0/task:1x",
        "\n/job:worker/replica:0/task:99999999999", " /job:worker/replica:0/task:1"}) {
    EXPECT_THAT(SilentPeersIn(heading + rest), IsEmpty()) << rest;
  }
}

}  // namespace
}  // namespace tfyarn::am
