// What the contract suite runs against: a YARN cluster of this machine, the fakes behind sockets or
// the real one. Both have three NodeManagers:
//
//   0: 127.0.0.11 /rack1, 0 GPUs    1: 127.0.0.12 /rack2, 2 GPUs    2: 127.0.0.13 /rack1, 4 GPUs,
//   each with 2048 MiB and 8 vcores;   the last is the exclusive partition `gpu`.
//
// Queues are `default` (70 %) and `batch` (30 %), each up to 100 %; queues take back what is
// theirs.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/model/time.h"
#include "wire/hadoop/ipc_connection.h"
#include "wire/hadoop/ipc_messages.h"

namespace tfyarn::contract {

inline constexpr Duration kAmExpiry = 30s;
inline constexpr Duration kNodeExpiry = 30s;
inline constexpr Duration kContainerExpiry = 30s;
inline constexpr Duration kSigkillDelay = 500ms;
inline constexpr int kMaxAttempts = 2;
/// Longest wait for what must come: a busy machine may be slow.
[[nodiscard]] Duration Patience();

class Subject {
 public:
  virtual ~Subject() = default;
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  [[nodiscard]] virtual bool is_fake() const = 0;
  [[nodiscard]] virtual HostPort clients() const = 0;
  [[nodiscard]] virtual HostPort masters() const = 0;
  /// kill -9; of a NodeManager alone.
  virtual void StopRm() = 0;
  virtual void StartRm() = 0;
  virtual void StopNode(std::size_t index) = 0;
  virtual void StartNode(std::size_t index) = 0;
  /// Cluster time passes without a call.
  virtual void LetPass(Duration time) = 0;
};

/// The real one where TFYARN_CONTRACT_RM and TFYARN_CONTRACT_SCHEDULER name its ports and
/// TFYARN_CONTRACT_CONTROL a program that takes `kill DAEMON` and `start DAEMON`; else the fake.
[[nodiscard]] std::unique_ptr<Subject> MakeSubject(boost::asio::io_context& io,
                                                   const std::string& folder);

/// Runs `io` for so long.
void RunFor(boost::asio::io_context& io, Duration time);

}  // namespace tfyarn::contract
