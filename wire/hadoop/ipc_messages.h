// Hadoop IPC version 9 as bytes: the preamble and every frame, in both directions. Protobuf's own
// types stay in the .cc file; when which frame is sent is the connection's business.
//
// A frame is a length of four bytes and that many bytes; in it every message stands behind its own
// length. Source: hadoop-common ipc/Client.java, ipc/Server.java, RpcHeader.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/error.h"
#include "wire/hadoop/sasl_message.h"

namespace tfyarn::hadoop {

/// Longest frame of either end, in bytes. Source: ipc.maximum.data.length and
/// ipc.maximum.response.length, both 128 MiB.
inline constexpr std::size_t kMaxFrame = std::size_t{128} << 20;

/// Call ids that are no calls. Source: ipc/RpcConstants.java, ipc/Server.java.
inline constexpr std::int32_t kConnectionCallId = -1;  ///< An answer that belongs to no frame.
inline constexpr std::int32_t kContextCallId = -3;
inline constexpr std::int32_t kPingCallId = -4;
inline constexpr std::int32_t kSaslCallId = -33;

enum class AuthProtocol : std::uint8_t { kNone = 0, kSasl = 0xdf };

/// A protocol as RequestHeader names it.
struct IpcProtocol {
  std::string name;
  std::uint64_t version = 1;
  friend bool operator==(const IpcProtocol&, const IpcProtocol&) = default;
};

/// The identity that the client states. After TOKEN authentication, which has it, both are unset.
struct ConnectionContext {
  std::optional<std::string> effective_user;
  std::optional<std::string> real_user;
  std::string protocol;
  friend bool operator==(const ConnectionContext&, const ConnectionContext&) = default;
};

struct CallRequest {
  std::int32_t call_id = 0;      ///< From 0; the same when the call is repeated.
  std::int32_t retry_count = 0;  ///< Repetitions before this one.
  std::string client_id;         ///< 16 bytes.
  std::string method;
  IpcProtocol protocol;
  std::string body;  ///< The method's request message.
  friend bool operator==(const CallRequest&, const CallRequest&) = default;
};

// ---------------------------------------------------------------- client to server

/// The first seven bytes of a connection.
[[nodiscard]] std::string Preamble(AuthProtocol auth);
[[nodiscard]] std::string ContextFrame(const ConnectionContext& context,
                                       std::string_view client_id);
[[nodiscard]] std::string PingFrame(std::string_view client_id);
[[nodiscard]] std::string RequestFrame(const CallRequest& call);
[[nodiscard]] std::string SaslRequestFrame(const SaslMessage& message);

struct Ping {
  friend bool operator==(const Ping&, const Ping&) = default;
};
using ClientFrame = std::variant<ConnectionContext, Ping, CallRequest, SaslMessage>;

/// `payload`: a frame without its length.
/// Errors: kInvalidArgument saying what is wrong, as a server may answer it.
[[nodiscard]] Expected<ClientFrame> DecodeClientFrame(std::string_view payload);

// ---------------------------------------------------------------- server to client

enum class ResponseStatus { kSuccess, kError, kFatal };

struct Response {
  std::int32_t call_id = 0;
  ResponseStatus status = ResponseStatus::kSuccess;
  std::string client_id;  ///< May be empty.
  std::int32_t retry_count = -1;
  std::string exception;           ///< Java's name of the class; only when it is no success.
  std::string message;             ///< Mostly with a stack trace behind its first line.
  std::uint32_t error_detail = 0;  ///< RpcErrorCodeProto; 0 = none.
  std::string body;                ///< The method's response message; only of a success.
  friend bool operator==(const Response&, const Response&) = default;
};

[[nodiscard]] std::string ResponseFrame(const Response& response);
[[nodiscard]] std::string SaslResponseFrame(const SaslMessage& message);

/// Errors: kInvalidArgument when it is no response or has bytes behind it.
[[nodiscard]] Expected<Response> DecodeResponse(std::string_view payload);
/// `body`: that of a successful response to kSaslCallId. Errors: kInvalidArgument.
[[nodiscard]] Expected<SaslMessage> DecodeSasl(std::string_view body);

/// How a server that does not know version 9 refuses: no frame, but two ints and two texts, the
/// first int being -1 where a length is expected.
struct OldRefusal {
  std::string exception;
  std::string message;
};
/// Longest refusal that is read, in bytes.
inline constexpr std::size_t kMaxOldRefusal = std::size_t{64} * 1024;
/// `bytes`: all that came so far, from the -1 on. nullopt when more bytes are needed.
/// Errors: kInvalidArgument when it is none.
[[nodiscard]] Expected<std::optional<OldRefusal>> DecodeOldRefusal(std::string_view bytes);

}  // namespace tfyarn::hadoop
