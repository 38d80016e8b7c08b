#include "tests/unit/hosts/runtime/host_rig.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <fstream>
#include <utility>

#include "core/model/describe.h"
#include "tests/unit/patience.h"

namespace tfyarn::hosts {

namespace fs = std::filesystem;

void WriteBytes(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
}

// ---------------------------------------------------------------- HostRig

void HostRig::Until(const std::function<bool()>& done, const std::string& what) {
  const auto watchdog = std::chrono::steady_clock::now() + Patience(1min);
  while (!done()) {
    if (std::chrono::steady_clock::now() > watchdog) {
      ADD_FAILURE() << "waited in vain for: " << what;
      return;
    }
    io_.restart();
    io_.run_for(std::chrono::milliseconds(2));
  }
}

void HostRig::UntilIdle() {
  io_.restart();
  Until([this] { return io_.stopped(); }, "an idle loop");
}

void HostRig::Settle() {
  do {
    io_.restart();
  } while (io_.poll() > 0);
}

// ---------------------------------------------------------------- FullDisk

FullDisk::FullDisk(std::size_t bytes) : signal_before_(::signal(SIGXFSZ, SIG_IGN)) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  before_ = limit.rlim_cur;
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

FullDisk::~FullDisk() {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = before_;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, signal_before_);
}

// ---------------------------------------------------------------- ScriptedStorage

void ScriptedStorage::Call(hdfs::HdfsRequest request, Answer answer) {
  std::visit(
      [this](const auto& one) {
        log_.push_back(std::string(TypeName<std::decay_t<decltype(one)>>()) + " " + one.path);
      },
      request);
  auto deliver = [this, request = std::move(request), answer = std::move(answer)] {
    answer(Do(request));
  };
  if (hold) {
    held_.push_back(std::move(deliver));
  } else {
    boost::asio::post(loop_, std::move(deliver));
  }
}

void ScriptedStorage::Release() {
  ASSERT_FALSE(held_.empty());
  boost::asio::post(loop_, std::move(held_.front()));
  held_.pop_front();
}

hdfs::HdfsResponse ScriptedStorage::Do(const hdfs::HdfsRequest& request) {
  auto& codes = failures[std::visit([](const auto& one) { return one.path; }, request)];
  if (!codes.empty()) {
    const hdfs::HdfsErrorCode code = codes.front();
    codes.pop_front();
    return hdfs::HdfsError{.code = code, .message = "scripted"};
  }
  if (const auto* create = std::get_if<hdfs::CreateRequest>(&request)) {
    if (!create->overwrite && files.contains(create->path))
      return hdfs::HdfsError{.code = hdfs::HdfsErrorCode::kAlreadyExists, .message = "there"};
    files[create->path] = create->bytes;
    return hdfs::FileStatus{.path = create->path, .size = create->size, .modification_time = 7};
  }
  if (const auto* append = std::get_if<hdfs::AppendRequest>(&request))
    files[append->path] += append->bytes;
  if (const auto* read = std::get_if<hdfs::ReadRequest>(&request)) {
    if (!files.contains(read->path))
      return hdfs::HdfsError{.code = hdfs::HdfsErrorCode::kNotFound, .message = read->path};
    return hdfs::ReadResponse{.bytes = files.at(read->path)};
  }
  return hdfs::Done{};
}

// ---------------------------------------------------------------- ScriptedCluster

void ScriptedCluster::CallRm(yarn::RmRequest request, RmAnswer answer) {
  std::visit(
      [this](const auto& one) { log_.emplace_back(TypeName<std::decay_t<decltype(one)>>()); },
      request);
  rm_calls.push_back(request);
  boost::asio::post(loop_, [this, request = std::move(request), answer = std::move(answer)] {
    answer(rm(request));
  });
}

void ScriptedCluster::CallNm(const NodeId&, const yarn::Token&, yarn::NmRequest request,
                             Secrets given, NmAnswer answer) {
  std::visit(
      [this](const auto& one) { log_.emplace_back(TypeName<std::decay_t<decltype(one)>>()); },
      request);
  nm_calls.push_back(request);
  secrets.push_back(std::move(given));
  boost::asio::post(loop_, [this, request = std::move(request), answer = std::move(answer)] {
    answer(nm(request));
  });
}

}  // namespace tfyarn::hosts
