// What tests of real hosts share: an event loop that runs until something is so, a directory, files
// that may not grow, and a cluster and a storage that answer as told.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/runtime/cluster.h"
#include "tests/unit/files.h"

namespace tfyarn::hosts {

class HostRig : public testing::Test {
 protected:
  /// Runs the loop until `done`, which is asked every few milliseconds. Fails after a minute.
  void Until(const std::function<bool()>& done, const std::string& what);
  /// Runs the loop until nothing is left to wait for.
  void UntilIdle();
  /// Runs what can run now.
  void Settle();
  [[nodiscard]] std::string PathOf(const std::string& name) const { return directory_ / name; }

  const TemporaryFolder folder_;
  const std::filesystem::path directory_ = folder_.path();
  boost::asio::io_context io_;
};

/// While it lives no file of this process grows beyond `bytes`: a write answers EFBIG, as it would
/// answer ENOSPC on a full disk.
class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  std::uint64_t before_;
  void (*signal_before_)(int);
};

/// Files in memory, answered from the event loop.
class ScriptedStorage : public Storage {
 public:
  explicit ScriptedStorage(boost::asio::io_context& loop, std::vector<std::string>& log)
      : loop_(loop), log_(log) {}

  void Call(hdfs::HdfsRequest request, Answer answer) override;

  std::map<std::string, std::string> files;  ///< By path.
  /// Of the next calls about a path.
  std::map<std::string, std::deque<hdfs::HdfsErrorCode>> failures;
  bool hold = false;  ///< Answers wait for Release().
  /// Gives the oldest answer that waits.
  void Release();

 private:
  hdfs::HdfsResponse Do(const hdfs::HdfsRequest& request);

  boost::asio::io_context& loop_;
  std::vector<std::string>& log_;  ///< "AppendRequest /a/journal", one line a call.
  std::deque<std::function<void()>> held_;
};

/// An RM and nodes that answer what the test says.
class ScriptedCluster : public Cluster {
 public:
  explicit ScriptedCluster(boost::asio::io_context& loop, std::vector<std::string>& log)
      : loop_(loop), log_(log) {}

  void CallRm(yarn::RmRequest request, RmAnswer answer) override;
  void CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
              Secrets secrets, NmAnswer answer) override;

  std::function<yarn::RmResponse(const yarn::RmRequest&)> rm;
  std::function<yarn::NmResponse(const yarn::NmRequest&)> nm;
  std::vector<yarn::RmRequest> rm_calls;
  std::vector<yarn::NmRequest> nm_calls;
  std::vector<Secrets> secrets;  ///< Of the calls in nm_calls.

 private:
  boost::asio::io_context& loop_;
  std::vector<std::string>& log_;  ///< "SubmitApplicationRequest", one line a call.
};

void WriteBytes(const std::filesystem::path& path, std::string_view bytes);
/// The requests of one kind.
template <class T, class Requests>
[[nodiscard]] std::vector<T> Only(const Requests& requests) {
  std::vector<T> all;
  for (const auto& request : requests) {
    if (const auto* one = std::get_if<T>(&request)) all.push_back(*one);
  }
  return all;
}

}  // namespace tfyarn::hosts
