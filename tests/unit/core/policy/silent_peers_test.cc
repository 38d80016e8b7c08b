// Words of TensorFlow 2.21, as its survivors wrote them.
#include "core/policy/silent_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::policy::silent_peers_test {
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

/// The last words of a chief that handed work to a worker whose connection to the ps was refused.
constexpr const char* kRefused =
    "tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses; "
    "last error: UNKNOWN: ipv4:127.0.0.1:47297: Failed to connect to remote host: Connection "
    "refused\n"
    "Additional GRPC error information from remote target /job:ps/replica:0/task:3/device:CPU:0 "
    "while calling /tensorflow.eager.EagerService/Enqueue:\n"
    ":UNKNOWN:Error received from peer  {grpc_message:\"failed to connect to all addresses; last "
    "error: UNKNOWN: ipv4:127.0.0.1:47297: Failed to connect to remote host: Connection "
    "refused\", grpc_status:14}\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while "
    "calling /tensorflow.eager.EagerService/Enqueue:\n";

TEST(UnreachablePeerTest, TheTaskThatRefusedIsNamedAndNotWhoPassedItOn) {
  EXPECT_EQ(UnreachablePeerIn(kRefused), (TaskId{"ps", 3}));
  EXPECT_EQ(UnreachablePeerIn(std::string("Traceback (most recent call last):\n") + kRefused),
            (TaskId{"ps", 3}));
}

TEST(UnreachablePeerTest, OnlyTheLastErrorCounts) {
  const std::string handled = std::string(kRefused) + "During handling of the above exception, ";
  EXPECT_EQ(UnreachablePeerIn(handled + "another occurred:\nUnavailableError: Socket closed\n"),
            std::nullopt);
}

TEST(UnreachablePeerTest, WhatIsCutOrAnotherErrorNamesNobody) {
  const std::string refused = kRefused;
  for (const std::size_t cut : {refused.find("failed to connect"), refused.find("remote target"),
                                refused.find("/job:ps"), refused.find("3/device")}) {
    EXPECT_EQ(UnreachablePeerIn(refused.substr(0, cut)), std::nullopt) << refused.substr(0, cut);
  }
  EXPECT_EQ(UnreachablePeerIn(refused.substr(0, refused.find("/device"))), std::nullopt);
  EXPECT_EQ(UnreachablePeerIn("ValueError: failed to connect to all addresses; remote target "
                              "/job:ps/replica:0/task:0 while"),
            std::nullopt);
  EXPECT_EQ(UnreachablePeerIn("UnavailableError: Socket closed, remote target "
                              "/job:ps/replica:0/task:0 while"),
            std::nullopt);
}

}  // namespace
}  // namespace tfyarn::policy::silent_peers_test
