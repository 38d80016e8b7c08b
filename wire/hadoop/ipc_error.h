// How a call of Hadoop's IPC fails.
#pragma once

#include <string>
#include <string_view>

namespace tfyarn::hadoop {

enum class IpcErrorKind {
  kConnect,   ///< No connection came about: the call did not reach the server.
  kBroken,    ///< The connection ended while the call was under way.
  kTimeout,   ///< No answer in time.
  kRemote,    ///< The server answered with an exception; the connection lives on.
  kFatal,     ///< The server refused the connection with an exception.
  kSecurity,  ///< One side did not accept the other's identity.
  kProtocol,  ///< What came is not Hadoop's IPC, or breaks its rules.
};

struct IpcError {
  IpcErrorKind kind = IpcErrorKind::kBroken;
  std::string
      exception;        ///< Java's name of the class, with its package; empty when it is our word.
  std::string message;  ///< One line: who, what, what to do.
  bool sent = false;    ///< The server may have done what was asked.
};

/// Source: org.apache.hadoop.ipc.
inline constexpr std::string_view kStandbyException = "org.apache.hadoop.ipc.StandbyException";
inline constexpr std::string_view kRetriableException = "org.apache.hadoop.ipc.RetriableException";

}  // namespace tfyarn::hadoop
