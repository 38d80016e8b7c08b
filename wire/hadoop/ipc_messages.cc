#include "wire/hadoop/ipc_messages.h"

#include <fmt/format.h>

#include "core/model/check.h"
#include "wire/frame.h"
#include "wire/hadoop/delimited.h"
#include "wire/hadoop/ipc.pb.h"

namespace tfyarn::hadoop {
namespace {

using google::protobuf::MessageLite;

std::string Framed(std::string_view payload) {
  std::string frame;
  frame.reserve(wire::kFrameHeader + payload.size());
  wire::AppendFrame(payload, frame);
  return frame;
}

/// ParseFromArray() would complain on stderr about a field that is missing.
bool ParseInto(std::string_view bytes, MessageLite& message) {
  return message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
         message.IsInitialized();
}

/// Errors: kInvalidArgument naming `what`.
Expected<void> TakeMessage(std::string_view& payload, MessageLite& message, std::string_view what) {
  const auto bytes = TakeDelimited(payload);
  if (!bytes) return Fail(ErrorCode::kInvalidArgument, fmt::format("{} is not whole", what));
  if (!ParseInto(*bytes, message))
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} cannot be decoded", what));
  return {};
}

std::string RequestHeaderBytes(std::int32_t call_id, std::int32_t retry_count,
                               std::string_view client_id) {
  pb::RpcRequestHeader header;
  header.set_rpc_kind(pb::RPC_KIND_PROTOBUF);
  header.set_rpc_op(pb::RPC_OPERATION_FINAL_PACKET);
  header.set_call_id(call_id);
  header.set_client_id(std::string(client_id));
  header.set_retry_count(retry_count);
  return header.SerializeAsString();
}

pb::SaslMessage ToProto(const SaslMessage& message) {
  pb::SaslMessage out;
  // Our enumerators count as the protocol's numbers do.
  out.set_state(static_cast<pb::SaslState>(message.state));
  if (message.token) out.set_token(*message.token);
  for (const SaslAuth& auth : message.auths) {
    pb::SaslAuth& entry = *out.add_auths();
    entry.set_method(auth.method);
    entry.set_mechanism(auth.mechanism);
    if (auth.protocol) entry.set_protocol(*auth.protocol);
    if (auth.server_id) entry.set_server_id(*auth.server_id);
    if (auth.challenge) entry.set_challenge(*auth.challenge);
  }
  return out;
}

SaslMessage FromProto(const pb::SaslMessage& in) {
  SaslMessage out{.state = static_cast<SaslState>(in.state()), .token = {}, .auths = {}};
  if (in.has_token()) out.token = in.token();
  for (const pb::SaslAuth& entry : in.auths()) {
    SaslAuth auth{.method = entry.method(), .mechanism = entry.mechanism()};
    if (entry.has_protocol()) auth.protocol = entry.protocol();
    if (entry.has_server_id()) auth.server_id = entry.server_id();
    if (entry.has_challenge()) auth.challenge = entry.challenge();
    out.auths.push_back(std::move(auth));
  }
  return out;
}

}  // namespace

// ---------------------------------------------------------------- client to server

std::string Preamble(AuthProtocol auth) {
  constexpr char kVersion = 9;
  constexpr char kServiceClass = 0;
  std::string bytes = "hrpc";
  bytes += kVersion;
  bytes += kServiceClass;
  bytes += static_cast<char>(auth);
  return bytes;
}

std::string ContextFrame(const ConnectionContext& context, std::string_view client_id) {
  pb::ConnectionContext message;
  message.set_protocol(context.protocol);
  if (context.effective_user) message.mutable_user()->set_effective_user(*context.effective_user);
  if (context.real_user) message.mutable_user()->set_real_user(*context.real_user);
  std::string payload;
  AppendDelimited(RequestHeaderBytes(kContextCallId, -1, client_id), payload);
  AppendDelimited(message.SerializeAsString(), payload);
  return Framed(payload);
}

std::string PingFrame(std::string_view client_id) {
  std::string payload;
  AppendDelimited(RequestHeaderBytes(kPingCallId, -1, client_id), payload);
  return Framed(payload);
}

std::string RequestFrame(const CallRequest& call) {
  pb::RequestHeader method;
  method.set_method(call.method);
  method.set_protocol(call.protocol.name);
  method.set_protocol_version(call.protocol.version);
  std::string payload;
  AppendDelimited(RequestHeaderBytes(call.call_id, call.retry_count, call.client_id), payload);
  AppendDelimited(method.SerializeAsString(), payload);
  AppendDelimited(call.body, payload);
  return Framed(payload);
}

std::string SaslRequestFrame(const SaslMessage& message) {
  std::string payload;
  AppendDelimited(RequestHeaderBytes(kSaslCallId, -1, ""), payload);
  AppendDelimited(ToProto(message).SerializeAsString(), payload);
  return Framed(payload);
}

namespace {

Expected<ClientFrame> DecodeContext(std::string_view rest) {
  pb::ConnectionContext in;
  if (const auto taken = TakeMessage(rest, in, "connection context"); !taken)
    return tl::unexpected(taken.error());
  ConnectionContext out{.protocol = in.protocol()};
  if (in.user().has_effective_user()) out.effective_user = in.user().effective_user();
  if (in.user().has_real_user()) out.real_user = in.user().real_user();
  return out;
}

Expected<ClientFrame> DecodeCall(const pb::RpcRequestHeader& header, std::string_view rest) {
  pb::RequestHeader method;
  if (const auto taken = TakeMessage(rest, method, "request header"); !taken)
    return tl::unexpected(taken.error());
  const auto body = TakeDelimited(rest);
  if (!body || !rest.empty())
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("call of {}: its message is not whole, or not alone", method.method()));
  return CallRequest{.call_id = header.call_id(),
                     .retry_count = header.retry_count(),
                     .client_id = header.client_id(),
                     .method = method.method(),
                     .protocol = {method.protocol(), method.protocol_version()},
                     .body = std::string(*body)};
}

}  // namespace

Expected<ClientFrame> DecodeClientFrame(std::string_view payload) {
  pb::RpcRequestHeader header;
  if (const auto taken = TakeMessage(payload, header, "header"); !taken)
    return tl::unexpected(taken.error());
  if (header.rpc_kind() != pb::RPC_KIND_PROTOBUF || !header.has_rpc_op() ||
      header.rpc_op() != pb::RPC_OPERATION_FINAL_PACKET)
    return Fail(ErrorCode::kInvalidArgument, "header without rpcKind 2 or without rpcOp 0");
  if (header.call_id() >= 0) return DecodeCall(header, payload);
  if (header.call_id() == kPingCallId) return Ping{};
  if (header.call_id() == kContextCallId) return DecodeContext(payload);
  if (header.call_id() != kSaslCallId)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("unknown call id {}", header.call_id()));
  pb::SaslMessage sasl;
  if (const auto taken = TakeMessage(payload, sasl, "SASL message"); !taken)
    return tl::unexpected(taken.error());
  return FromProto(sasl);
}

// ---------------------------------------------------------------- server to client

std::string ResponseFrame(const Response& response) {
  constexpr std::uint32_t kIpcVersion = 9;
  pb::RpcResponseHeader header;
  header.set_call_id(static_cast<std::uint32_t>(response.call_id));
  header.set_status(static_cast<pb::RpcStatus>(response.status));
  header.set_server_ipc_version(kIpcVersion);
  if (!response.exception.empty()) header.set_exception_class(response.exception);
  if (!response.message.empty()) header.set_error_message(response.message);
  if (response.error_detail != 0) header.set_error_detail(response.error_detail);
  header.set_client_id(response.client_id);
  header.set_retry_count(response.retry_count);
  std::string payload;
  AppendDelimited(header.SerializeAsString(), payload);
  if (response.status == ResponseStatus::kSuccess) AppendDelimited(response.body, payload);
  return Framed(payload);
}

std::string SaslResponseFrame(const SaslMessage& message) {
  return ResponseFrame({.call_id = kSaslCallId, .body = ToProto(message).SerializeAsString()});
}

Expected<Response> DecodeResponse(std::string_view payload) {
  pb::RpcResponseHeader header;
  if (const auto taken = TakeMessage(payload, header, "response header"); !taken)
    return tl::unexpected(taken.error());
  Response out{.call_id = static_cast<std::int32_t>(header.call_id()),
               .status = static_cast<ResponseStatus>(header.status()),
               .client_id = header.client_id(),
               .retry_count = header.retry_count(),
               .exception = header.exception_class(),
               .message = header.error_message(),
               .error_detail = header.error_detail(),
               .body = {}};
  if (out.status == ResponseStatus::kSuccess) {
    const auto body = TakeDelimited(payload);
    if (!body)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("response to call {} is not whole", out.call_id));
    out.body = *body;
  }
  if (!payload.empty())
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("response to call {} has {} bytes too many", out.call_id, payload.size()));
  return out;
}

Expected<SaslMessage> DecodeSasl(std::string_view body) {
  pb::SaslMessage message;
  if (!ParseInto(body, message))
    return Fail(ErrorCode::kInvalidArgument, "SASL message of the server cannot be decoded");
  return FromProto(message);
}

namespace {

/// As DataInput.readInt() and WritableUtils.readString().
class OldReader {
 public:
  explicit OldReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::int32_t> Int() {
    if (bytes_.size() < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes_[std::size_t(i)]);
    bytes_.remove_prefix(4);
    return static_cast<std::int32_t>(value);
  }
  /// Errors: kInvalidArgument for a length that cannot be.
  Expected<std::optional<std::string>> Text() {
    const auto size = Int();
    if (!size) return std::nullopt;
    if (*size == -1) return std::string();
    if (*size < 0 || static_cast<std::size_t>(*size) > kMaxOldRefusal)
      return Fail(ErrorCode::kInvalidArgument, fmt::format("text of {} bytes", *size));
    if (bytes_.size() < static_cast<std::size_t>(*size)) return std::nullopt;
    std::string text(bytes_.substr(0, static_cast<std::size_t>(*size)));
    bytes_.remove_prefix(text.size());
    return text;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

Expected<std::optional<OldRefusal>> DecodeOldRefusal(std::string_view bytes) {
  if (bytes.size() > kMaxOldRefusal)
    return Fail(ErrorCode::kInvalidArgument, "refusal in the old form is too long");
  OldReader reader(bytes);
  const auto call_id = reader.Int();
  if (call_id && *call_id != -1)
    return Fail(ErrorCode::kInvalidArgument, "no refusal in the old form");
  if (!call_id || !reader.Int()) return std::nullopt;
  auto exception = reader.Text();
  if (!exception) return tl::unexpected(exception.error());
  if (!*exception) return std::nullopt;
  auto message = reader.Text();
  if (!message) return tl::unexpected(message.error());
  if (!*message) return std::nullopt;
  return OldRefusal{.exception = std::move(**exception), .message = std::move(**message)};
}

}  // namespace tfyarn::hadoop
