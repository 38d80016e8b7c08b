#include "wire/webhdfs/webhdfs_client.h"

#include <utility>
#include <variant>

namespace tfyarn::wire {
namespace {

using hdfs::HdfsError;
using hdfs::HdfsErrorCode;
using Answer = WebHdfsClient::Answer;

/// An answer for one kind of success, as the variant has it.
WebHdfsAnswer<hdfs::Done> ForDone(Answer answer) {
  return [answer = std::move(answer)](tl::expected<hdfs::Done, HdfsError> done) {
    if (!done) return answer(std::move(done.error()));
    answer(hdfs::Done{});
  };
}

WebHdfsAnswer<std::string> ForBytes(Answer answer) {
  return [answer = std::move(answer)](tl::expected<std::string, HdfsError> bytes) {
    if (!bytes) return answer(std::move(bytes.error()));
    answer(hdfs::ReadResponse{.bytes = std::move(*bytes)});
  };
}

WebHdfsAnswer<WebHdfsFile> ForStatus(Answer answer) {
  return [answer = std::move(answer)](tl::expected<WebHdfsFile, HdfsError> file) {
    if (!file) return answer(std::move(file.error()));
    answer(std::move(file->status));
  };
}

/// After a file was written: how it is now.
WebHdfsAnswer<hdfs::Done> ThenStatus(WebHdfsOperations operations, std::string path,
                                     Answer answer) {
  return [operations = std::move(operations), path = std::move(path),
          answer = std::move(answer)](tl::expected<hdfs::Done, HdfsError> done) mutable {
    if (!done) return answer(std::move(done.error()));
    operations.Status(path, ForStatus(std::move(answer)));
  };
}

/// Appends to a file, and makes it where there is none.
void AppendOrCreate(WebHdfsOperations operations, hdfs::AppendRequest request, Answer answer) {
  operations.Append(request.path, request.bytes,
                    [operations, request, answer = std::move(answer)](auto appended) mutable {
                      if (appended || appended.error().code != HdfsErrorCode::kNotFound)
                        return ForDone(std::move(answer))(std::move(appended));
                      const std::string path = request.path;
                      operations.Create(
                          path, request.bytes, false,
                          [operations, request, answer = std::move(answer)](auto created) mutable {
                            if (created || created.error().code != HdfsErrorCode::kAlreadyExists)
                              return ForDone(std::move(answer))(std::move(created));
                            operations.Append(request.path, std::move(request.bytes),
                                              ForDone(std::move(answer)));
                          });
                    });
}

}  // namespace

WebHdfsClient::WebHdfsClient(boost::asio::io_context& loop, WebHdfsOptions options)
    : calls_(std::make_shared<WebHdfsCalls>(loop, std::move(options))),
      operations_(calls_),
      fenced_(std::make_shared<FencedFiles>(loop, operations_)),
      quick_(std::make_shared<QuickFiles>(operations_)) {}

WebHdfsClient::~WebHdfsClient() {
  calls_->Stop();
}

void WebHdfsClient::Call(hdfs::HdfsRequest request, Answer answer) {
  std::visit([&](auto& what) { Do(std::move(what), std::move(answer)); }, request);
}

void WebHdfsClient::Do(hdfs::CreateRequest request, Answer answer) {
  auto then = ThenStatus(operations_, request.path, std::move(answer));
  if (calls_->options().quick_files) {
    return quick_->Create(request.path, std::move(request.bytes), request.overwrite,
                          std::move(then));
  }
  operations_.Create(request.path, std::move(request.bytes), request.overwrite, std::move(then));
}

void WebHdfsClient::Do(hdfs::AppendRequest request, Answer answer) {
  if (request.writer.empty())
    return AppendOrCreate(operations_, std::move(request), std::move(answer));
  fenced_->Append(request.path, std::move(request.bytes), ForDone(std::move(answer)));
}

void WebHdfsClient::Do(hdfs::ReadRequest request, Answer answer) {
  if (request.writer.empty() && calls_->options().quick_files)
    return quick_->Read(request.path, ForBytes(std::move(answer)));
  if (request.writer.empty()) return operations_.Open(request.path, ForBytes(std::move(answer)));
  fenced_->Take(request.path, ForBytes(std::move(answer)));
}

void WebHdfsClient::Do(hdfs::GetFileStatusRequest request, Answer answer) {
  operations_.Status(request.path, ForStatus(std::move(answer)));
}

void WebHdfsClient::Do(hdfs::MkdirsRequest request, Answer answer) {
  operations_.Mkdirs(request.path, ForDone(std::move(answer)));
}

void WebHdfsClient::Do(hdfs::DeleteRequest request, Answer answer) {
  operations_.Delete(request.path, request.recursive, ForDone(std::move(answer)));
}

void WebHdfsClient::Upload(const std::string& local, const std::string& path, bool overwrite,
                           Answer answer, Readers readers) {
  constexpr std::uint32_t kAllMayRead = 0644;
  WebHdfsAnswer<hdfs::Done> then = ThenStatus(operations_, path, std::move(answer));
  if (readers == Readers::kAsUmaskSays)
    return operations_.Upload(path, local, overwrite, std::move(then));
  // The bytes keep the rights that the file was made with.
  operations_.Upload(path, local, overwrite,
                     [operations = operations_, path,
                      then = std::move(then)](tl::expected<hdfs::Done, HdfsError> done) mutable {
                       if (!done) return then(std::move(done));
                       operations.SetPermission(path, kAllMayRead, std::move(then));
                     });
}

void WebHdfsClient::Download(const std::string& path, const std::string& local, std::uint64_t most,
                             Answer answer) {
  operations_.Download(path, local, most, ForDone(std::move(answer)));
}

}  // namespace tfyarn::wire
