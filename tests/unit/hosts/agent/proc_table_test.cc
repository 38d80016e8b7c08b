// /proc/PID/stat, whatever a process calls itself.
#include "hosts/agent/proc_table.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace tfyarn::agent_host::proc_table_test {
namespace {

TEST(ParseStatTest, ANameMayHoldAnything) {
  const auto info = ParseStat(
      "42 (a) Z 1 (\n b) S 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 9999 3 0\n");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->pid, 42);
  EXPECT_EQ(info->state, 'S');
  EXPECT_EQ(info->parent, 7);
  EXPECT_EQ(info->group, 42);
  EXPECT_EQ(info->session, 40);
  EXPECT_EQ(info->start_time, 123456U);
  EXPECT_EQ(info->rss_bytes, 3U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

TEST(ParseStatTest, BrokenTextIsNone) {
  for (const char* text : {"", "42", "42 (x", "x (y) S 1", "42 (x)"}) {
    EXPECT_FALSE(ParseStat(text)) << text;
  }
}

TEST(ReadProcessTest, ShowsThisProcess) {
  const auto info = ReadProcess(::getpid());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->parent, ::getppid());
  EXPECT_EQ(info->group, ::getpgrp());
  EXPECT_EQ(info->session, ::getsid(0));
  EXPECT_GT(info->rss_bytes, 1U << 20);
  EXPECT_TRUE(ReadProcessTable().contains(::getpid()));
}

TEST(WithDescendantsTest, FollowsEveryLineAndNoOther) {
  ProcessTable table;
  for (const auto& [pid, parent] :
       {std::pair{2, 1}, {3, 2}, {4, 3}, {5, 1}, {6, 5}, {7, 4}, {8, 9}, {9, 8}}) {
    table[pid] = {.pid = pid, .parent = parent};
  }
  EXPECT_THAT(WithDescendants(table, {2}), testing::ElementsAre(2, 3, 4, 7));
  EXPECT_THAT(WithDescendants(table, {3, 5}), testing::ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(WithDescendants(table, {8}), testing::ElementsAre(8, 9)) << "a circle ends";
}

}  // namespace
}  // namespace tfyarn::agent_host::proc_table_test
