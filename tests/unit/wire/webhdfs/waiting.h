// Runs an event loop until an answer has come.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "tests/unit/patience.h"
#include "wire/webhdfs/webhdfs_client.h"

namespace tfyarn::wire {

/// `start(answer)`; what `answer` was called with.
template <class T, class Start>
T WaitFor(boost::asio::io_context& loop, Start start) {
  std::optional<T> result;
  start([&](T value) {
    EXPECT_FALSE(result) << "answered twice";
    result = std::move(value);
  });
  EXPECT_FALSE(result) << "answered from inside the call";
  const auto end = std::chrono::steady_clock::now() + Patience(1min);
  loop.restart();
  while (!result && loop.run_one_until(end) > 0) {
  }
  if (!result) ADD_FAILURE() << "no answer";
  return result ? std::move(*result) : T{};
}

inline hdfs::HdfsResponse CallAndWait(boost::asio::io_context& loop, WebHdfsClient& client,
                                      hdfs::HdfsRequest request) {
  return WaitFor<hdfs::HdfsResponse>(
      loop, [&](auto answer) { client.Call(std::move(request), std::move(answer)); });
}

inline std::optional<hdfs::HdfsErrorCode> CodeOf(const hdfs::HdfsResponse& response) {
  const auto* error = std::get_if<hdfs::HdfsError>(&response);
  return error == nullptr ? std::nullopt : std::optional(error->code);
}

/// The bytes that were read; a note on the error otherwise.
inline std::string BytesOf(const hdfs::HdfsResponse& response) {
  if (const auto* read = std::get_if<hdfs::ReadResponse>(&response)) return read->bytes;
  const auto* error = std::get_if<hdfs::HdfsError>(&response);
  return "not read: " + (error == nullptr ? std::string() : error->message);
}

}  // namespace tfyarn::wire
