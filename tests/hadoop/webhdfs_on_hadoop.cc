// The WebHDFS client on a real HDFS, whose NameNode's web address is in HADOOP_CLUSTER_WEBHDFS; run
// by webhdfs.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/unit/patience.h"
#include "tests/unit/wire/webhdfs/waiting.h"

namespace tfyarn::wire {
namespace {

namespace fs = std::filesystem;
using hdfs::HdfsErrorCode;
using testing::HasSubstr;

WebHdfsOptions Options(const std::string& user = {}) {
  const char* web = std::getenv("HADOOP_CLUSTER_WEBHDFS");
  if (web == nullptr) std::abort();
  const auto url = ParseHttpUrl(web);
  const char* own = std::getenv("HADOOP_CLUSTER_USER");
  return {.name_nodes = {url->server}, .user = user.empty() ? own : user};
}

class WebHdfsOnHadoop : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(CodeOf(Call(hdfs::DeleteRequest{.path = Path(""), .recursive = true})), std::nullopt);
  }
  hdfs::HdfsResponse Call(hdfs::HdfsRequest request) {
    return CallAndWait(loop_, client_, std::move(request));
  }
  /// As a journal's writer: `client` reads the file, and no other appends to it from then on.
  hdfs::HdfsResponse Take(WebHdfsClient& client, const std::string& path) {
    return CallAndWait(loop_, client, hdfs::ReadRequest{.path = path, .writer = "w"});
  }
  hdfs::HdfsResponse Append(WebHdfsClient& client, const std::string& path, std::string bytes) {
    return CallAndWait(loop_, client,
                       hdfs::AppendRequest{.path = path, .bytes = std::move(bytes), .writer = "w"});
  }
  [[nodiscard]] static std::string Path(const std::string& name) {
    return std::string("/webhdfs test/") +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "/" + name;
  }
  std::vector<std::string> List(const std::string& directory) {
    const auto listed = WaitFor<tl::expected<std::vector<WebHdfsFile>, hdfs::HdfsError>>(
        loop_, [&](auto answer) { client_.List(directory, answer); });
    std::vector<std::string> names;
    if (!listed) return {listed.error().message};
    for (const WebHdfsFile& file : *listed) names.push_back(file.status.path);
    return names;
  }

  boost::asio::io_context loop_;
  WebHdfsClient client_{loop_, Options()};
};

TEST_F(WebHdfsOnHadoop, AFileIsWrittenReadAndKnown) {
  const std::string path = Path("a b%+&#?\xC3\xA9");
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 7);
  const auto made = Call(hdfs::CreateRequest{.path = path, .bytes = bytes});
  const auto* status = std::get_if<hdfs::FileStatus>(&made);
  ASSERT_NE(status, nullptr) << BytesOf(made);
  EXPECT_EQ(status->path, path);
  EXPECT_EQ(status->size, 300'000);
  EXPECT_GT(status->modification_time, 1'700'000'000'000);
  EXPECT_EQ(BytesOf(Call(hdfs::ReadRequest{.path = path})), bytes);
  EXPECT_EQ(List(Path("").substr(0, Path("").size() - 1)), std::vector<std::string>{path});
  const auto again = Call(hdfs::CreateRequest{.path = path, .bytes = "x", .overwrite = false});
  EXPECT_EQ(CodeOf(again), HdfsErrorCode::kAlreadyExists);
  EXPECT_EQ(CodeOf(Call(hdfs::CreateRequest{.path = path, .bytes = "x"})), std::nullopt);
  EXPECT_EQ(BytesOf(Call(hdfs::ReadRequest{.path = path})), "x");
}

TEST_F(WebHdfsOnHadoop, AppendsGrowAFileAndMakeOne) {
  const std::string path = Path("grown");
  for (const char* bytes : {"one ", "two ", "three"})
    EXPECT_EQ(CodeOf(Call(hdfs::AppendRequest{.path = path, .bytes = bytes})), std::nullopt);
  EXPECT_EQ(BytesOf(Call(hdfs::ReadRequest{.path = path})), "one two three");
}

TEST_F(WebHdfsOnHadoop, DirectoriesAreMadeRenamedAndDeleted) {
  EXPECT_EQ(CodeOf(Call(hdfs::MkdirsRequest{.path = Path("d/e")})), std::nullopt);
  EXPECT_EQ(CodeOf(Call(hdfs::CreateRequest{.path = Path("d/f"), .bytes = ""})), std::nullopt);
  EXPECT_EQ(List(Path("d")), (std::vector<std::string>{Path("d/e"), Path("d/f")}));
  const auto rename = [&](const std::string& from, const std::string& to) {
    return *WaitFor<tl::expected<bool, hdfs::HdfsError>>(
        loop_, [&](auto answer) { client_.Rename(from, to, answer); });
  };
  EXPECT_TRUE(rename(Path("d/f"), Path("d/g")));
  EXPECT_FALSE(rename(Path("d/f"), Path("d/g")));
  EXPECT_EQ(CodeOf(Call(hdfs::DeleteRequest{.path = Path("d")})), HdfsErrorCode::kInvalidPath);
  EXPECT_EQ(CodeOf(Call(hdfs::DeleteRequest{.path = Path("d"), .recursive = true})), std::nullopt);
  EXPECT_EQ(CodeOf(Call(hdfs::DeleteRequest{.path = Path("d"), .recursive = true})), std::nullopt);
  EXPECT_EQ(CodeOf(Call(hdfs::GetFileStatusRequest{.path = Path("d")})), HdfsErrorCode::kNotFound);
}

TEST_F(WebHdfsOnHadoop, ErrorsAreThoseOfTheProduct) {
  EXPECT_EQ(CodeOf(Call(hdfs::ReadRequest{.path = Path("none")})), HdfsErrorCode::kNotFound);
  ASSERT_EQ(CodeOf(Call(hdfs::CreateRequest{.path = Path("file")})), std::nullopt);
  EXPECT_EQ(CodeOf(Call(hdfs::MkdirsRequest{.path = Path("file/below")})),
            HdfsErrorCode::kInvalidPath);
  EXPECT_EQ(CodeOf(Call(hdfs::ReadRequest{.path = "relative"})), HdfsErrorCode::kInvalidPath);
  WebHdfsClient stranger(loop_, Options("stranger"));
  const auto denied = CallAndWait(loop_, stranger, hdfs::CreateRequest{.path = Path("theirs")});
  EXPECT_EQ(CodeOf(denied), HdfsErrorCode::kAccessDenied);
  EXPECT_THAT(BytesOf(denied), HasSubstr("Permission denied: user=stranger"));
}

std::string Text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int64_t ResidentKib() {
  std::int64_t pages = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

TEST_F(WebHdfsOnHadoop, LargeFilesGoFromDiskToDisk) {
  const fs::path local =
      fs::temp_directory_path() / ("tfyarn-webhdfs-" + std::to_string(::getpid()));
  const fs::path back = local.string() + ".back";
  {
    std::ofstream file(local, std::ios::binary);
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) file << i << piece;
  }
  const auto before = ResidentKib();
  const auto up = WaitFor<hdfs::HdfsResponse>(
      loop_, [&](auto answer) { client_.Upload(local, Path("large"), true, answer); });
  ASSERT_TRUE(std::holds_alternative<hdfs::FileStatus>(up)) << BytesOf(up);
  const auto fetch = [&](std::uint64_t most) {
    return WaitFor<hdfs::HdfsResponse>(
        loop_, [&](auto answer) { client_.Download(Path("large"), back, most, answer); });
  };
  const auto down = fetch(fs::file_size(local));
  EXPECT_EQ(CodeOf(down), std::nullopt) << BytesOf(down);
  EXPECT_LT(ResidentKib() - before, 2048);
  EXPECT_EQ(fs::status(back).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(Text(local) == Text(back));
  const auto limited = fetch(1 << 20);
  EXPECT_EQ(CodeOf(limited), HdfsErrorCode::kInvalidPath);
  EXPECT_THAT(BytesOf(limited), HasSubstr("more than 1048576 bytes"));
  fs::remove(local);
  fs::remove(back);
}

TEST_F(WebHdfsOnHadoop, WhoTakesAFileReadsItAndFencesItsWriter) {
  const std::string path = Path("journal");
  WebHdfsClient older(loop_, Options());
  EXPECT_EQ(CodeOf(Append(older, path, "early")), HdfsErrorCode::kLeaseLost);
  EXPECT_EQ(CodeOf(Take(older, path)), HdfsErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(Append(older, path, "one ")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(older, path, "two ")), std::nullopt);
  EXPECT_EQ(BytesOf(Take(client_, path)), "one two ");
  EXPECT_EQ(CodeOf(Append(client_, path, "three ")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(older, path, "late ")), HdfsErrorCode::kLeaseLost);
  EXPECT_EQ(BytesOf(Take(older, path)), "one two three ");
  EXPECT_EQ(CodeOf(Append(client_, path, "late ")), HdfsErrorCode::kLeaseLost);
}

// More attributes than a file has room for, and bytes that are too many for one.
TEST_F(WebHdfsOnHadoop, ShortAndLongEntriesAreReadInTheirOrder) {
  const std::string path = Path("many");
  WebHdfsClient older(loop_, Options());
  Take(older, path);
  std::string all;
  for (int i = 0; i < 60; ++i) {
    std::string entry =
        std::to_string(i) +
        std::string(static_cast<std::size_t>(i % 25 == 10 ? 4500 : i % 3 * 1300), '\xfe');
    all += entry;
    EXPECT_EQ(CodeOf(Append(older, path, std::move(entry))), std::nullopt);
  }
  EXPECT_EQ(BytesOf(Take(client_, path)), all);
}

// The machine of the older writer has gone without a word, in the middle of an append: its lease
// stays, and no later writer waits for it.
TEST_F(WebHdfsOnHadoop, AStreamThatIsOpenHoldsNobodyUp) {
  const std::string path = Path("journal");
  WebHdfsClient older(loop_, Options());
  Take(older, path);
  Append(older, path, "whole ");

  const WebHdfsOptions options = Options();
  HttpRequest first{.method = "POST",
                    .url = {.server = options.name_nodes[0],
                            .target = "/webhdfs/v1" + EncodePath(path) +
                                      ".1.open?op=APPEND&user.name=" + options.user}};
  std::shared_ptr<HttpExchange> exchange;
  const auto redirect = WaitFor<tl::expected<HttpReply, HttpFailure>>(
      loop_, [&](auto done) { exchange = StartHttpExchange(loop_, {}, first, done); });
  ASSERT_TRUE(redirect);
  const auto there = ParseHttpUrl(redirect->location);
  ASSERT_TRUE(there) << redirect->location;
  boost::asio::ip::tcp::socket stuck(loop_);
  stuck.connect({boost::asio::ip::make_address(there->server.host),
                 static_cast<std::uint16_t>(there->server.port)});
  boost::asio::write(
      stuck, boost::asio::buffer("POST " + there->target +
                                 " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ntorn"));
  std::string answer(12, ' ');  // "HTTP/1.1 100": the DataNode has begun.
  boost::asio::read(stuck, boost::asio::buffer(answer));
  EXPECT_EQ(answer, "HTTP/1.1 100");

  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(BytesOf(Take(client_, path)), testing::StartsWith("whole "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(CodeOf(Append(client_, path, "new")), std::nullopt);
  EXPECT_EQ(CodeOf(Append(older, path, "old")), HdfsErrorCode::kLeaseLost);
}

// Every append that was answered is in what the last writer reads, and none that was refused
// counts as appended.
TEST_F(WebHdfsOnHadoop, OfManyThatTakeAndAppendAtOnceEachAnswerIsTrue) {
  const std::string path = Path("contended");
  constexpr int kClients = 5;
  std::vector<std::unique_ptr<WebHdfsClient>> clients;
  std::vector<std::string> done;
  int open = 0;
  const std::function<void(int, int)> append = [&](int who, int left) {
    const std::string bytes = std::to_string(who) + ":" + std::to_string(left) + ";";
    ++open;
    clients[static_cast<std::size_t>(who)]->Call(
        hdfs::AppendRequest{.path = path, .bytes = bytes, .writer = "w"},
        [&, who, left, bytes](const hdfs::HdfsResponse& response) {
          --open;
          if (CodeOf(response)) return;
          done.push_back(bytes);
          if (left > 0) append(who, left - 1);
        });
  };
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(std::make_unique<WebHdfsClient>(loop_, Options()));
    ++open;
    clients.back()->Call(hdfs::ReadRequest{.path = path, .writer = "w"},
                         [&, who](const hdfs::HdfsResponse&) {
                           --open;
                           append(who, 20);
                         });
  }
  loop_.restart();
  const auto end = std::chrono::steady_clock::now() + Patience(4min);
  while (open > 0 && loop_.run_one_until(end) > 0) {
  }
  ASSERT_EQ(open, 0);
  const std::string all = BytesOf(Call(hdfs::ReadRequest{.path = path, .writer = "w"}));
  for (const std::string& bytes : done) EXPECT_THAT(all, HasSubstr(bytes));
  // The last one to take it was never refused.
  EXPECT_GE(done.size(), 21u);
}

}  // namespace
}  // namespace tfyarn::wire
