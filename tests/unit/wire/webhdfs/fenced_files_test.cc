// Rules: docs/decisions/0006-journal-on-hdfs.md.
#include "wire/webhdfs/fenced_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/patience.h"
#include "tests/unit/wire/webhdfs/file_namespace.h"
#include "tests/unit/wire/webhdfs/waiting.h"

namespace tfyarn::wire::fenced_files_test {
namespace {

using hdfs::HdfsErrorCode;
using testing::HasSubstr;

class FencedFilesTest : public testing::Test {
 protected:
  hdfs::HdfsResponse Take(WebHdfsClient& client) {
    return CallAndWait(loop_, client, hdfs::ReadRequest{.path = "/d/j", .writer = "w"});
  }
  hdfs::HdfsResponse Append(WebHdfsClient& client, const std::string& bytes) {
    return CallAndWait(loop_, client,
                       hdfs::AppendRequest{.path = "/d/j", .bytes = bytes, .writer = "w"});
  }

  boost::asio::io_context loop_;
  FileNamespace namespace_{loop_};
};

TEST_F(FencedFilesTest, TheNextOneReadsAllAndTheOneBeforeIsToldSo) {
  WebHdfsClient first(loop_, namespace_.Options("first"));
  WebHdfsClient second(loop_, namespace_.Options("second"));
  EXPECT_EQ(CodeOf(Take(first)), HdfsErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(Append(first, "a")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(first, "b")), std::nullopt);
  EXPECT_EQ(BytesOf(Take(second)), "ab");
  EXPECT_EQ(CodeOf(Append(second, "c")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(first, "x")), HdfsErrorCode::kLeaseLost);
  EXPECT_EQ(CodeOf(Append(first, "y")), HdfsErrorCode::kLeaseLost);
  EXPECT_EQ(BytesOf(Take(first)), "abc");
}

TEST_F(FencedFilesTest, WhatIsShortIsAnAttributeAndWhatIsLongIsNot) {
  WebHdfsClient first(loop_, namespace_.Options("first"));
  WebHdfsClient second(loop_, namespace_.Options("second"));
  const std::string binary("a\0\xff\n", 4);
  const std::string large(5000, 'l');
  EXPECT_EQ(CodeOf(Take(first)), HdfsErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(Append(first, binary)), std::nullopt);
  EXPECT_EQ(CodeOf(Append(first, "b")), std::nullopt);
  EXPECT_EQ(namespace_.appends(), 0);
  EXPECT_EQ(CodeOf(Append(first, large)), std::nullopt);
  EXPECT_EQ(namespace_.appends(), 1);
  // Attributes come before bytes: a short one after them needs another file.
  EXPECT_EQ(CodeOf(Append(first, "c")), std::nullopt);
  EXPECT_EQ(namespace_.appends(), 1);
  EXPECT_EQ(namespace_.files(), 2U);
  EXPECT_EQ(BytesOf(Take(second)), binary + "b" + large + "c");
}

TEST_F(FencedFilesTest, AFullFileIsFollowedByAnotherAndALongRowByAppends) {
  WebHdfsClient first(loop_, namespace_.Options("first"));
  WebHdfsClient second(loop_, namespace_.Options("second"));
  EXPECT_EQ(CodeOf(Take(first)), HdfsErrorCode::kNotFound);
  std::string all;
  for (int i = 0; i < 24 * 40; ++i) {
    const std::string word = std::to_string(i) + ",";
    all += word;
    ASSERT_EQ(CodeOf(Append(first, word)), std::nullopt);
  }
  EXPECT_EQ(namespace_.appends(), 0);
  EXPECT_EQ(namespace_.files(), 40U);
  EXPECT_EQ(CodeOf(Append(first, "x")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(first, "y")), std::nullopt);
  EXPECT_EQ(namespace_.appends(), 2);
  EXPECT_EQ(namespace_.files(), 40U);
  EXPECT_EQ(BytesOf(Take(second)), all + "xy");
}

TEST_F(FencedFilesTest, WithoutAttributesAllAreAppends) {
  for (const std::size_t most : {std::size_t{0}, std::size_t{2}}) {
    FileNamespace names(loop_);
    names.LimitAttributes(most);
    WebHdfsClient first(loop_, names.Options("first"));
    WebHdfsClient second(loop_, names.Options("second"));
    EXPECT_EQ(CodeOf(Take(first)), HdfsErrorCode::kNotFound);
    for (const char* word : {"a", "b", "c", "d"})
      EXPECT_EQ(CodeOf(Append(first, word)), std::nullopt);
    EXPECT_EQ(names.appends(), 4 - static_cast<int>(most));
    EXPECT_EQ(BytesOf(Take(second)), "abcd");
    EXPECT_EQ(CodeOf(Append(first, "x")), HdfsErrorCode::kLeaseLost);
  }
}

// As after a NameNode's restart in the middle of an append.
TEST_F(FencedFilesTest, AWriterWhoseStreamHangsGoesOnInTheNextFile) {
  namespace_.LimitAttributes(0);
  WebHdfsClient first(loop_, namespace_.Options("first"));
  WebHdfsClient second(loop_, namespace_.Options("second"));
  EXPECT_EQ(CodeOf(Take(first)), HdfsErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(Append(first, "a")), std::nullopt);
  namespace_.HangStreams();
  EXPECT_EQ(CodeOf(Append(first, "b")), std::nullopt);
  namespace_.HangStreams();
  EXPECT_EQ(CodeOf(Append(first, "c")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(first, "d")), std::nullopt);
  EXPECT_EQ(BytesOf(Take(second)), "abcd");
  EXPECT_EQ(CodeOf(Append(first, "x")), HdfsErrorCode::kLeaseLost);
}

TEST_F(FencedFilesTest, WhoNeverTookItMayNotAppend) {
  WebHdfsClient client(loop_, namespace_.Options("client"));
  EXPECT_EQ(CodeOf(Append(client, "a")), HdfsErrorCode::kLeaseLost);
}

/// A client that takes "/d/j" and appends to it.
class Writer {
 public:
  Writer(boost::asio::io_context& loop, const FileNamespace& names, const std::string& name)
      : name_(name), client_(loop, names.Options(name)) {}

  void Take(std::function<void()> then) {
    client_.Call(hdfs::ReadRequest{.path = "/d/j", .writer = "w"},
                 [this, then = std::move(then)](const hdfs::HdfsResponse& response) {
                   read_ = BytesOf(response);
                   then();
                 });
  }
  /// One more of its own letter.
  void Append(std::function<void()> then) {
    client_.Call(hdfs::AppendRequest{.path = "/d/j", .bytes = name_.substr(0, 1), .writer = "w"},
                 [this, then = std::move(then)](const hdfs::HdfsResponse& response) {
                   code_ = CodeOf(response);
                   then();
                 });
  }
  [[nodiscard]] const std::string& read() const { return read_; }
  [[nodiscard]] bool appended() const { return !code_; }
  [[nodiscard]] bool fenced() const { return code_ == HdfsErrorCode::kLeaseLost; }

 private:
  std::string name_;
  WebHdfsClient client_;
  std::string read_;
  std::optional<HdfsErrorCode> code_ = HdfsErrorCode::kUnavailable;
};

void RunUntil(boost::asio::io_context& loop, const bool& done) {
  const auto end = std::chrono::steady_clock::now() + Patience(1min);
  loop.restart();
  while (!done && loop.run_one_until(end) > 0) {
  }
  ASSERT_TRUE(done);
}

struct Moment {
  int at = 0;           ///< Number of x's request.
  bool before = false;  ///< Before it counts, or after.
  int others = 1;
  bool hang = false;
  bool attributes = true;
};

/// x takes and appends; at one of its requests others take and append, one after the other. With
/// `hang` its stream hangs when it first appends; without `attributes` all are bytes. False: it has
/// no such request.
bool TakenAt(const Moment& moment) {
  const int at = moment.at;
  const bool before = moment.before;
  const int others = moment.others;
  const bool hang = moment.hang;
  SCOPED_TRACE("request " + std::to_string(at) + (before ? " before" : " after") + ", others " +
               std::to_string(others) + (hang ? ", hanging" : "") +
               (moment.attributes ? ", attributes" : ""));
  boost::asio::io_context loop;
  FileNamespace names(loop);
  if (!moment.attributes) names.LimitAttributes(0);
  Writer x(loop, names, "x");
  Writer a(loop, names, "a");
  Writer b(loop, names, "b");
  Writer z(loop, names, "z");
  bool done = false;
  z.Take([&] { z.Append([&] { done = true; }); });
  RunUntil(loop, done);
  bool reached = false;
  names.Hold("x", at, before, [&] {
    reached = true;
    const auto release = [&] { names.Release(); };
    a.Take([&, release] {
      a.Append([&, release] {
        if (others == 1) return release();
        b.Take([&, release] { b.Append(release); });
      });
    });
  });
  done = false;
  x.Take([&] {
    if (hang) names.HangStreams();
    x.Append([&] { done = true; });
  });
  RunUntil(loop, done);
  if (!reached) return false;
  EXPECT_TRUE(a.appended());
  EXPECT_TRUE(x.appended() || x.fenced());
  EXPECT_EQ(others == 2, b.appended());
  // A writer that reads it now finds all that any writer was told to be there.
  Writer last(loop, names, "last");
  done = false;
  last.Take([&] { done = true; });
  RunUntil(loop, done);
  for (const char* told : {"z", "a", others == 2 ? "b" : "a", x.appended() ? "x" : "z"})
    EXPECT_THAT(last.read(), HasSubstr(told));
  // Of two writers one knew of all that the other was told.
  if (x.appended()) {
    const std::string& newest = others == 2 ? b.read() : a.read();
    const std::string letter = others == 2 ? "b" : "a";
    EXPECT_TRUE(newest.find('x') != std::string::npos || x.read().find(letter) != std::string::npos)
        << "x read '" << x.read() << "', the other '" << newest << "'";
  }
  return true;
}

TEST(FencedFilesSweepTest, NoAnswerIsFalseWhenOthersTakeAtAnyMoment) {
  struct Way {
    bool attributes;
    bool hang;
    int requests;
  };
  for (const int others : {1, 2}) {
    for (const bool before : {true, false}) {
      // Eight requests to take; two for an attribute, of which the first is refused where there are
      // none; three to append; seven for another file.
      for (const Way& way : {Way{true, false, 10}, Way{false, false, 12}, Way{false, true, 18}}) {
        Moment moment{
            .before = before, .others = others, .hang = way.hang, .attributes = way.attributes};
        while (TakenAt(moment)) ++moment.at;
        EXPECT_EQ(moment.at, way.requests);
      }
    }
  }
}

// x has listed the row before a's file was there, and makes one of that name when b has sealed a's:
// it is not a's.
TEST(FencedFilesSweepTest, AnotherFileOfTheSameNameIsNotOnesOwn) {
  boost::asio::io_context loop;
  FileNamespace names(loop);
  Writer x(loop, names, "x");
  Writer a(loop, names, "a");
  Writer b(loop, names, "b");
  bool made = false;
  bool done = false;
  constexpr int kCreate = 2;  // LISTSTATUS, CREATE in two steps.
  names.Hold("x", kCreate, true, [&] {
    a.Take([&] {
      b.Take([&] {
        names.Hold("x", 0, true, [&] {
          made = true;
          a.Append([&] { names.Release(); });
        });
        names.Release();
      });
    });
  });
  x.Take([&] { done = true; });
  RunUntil(loop, done);
  EXPECT_TRUE(made);
  EXPECT_TRUE(a.fenced());
}

}  // namespace
}  // namespace tfyarn::wire::fenced_files_test
