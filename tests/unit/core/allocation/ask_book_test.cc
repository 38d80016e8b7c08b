#include "core/allocation/ask_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::allocation::ask_book_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Resource kSize{.memory_mb = 1024, .vcores = 1};

Ask Anywhere(std::int32_t priority, std::int32_t count, std::int64_t id = 0) {
  return {.key = {priority, id}, .capability = kSize, .count = count};
}

yarn::Container From(std::int32_t priority, const std::string& host = "a", std::int64_t id = 0) {
  return {
      .node = {host, 8041}, .resource = kSize, .priority = priority, .allocation_request_id = id};
}

/// "1/0 * 4" for each row; "!" marks a strict one.
std::vector<std::string> Rows(AskBook& book) {
  std::vector<std::string> rows;
  for (const yarn::ResourceRequest& row : book.TakeChanges()) {
    rows.push_back(std::to_string(row.priority.value()) + "/" +
                   std::to_string(row.allocation_request_id) + " " + row.resource_name + " " +
                   std::to_string(row.num_containers) + (row.relax_locality ? "" : "!"));
  }
  return rows;
}

TEST(AskBookTest, AnAskIsToldOnceAndGrantsAreNoReasonToTellItAgain) {
  AskBook book;
  book.SetWanted({Anywhere(1, 4)});
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 4"));
  book.OnAnswered({});
  EXPECT_FALSE(book.changed());

  book.OnAnswered({From(1), From(1)});
  book.SetWanted({Anywhere(1, 2)});
  EXPECT_FALSE(book.changed());
  EXPECT_EQ(book.told_total(), 2);
  book.OnAnswered({From(1), From(1)});
  book.SetWanted({});
  EXPECT_FALSE(book.changed()) << "the RM counted down to nothing by itself";
}

TEST(AskBookTest, WhatIsWithdrawnIsSetToZeroNeverBelow) {
  AskBook book;
  book.SetWanted({Anywhere(1, 4)});
  static_cast<void>(book.TakeChanges());
  book.OnAnswered({From(1)});
  book.SetWanted({});
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 0"));
  book.OnAnswered({From(1), From(1)});
  EXPECT_THAT(Rows(book), IsEmpty());
}

// Source: hadoop-wire notes on over-allocation: rows are lowered when the RM allocates, grants are
// delivered with the next answer. The grants in the answer to a raised row were made by the old
// one.
TEST(AskBookTest, GrantsInTheAnswerToARaisedRowBelongToTheOldRow) {
  AskBook book;
  book.SetWanted({Anywhere(1, 2)});
  static_cast<void>(book.TakeChanges());
  book.OnAnswered({});
  book.SetWanted({Anywhere(1, 3)});
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 3"));
  book.OnAnswered({From(1), From(1)});
  EXPECT_EQ(book.told_total(), 3);
  book.SetWanted({Anywhere(1, 1)});
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 1"));
}

TEST(AskBookTest, AnRmThatGrantsAtOnceIsBelieved) {
  AskBook book;
  book.SetWanted({Anywhere(1, 2)});
  static_cast<void>(book.TakeChanges());
  book.OnAnswered({From(1), From(1)});
  book.SetWanted({});
  EXPECT_FALSE(book.changed());
}

TEST(AskBookTest, HostsComeWithTheirRacksAndAStrictTotalAndOnlyTheTotalHasTheLabel) {
  AskBook book;
  Ask ask = Anywhere(3, 3, 7);
  ask.node_label = "gpu";
  ask.hosts = {{"a", "/r1", 2}, {"b", "/r2", 1}};
  ask.racks = {{"/r1", 2}, {"/r2", 1}};
  book.SetWanted({ask});
  const std::vector<yarn::ResourceRequest> rows = book.TakeChanges();
  ASSERT_EQ(rows.size(), 5U);
  for (const yarn::ResourceRequest& row : rows) {
    EXPECT_EQ(row.node_label_expression.has_value(), row.resource_name == "*");
    EXPECT_EQ(row.relax_locality, row.resource_name == "a" || row.resource_name == "b");
    EXPECT_EQ(row.priority, 3);
  }
  EXPECT_EQ(rows.back().resource_name, "*");
  EXPECT_EQ(rows.back().node_label_expression, "gpu");

  book.OnAnswered({From(3, "a", 7)});
  ask.count = 2;
  ask.hosts = {{"a", "/r1", 1}, {"b", "/r2", 1}};
  ask.racks = {{"/r1", 1}, {"/r2", 1}};
  book.SetWanted({ask});
  EXPECT_FALSE(book.changed()) << "the RM lowered host, rack and total together";
}

TEST(AskBookTest, ARefusedRequestWasNeverTold) {
  AskBook book;
  book.SetWanted({Anywhere(1, 2)});
  static_cast<void>(book.TakeChanges());
  book.OnAnswered({});
  book.SetWanted({Anywhere(1, 5), Anywhere(2, 1)});
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 5", "2/0 * 1"));
  book.OnRefused();
  EXPECT_EQ(book.told_total(), 2);
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 5", "2/0 * 1"));
}

TEST(AskBookTest, AnRmThatForgotIsToldEverythingThatIsWantedAndNoZeros) {
  AskBook book;
  book.SetWanted({Anywhere(1, 2), Anywhere(2, 1)});
  static_cast<void>(book.TakeChanges());
  book.OnAnswered({From(1)});
  book.SetWanted({Anywhere(1, 1)});
  book.ForgetTold();
  EXPECT_THAT(Rows(book), ElementsAre("1/0 * 1"));
}

}  // namespace
}  // namespace tfyarn::allocation::ask_book_test
