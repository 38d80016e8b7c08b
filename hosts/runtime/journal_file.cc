#include "hosts/runtime/journal_file.h"

#include <utility>

#include "core/model/launch.h"
#include "hosts/runtime/staging.h"

namespace tfyarn::hosts {
namespace {

constexpr Duration kPublishRetry = 1s;

std::string PathOf(const std::string& directory, std::string_view file) {
  return directory + "/" + std::string(file);
}

}  // namespace

JournalFile::JournalFile(boost::asio::io_context& loop, Storage& storage,
                         std::string staging_directory, const ApplicationAttemptId& attempt,
                         std::function<void(AmEvent)> tell)
    : storage_(storage),
      directory_(std::move(staging_directory)),
      writer_(ToString(attempt)),
      tell_(std::move(tell)),
      publish_again_(loop) {}

void JournalFile::Read() {
  storage_.Call(hdfs::ReadRequest{.path = PathOf(directory_, kJournalFile), .writer = writer_},
                lifetime_.Guard([this](hdfs::HdfsResponse response) {
                  if (auto* read = std::get_if<hdfs::ReadResponse>(&response))
                    return tell_(JournalRead{.bytes = std::move(read->bytes)});
                  auto* error = std::get_if<hdfs::HdfsError>(&response);
                  if (error == nullptr || error->code == hdfs::HdfsErrorCode::kNotFound)
                    return tell_(JournalRead{});
                  tell_(JournalFailed{.seq = JournalSeq{}, .error = std::move(*error)});
                }));
}

void JournalFile::Append(AppendJournal append) {
  appends_.push_back(std::move(append));
  if (appends_.size() == 1) AppendNext();
}

void JournalFile::AppendNext() {
  const AppendJournal& append = appends_.front();
  storage_.Call(
      hdfs::AppendRequest{
          .path = PathOf(directory_, kJournalFile), .bytes = append.bytes, .writer = writer_},
      lifetime_.Guard([this, seq = append.seq](hdfs::HdfsResponse response) {
        appends_.pop_front();
        if (!appends_.empty()) AppendNext();
        if (auto* error = std::get_if<hdfs::HdfsError>(&response))
          return tell_(JournalFailed{.seq = seq, .error = std::move(*error)});
        tell_(JournalAppended{.seq = seq});
      }));
}

void JournalFile::Publish(const PublishAddress& publish) {
  storage_.Call(hdfs::AppendRequest{.path = PathOf(directory_, kAddressFile),
                                    .bytes = ToText(AmAddress{publish.am_attempt, publish.address}),
                                    .writer = {}},
                lifetime_.Guard([this, publish](const hdfs::HdfsResponse& response) {
                  if (!std::holds_alternative<hdfs::HdfsError>(response)) return;
                  publish_again_.expires_after(kPublishRetry);
                  publish_again_.async_wait(
                      lifetime_.Guard([this, publish](const boost::system::error_code& error) {
                        if (!error) Publish(publish);
                      }));
                }));
}

void ReadAmAddressFrom(Storage& storage, const std::string& staging_directory,
                       std::function<void(AmAddressRead)> answer) {
  storage.Call(
      hdfs::ReadRequest{.path = PathOf(staging_directory, kAddressFile), .writer = {}},
      [answer = std::move(answer)](const hdfs::HdfsResponse& response) {
        const auto* read = std::get_if<hdfs::ReadResponse>(&response);
        if (read == nullptr) return answer(AmAddressRead{});
        AmAddress known = AmAddressFrom(read->bytes);
        answer(AmAddressRead{.am_attempt = known.am_attempt, .address = std::move(known.address)});
      });
}

}  // namespace tfyarn::hosts
