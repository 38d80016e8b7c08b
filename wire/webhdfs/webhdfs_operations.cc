#include "wire/webhdfs/webhdfs_operations.h"

#include <fmt/format.h>

#include <utility>

namespace tfyarn::wire {
namespace {

using hdfs::HdfsError;
using hdfs::HdfsErrorCode;
using Reply = tl::expected<HttpReply, HdfsError>;

/// `parse(body)` of a good reply; an answer that it does not understand is an error.
template <class T, class Parse>
WebHdfsCalls::Done Understood(WebHdfsAnswer<T> answer, Parse parse) {
  return [answer = std::move(answer), parse = std::move(parse)](Reply reply) {
    if (!reply) return answer(tl::unexpected(std::move(reply.error())));
    auto value = parse(std::move(reply->body));
    if (value) return answer(std::move(*value));
    answer(tl::unexpected(
        HdfsError{.code = HdfsErrorCode::kUnavailable,
                  .message = "the NameNode's answer is no answer of WebHDFS; is its address that "
                             "of another server?"}));
  };
}

WebHdfsCall AppendCall(const std::string& path, std::string bytes) {
  return {.method = "POST",
          .path = path,
          .operation = "APPEND",
          .with_data = true,
          .body = std::move(bytes)};
}

}  // namespace

std::string WebHdfsOperations::Permission(std::uint32_t most) const {
  return fmt::format("{:o}", most & ~calls_->options().umask);
}

WebHdfsCall WebHdfsOperations::CreateCall(const std::string& path, bool overwrite) const {
  return {
      .method = "PUT",
      .path = path,
      .operation = "CREATE",
      .parameters = {{"overwrite", overwrite ? "true" : "false"}, {"permission", Permission(0666)}},
      .with_data = true};
}

void WebHdfsOperations::RunForDone(WebHdfsCall call, WebHdfsAnswer<hdfs::Done> answer) {
  calls_->Run(std::move(call), [answer = std::move(answer)](Reply reply) {
    if (!reply) return answer(tl::unexpected(std::move(reply.error())));
    answer(hdfs::Done{});
  });
}

void WebHdfsOperations::Create(const std::string& path, std::string bytes, bool overwrite,
                               WebHdfsAnswer<hdfs::Done> answer) {
  WebHdfsCall call = CreateCall(path, overwrite);
  call.body = std::move(bytes);
  RunForDone(std::move(call), std::move(answer));
}

void WebHdfsOperations::Upload(const std::string& path, const std::string& local, bool overwrite,
                               WebHdfsAnswer<hdfs::Done> answer) {
  WebHdfsCall call = CreateCall(path, overwrite);
  call.body_file = local;
  RunForDone(std::move(call), std::move(answer));
}

void WebHdfsOperations::Append(const std::string& path, std::string bytes,
                               WebHdfsAnswer<hdfs::Done> answer) {
  RunForDone(AppendCall(path, std::move(bytes)), std::move(answer));
}

void WebHdfsOperations::AppendAlone(const std::string& path, std::string bytes,
                                    WebHdfsAnswer<bool> answer) {
  WebHdfsCall call = AppendCall(path, std::move(bytes));
  call.only_writer = true;
  calls_->Run(std::move(call), [answer = std::move(answer)](const Reply& reply) {
    if (!reply) return answer(tl::unexpected(reply.error()));
    answer(reply->status == 200);
  });
}

void WebHdfsOperations::Open(const std::string& path, WebHdfsAnswer<std::string> answer) {
  calls_->Run({.method = "GET",
               .path = path,
               .operation = "OPEN",
               .with_data = true,
               .most_answer = calls_->options().most_read},
              [answer = std::move(answer)](Reply reply) {
                if (!reply) return answer(tl::unexpected(std::move(reply.error())));
                answer(std::move(reply->body));
              });
}

void WebHdfsOperations::OpenRange(const std::string& path, std::uint64_t offset,
                                  std::uint64_t length, WebHdfsAnswer<std::string> answer) {
  calls_->Run(
      {.method = "GET",
       .path = path,
       .operation = "OPEN",
       .parameters = {{"offset", std::to_string(offset)}, {"length", std::to_string(length)}},
       .with_data = true,
       .most_answer = length},
      [answer = std::move(answer)](Reply reply) {
        if (!reply) return answer(tl::unexpected(std::move(reply.error())));
        answer(std::move(reply->body));
      });
}

void WebHdfsOperations::Download(const std::string& path, const std::string& local,
                                 std::uint64_t most, WebHdfsAnswer<hdfs::Done> answer) {
  RunForDone({.method = "GET",
              .path = path,
              .operation = "OPEN",
              .with_data = true,
              .sink_file = local,
              .most_answer = most},
             std::move(answer));
}

void WebHdfsOperations::SetAttribute(const std::string& path, const std::string& name,
                                     std::string_view bytes, WebHdfsAnswer<hdfs::Done> answer) {
  RunForDone({.method = "PUT",
              .path = path,
              .operation = "SETXATTR",
              // A call that is repeated finds its own.
              .parameters = {{"xattr.name", name},
                             {"xattr.value", AttributeText(bytes)},
                             {"flag", "CREATE,REPLACE"}}},
             std::move(answer));
}

void WebHdfsOperations::Attributes(const std::string& path,
                                   WebHdfsAnswer<WebHdfsAttributes> answer) {
  calls_->Run({.method = "GET",
               .path = path,
               .operation = "GETXATTRS",
               .parameters = {{"encoding", "hex"}}},
              Understood(std::move(answer), ParseAttributes));
}

void WebHdfsOperations::Status(const std::string& path, WebHdfsAnswer<WebHdfsFile> answer) {
  calls_->Run({.method = "GET", .path = path, .operation = "GETFILESTATUS"},
              Understood(std::move(answer),
                         [path](const std::string& body) { return ParseFileStatus(body, path); }));
}

void WebHdfsOperations::List(const std::string& directory,
                             WebHdfsAnswer<std::vector<WebHdfsFile>> answer) {
  calls_->Run({.method = "GET", .path = directory, .operation = "LISTSTATUS"},
              Understood(std::move(answer), [directory](const std::string& body) {
                return ParseFileStatuses(body, directory);
              }));
}

void WebHdfsOperations::Mkdirs(const std::string& path, WebHdfsAnswer<hdfs::Done> answer) {
  RunForDone({.method = "PUT",
              .path = path,
              .operation = "MKDIRS",
              .parameters = {{"permission", Permission(0777)}}},
             std::move(answer));
}

void WebHdfsOperations::SetPermission(const std::string& path, std::uint32_t permission,
                                      WebHdfsAnswer<hdfs::Done> answer) {
  RunForDone({.method = "PUT",
              .path = path,
              .operation = "SETPERMISSION",
              .parameters = {{"permission", fmt::format("{:o}", permission)}}},
             std::move(answer));
}

void WebHdfsOperations::Rename(const std::string& from, const std::string& to,
                               WebHdfsAnswer<bool> answer) {
  calls_->Run(
      {.method = "PUT", .path = from, .operation = "RENAME", .parameters = {{"destination", to}}},
      Understood(std::move(answer), ParseBoolean));
}

void WebHdfsOperations::Delete(const std::string& path, bool recursive,
                               WebHdfsAnswer<hdfs::Done> answer) {
  RunForDone({.method = "DELETE",
              .path = path,
              .operation = "DELETE",
              .parameters = {{"recursive", recursive ? "true" : "false"}}},
             std::move(answer));
}

}  // namespace tfyarn::wire
