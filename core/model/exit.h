// What an exit was, and what it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/describe.h"

namespace tfyarn {

/// Values of ContainerStatus.exit_status that YARN itself gives.
/// Source: hadoop-yarn-api ContainerExitStatus.java.
namespace container_exit {
inline constexpr std::int32_t kInvalid = -1000;
inline constexpr std::int32_t kAborted = -100;
inline constexpr std::int32_t kDisksFailed = -101;
inline constexpr std::int32_t kPreempted = -102;
inline constexpr std::int32_t kKilledExceededVmem = -103;
inline constexpr std::int32_t kKilledExceededPmem = -104;
inline constexpr std::int32_t kKilledByAppMaster = -105;
inline constexpr std::int32_t kKilledByResourceManager = -106;
inline constexpr std::int32_t kKilledAfterAppCompletion = -107;
inline constexpr std::int32_t kKilledByContainerScheduler = -108;
inline constexpr std::int32_t kKilledForExcessLogs = -109;
}  // namespace container_exit

/// Exit codes of the agent's own process, and so of its container: how the agent ended, not the
/// user's process (ProcessEnded tells that). Outside the range that user programs commonly use.
namespace agent_exit {
inline constexpr std::int32_t kOrdered = 0;       ///< EndAgent.
inline constexpr std::int32_t kNoPort = 120;      ///< No port could be leased for two minutes.
inline constexpr std::int32_t kRefused = 121;     ///< The AM does not (or no longer) own it.
inline constexpr std::int32_t kAmLost = 122;      ///< It heard of no AM for deadlines.orphan.
inline constexpr std::int32_t kTerminated = 143;  ///< SIGTERM from the NodeManager or a user.
}  // namespace agent_exit

/// How a user's process ended, as its agent saw it: exactly one of code and signal is set.
struct ProcessExit {
  std::optional<std::int32_t> code;    ///< 0..255.
  std::optional<std::int32_t> signal;  ///< Number of the signal that ended it.
  bool out_of_memory = false;     ///< Proof from the cgroup or the kernel, not a guess from 137.
  bool stopped_by_agent = false;  ///< The agent signalled it on the AM's order.

  /// The shell's number: code, or 128 + signal.
  [[nodiscard]] std::int32_t status() const { return code ? *code : 128 + signal.value_or(0); }
  friend bool operator==(const ProcessExit&, const ProcessExit&) = default;
};
BOOST_DESCRIBE_STRUCT(ProcessExit, (), (code, signal, out_of_memory, stopped_by_agent))

/// A process that does nothing and will do nothing by itself, as the kernel shows it.
enum class Standstill {
  kNone,
  kStopped,          ///< By SIGSTOP or the like (state T): goes on after SIGCONT.
  kUninterruptible,  ///< In a call that hears no signal (state D), as of a dead disk or device.
};
BOOST_DESCRIBE_ENUM(Standstill, kNone, kStopped, kUninterruptible)

/// What an exit means. Written in lower case with hyphens in files and results.
/// Source: decision tables of the predecessors, see docs/policies.md.
enum class ExitClass {
  kOk,
  kUserPermanent,   ///< 1..127 without a class of its own.
  kUserRetryable,   ///< Codes agreed for "run me again": 75, 138, 154, 193, or configured.
  kOom,             ///< -103, -104, or the agent's proof.
  kSignalCrash,     ///< 132, 134, 135, 136, 139.
  kKilledExternal,  ///< 130, 137 without proof of memory, 143, not by our order.
  kKilledByUs,      ///< Stopped or released on the AM's order: -105, -107, -100 of a container we
                    ///< released.
  kPreempted,       ///< -102, -106, -108.
  kNodeLost,        ///< -100 because the node is gone.
  kNodeBad,         ///< -101.
  kPortConflict,    ///< The leased port was taken when the process wanted it.
  kLaunchError,     ///< -1000, and every failure between grant and first process.
  kHeartbeatLost,   ///< The agent fell silent; no exit is known.
  kTimeout,         ///< A deadline of ours ended it.
  kAmLost,          ///< The agent found no AM for longer than allowed.
  kGangTimeout,     ///< The job never got its gang.
  kInfeasible,      ///< The job can never get its gang.
  kUnknown,         ///< Every other code.
};
BOOST_DESCRIBE_ENUM(ExitClass, kOk, kUserPermanent, kUserRetryable, kOom, kSignalCrash,
                    kKilledExternal, kKilledByUs, kPreempted, kNodeLost, kNodeBad, kPortConflict,
                    kLaunchError, kHeartbeatLost, kTimeout, kAmLost, kGangTimeout, kInfeasible,
                    kUnknown)

}  // namespace tfyarn
