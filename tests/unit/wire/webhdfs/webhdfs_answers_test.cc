#include "wire/webhdfs/webhdfs_answers.h"

#include <gtest/gtest.h>

#include "wire/http/http_url.h"

namespace tfyarn::wire::webhdfs_answers_test {
namespace {

using hdfs::HdfsErrorCode;

std::string Exception(const std::string& name, const std::string& message = "m") {
  return R"({"RemoteException":{"exception":")" + name + R"(","javaClassName":"a.b","message":")" +
         message + R"("}})";
}

TEST(WebHdfsAnswersTest, AFileStatusIsRead) {
  const auto file = ParseFileStatus(
      R"({"FileStatus":{"fileId":16387,"length":6,"modificationTime":1795311037179,"pathSuffix":"","type":"FILE"}})",
      "/a");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->status.path, "/a");
  EXPECT_EQ(file->status.size, 6);
  EXPECT_EQ(file->status.modification_time, 1795311037179);
  EXPECT_FALSE(file->status.directory);
  EXPECT_EQ(file->id, 16387);
}

TEST(WebHdfsAnswersTest, AListHasFullPaths) {
  const std::string body =
      R"({"FileStatuses":{"FileStatus":[{"length":0,"modificationTime":1,"pathSuffix":"x","type":"DIRECTORY"}]}})";
  const auto files = ParseFileStatuses(body, "/d");
  ASSERT_TRUE(files);
  EXPECT_EQ(files->front().status.path, "/d/x");
  EXPECT_TRUE(files->front().status.directory);
  EXPECT_EQ(ParseFileStatuses(body, "/")->front().status.path, "/x");
}

TEST(WebHdfsAnswersTest, WhatIsNoAnswerIsNone) {
  const std::string deep(100'000, '[');
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{\"FileStatus\":[1]}"),
        std::string("{"), deep,
        std::string(R"({"FileStatus":{"type":"FILE","length":"6","modificationTime":1}})"),
        std::string(R"({"FileStatuses":{"FileStatus":{}}})")}) {
    EXPECT_FALSE(ParseFileStatus(body, "/a"));
    EXPECT_FALSE(ParseFileStatuses(body, "/a"));
    EXPECT_FALSE(ParseBoolean(body));
    EXPECT_FALSE(WebHdfsFailureOf(500, body).error.message.empty());
  }
  EXPECT_EQ(ParseBoolean(R"({"boolean":false})"), false);
}

TEST(WebHdfsAnswersTest, AttributesAreBytes) {
  EXPECT_EQ(AttributeText(std::string_view("a\0\xff", 3)), "0x6100ff");
  EXPECT_EQ(AttributeText(""), "0x");
  const auto found = ParseAttributes(
      R"({"XAttrs":[{"name":"user.a","value":"0x6100fF"},{"name":"user.e","value":"0x"},)"
      R"({"name":"user.odd","value":"0x123"},{"name":"user.text","value":"\"ab\""},)"
      R"({"name":"user.none"}]})");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (WebHdfsAttributes{{"user.a", std::string("a\0\xff", 3)}, {"user.e", ""}}));
  EXPECT_EQ(ParseAttributes(R"({"XAttrs":{}})"), std::nullopt);
  EXPECT_EQ(ParseAttributes("x"), std::nullopt);
}

TEST(WebHdfsAnswersTest, NoRoomForAttributesDoesNotPass) {
  const auto failure = WebHdfsFailureOf(
      403, R"({"RemoteException":{"exception":"IOException","message":)"
           R"("Cannot add additional XAttr to inode, would exceed limit of 32"}})");
  EXPECT_EQ(failure.error.code, HdfsErrorCode::kInvalidPath);
  EXPECT_EQ(failure.remedy, WebHdfsRemedy::kNone);
}

TEST(WebHdfsAnswersTest, ExceptionsHaveTheProductsCodesAndRemedies) {
  const auto of = [](unsigned status, const std::string& name, const std::string& message = "m") {
    const WebHdfsFailure failure = WebHdfsFailureOf(status, Exception(name, message));
    return std::pair(failure.error.code, failure.remedy);
  };
  using enum WebHdfsRemedy;
  EXPECT_EQ(of(404, "FileNotFoundException"), std::pair(HdfsErrorCode::kNotFound, kNone));
  EXPECT_EQ(of(403, "AccessControlException"), std::pair(HdfsErrorCode::kAccessDenied, kNone));
  EXPECT_EQ(of(403, "DSQuotaExceededException"), std::pair(HdfsErrorCode::kQuotaExceeded, kNone));
  EXPECT_EQ(of(403, "SafeModeException"), std::pair(HdfsErrorCode::kSafeMode, kRepeat));
  EXPECT_EQ(of(403, "RetriableException", "a.SafeModeException: b"),
            std::pair(HdfsErrorCode::kSafeMode, kOtherNameNode));
  EXPECT_EQ(of(403, "StandbyException"), std::pair(HdfsErrorCode::kUnavailable, kOtherNameNode));
  EXPECT_EQ(of(403, "AlreadyBeingCreatedException"),
            std::pair(HdfsErrorCode::kUnavailable, kWaitForWriter));
  EXPECT_EQ(of(403, "IOException"), std::pair(HdfsErrorCode::kUnavailable, kRepeat));
  EXPECT_EQ(of(400, "OddException"), std::pair(HdfsErrorCode::kInvalidPath, kNone));
  EXPECT_EQ(of(500, "NullPointerException"), std::pair(HdfsErrorCode::kUnavailable, kRepeat));
  EXPECT_EQ(WebHdfsFailureOf(401, "").error.code, HdfsErrorCode::kAccessDenied);
}

TEST(WebHdfsAnswersTest, OfAMessageTheFirstLineIsKept) {
  EXPECT_EQ(WebHdfsFailureOf(404, Exception("FileNotFoundException", "File /a\\n\\tat org.b"))
                .error.message,
            "File /a (FileNotFoundException)");
}

TEST(HttpUrlTest, UrlsAreTakenApart) {
  const auto url = ParseHttpUrl("http://h:9864/webhdfs/v1/a%20b?op=OPEN#x");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->server, (HostPort{"h", 9864}));
  EXPECT_EQ(url->target, "/webhdfs/v1/a%20b?op=OPEN");
  EXPECT_EQ(ParseHttpUrl("http://[::1]:1")->server, (HostPort{"::1", 1}));
  EXPECT_EQ(ParseHttpUrl("http://h/")->server, (HostPort{"h", 80}));
  EXPECT_EQ(ParseHttpUrl("http://h?a")->target, "/?a");
  for (const char* wrong : {"", "https://h/", "http://", "http://h:0/", "http://h:x/",
                            "http://u@h/", "http://h/a b", "http://h/\r\nX: y", "http://[::1"})
    EXPECT_FALSE(ParseHttpUrl(wrong)) << wrong;
}

TEST(HttpUrlTest, WhatIsNotPlainIsWrittenWithPercentSigns) {
  EXPECT_EQ(EncodePath("/a b/%+&?#\xC3\xA9~"), "/a%20b/%25%2B%26%3F%23%C3%A9~");
  EXPECT_EQ(EncodeQueryValue("/a=b"), "%2Fa%3Db");
}

}  // namespace
}  // namespace tfyarn::wire::webhdfs_answers_test
