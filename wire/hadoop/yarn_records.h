// YARN's records between protobuf and core/model/yarn.h. Part of the codec: the only header here
// that knows protobuf's types, included by its .cc files alone.
//
// A Reader keeps the first fault that it meets, so that conversions stay straight.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/yarn.h"
#include "wire/hadoop/token_store.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/hadoop/yarn_records.pb.h"

namespace tfyarn::hadoop {

// ---------------------------------------------------------------- writing

void Write(const ApplicationId& in, pb::ApplicationId& out);
void Write(const ApplicationAttemptId& in, pb::ApplicationAttemptId& out);
void Write(const ContainerId& in, pb::ContainerId& out);
void Write(const NodeId& in, pb::NodeId& out);
/// A negative amount, a difference that went wrong, is written as 0: a real RM takes it, and the
/// whole queue suffers.
void Write(const Resource& in, pb::Resource& out);
void Write(const HadoopToken& in, pb::Token& out);
void Write(const yarn::Container& in, const TokenStore& tokens, pb::Container& out);
void Write(const yarn::ContainerStatus& in, pb::ContainerStatus& out);
void Write(const yarn::NodeReport& in, pb::NodeReport& out);
void Write(const yarn::ResourceRequest& in, pb::ResourceRequest& out);
void Write(const yarn::RpcError& in, pb::SerializedException& out);
/// Errors: as QuoteLaunch().
[[nodiscard]] Expected<void> Write(const yarn::ContainerLaunchContext& in, const LaunchTerms& terms,
                                   pb::ContainerLaunchContext& out);
void Write(const yarn::ApplicationReport& in, pb::ApplicationReport& out);

// ---------------------------------------------------------------- reading

class Reader {
 public:
  /// `message`: what is read, for the fault.
  explicit Reader(std::string_view message) : message_(message) {}

  /// `value` as it was read, or the first fault.
  template <class T>
  Expected<T> Done(T value) {
    if (fault_.empty()) return value;
    return Fail(ErrorCode::kInvalidArgument, fault_);
  }
  void Need(bool present, std::string_view what);

  ApplicationId Application(const pb::ApplicationId& in);
  ApplicationAttemptId Attempt(const pb::ApplicationAttemptId& in);
  ContainerId Container(const pb::ContainerId& in);
  NodeId Node(const pb::NodeId& in);
  yarn::Container GrantedContainer(const pb::Container& in, TokenStore& tokens);
  yarn::ContainerStatus Status(const pb::ContainerStatus& in);
  yarn::NodeReport Report(const pb::NodeReport& in);
  yarn::ResourceRequest Row(const pb::ResourceRequest& in);
  yarn::ApplicationReport Report(const pb::ApplicationReport& in);
  yarn::ContainerLaunchContext LaunchContext(const pb::ContainerLaunchContext& in);
  /// The file system is that of the first file.
  static LaunchTerms Terms(const pb::ContainerLaunchContext& in);
  static yarn::RpcError Exception(const pb::SerializedException& in);

 private:
  template <class Number>
  Number NotNegative(Number value, std::string_view what);

  const std::string_view message_;
  std::string fault_;
};

[[nodiscard]] Resource Read(const pb::Resource& in);
[[nodiscard]] HadoopToken Read(const pb::Token& in);

/// ParseFromString() would complain on stderr about a field that is missing.
/// Errors: kInvalidArgument naming `what`.
template <class Message>
[[nodiscard]] Expected<Message> Parse(std::string_view bytes, std::string_view what) {
  Message message;
  if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !message.IsInitialized())
    return Fail(ErrorCode::kInvalidArgument, std::string(what) + ": cannot be decoded");
  return message;
}

}  // namespace tfyarn::hadoop
