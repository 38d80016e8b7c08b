// Calls of NodeManagers and their answers, both ways.
#include <fmt/format.h>

#include <utility>

#include "core/model/check.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/hadoop/yarn_master.pb.h"
#include "wire/hadoop/yarn_records.h"
#include "wire/hadoop/yarn_tokens.pb.h"

namespace tfyarn::hadoop {
namespace {

using google::protobuf::RepeatedPtrField;
using EncodedRequest = Expected<EncodedCall>;
using DecodedRequest = Expected<yarn::NmRequest>;
using DecodedResponse = Expected<yarn::NmResponse>;

EncodedRequest NmCall(std::string method, const google::protobuf::MessageLite& message) {
  return EncodedCall{.protocol = kContainerManagementProtocol,
                     .method = std::move(method),
                     .body = message.SerializeAsString()};
}

void WriteIds(const std::vector<ContainerId>& in, RepeatedPtrField<pb::ContainerId>& out) {
  for (const ContainerId& id : in) Write(id, *out.Add());
}

std::vector<ContainerId> ReadIds(Reader& reader, const RepeatedPtrField<pb::ContainerId>& in) {
  std::vector<ContainerId> out;
  for (const pb::ContainerId& id : in) out.push_back(reader.Container(id));
  return out;
}

void WriteFailed(const std::vector<yarn::FailedContainer>& in,
                 RepeatedPtrField<pb::ContainerException>& out) {
  for (const yarn::FailedContainer& failed : in) {
    pb::ContainerException& entry = *out.Add();
    Write(failed.container, *entry.mutable_container_id());
    Write(failed.error, *entry.mutable_exception());
  }
}

std::vector<yarn::FailedContainer> ReadFailed(Reader& reader,
                                              const RepeatedPtrField<pb::ContainerException>& in) {
  std::vector<yarn::FailedContainer> out;
  for (const pb::ContainerException& entry : in)
    out.push_back({.container = reader.Container(entry.container_id()),
                   .error = Reader::Exception(entry.exception())});
  return out;
}

struct NmRequestEncoder {
  const std::map<ContainerId, LaunchTerms>& terms;
  const TokenStore& tokens;

  EncodedRequest operator()(const yarn::StartContainersRequest& in) const {
    pb::StartContainersRequest out;
    for (const yarn::StartContainerRequest& request : in.containers) {
      pb::StartContainerRequest& entry = *out.add_start_container_request();
      const HadoopToken* token = tokens.Find(request.container_token);
      const auto launch = terms.find(request.container);
      if (token == nullptr || launch == terms.end())
        return Fail(ErrorCode::kNotFound, fmt::format("no token or no terms to start {} with",
                                                      ToString(request.container)));
      Write(*token, *entry.mutable_container_token());
      const auto written =
          Write(request.context, launch->second, *entry.mutable_container_launch_context());
      if (!written) return tl::unexpected(written.error());
    }
    return NmCall("startContainers", out);
  }
  EncodedRequest operator()(const yarn::StopContainersRequest& in) const {
    pb::StopContainersRequest out;
    WriteIds(in.containers, *out.mutable_container_id());
    return NmCall("stopContainers", out);
  }
  EncodedRequest operator()(const yarn::GetContainerStatusesRequest& in) const {
    pb::GetContainerStatusesRequest out;
    WriteIds(in.containers, *out.mutable_container_id());
    return NmCall("getContainerStatuses", out);
  }
};

struct NmResponseDecoder {
  std::string_view body;

  DecodedResponse operator()(const yarn::StartContainersRequest&) const {
    const auto in = Parse<pb::StartContainersResponse>(body, "answer to startContainers");
    if (!in) return tl::unexpected(in.error());
    Reader reader("answer to startContainers");
    yarn::StartContainersResponse out{.succeeded = ReadIds(reader, in->succeeded_requests()),
                                      .failed = ReadFailed(reader, in->failed_requests())};
    return reader.Done<yarn::NmResponse>(std::move(out));
  }
  DecodedResponse operator()(const yarn::StopContainersRequest&) const {
    const auto in = Parse<pb::StopContainersResponse>(body, "answer to stopContainers");
    if (!in) return tl::unexpected(in.error());
    Reader reader("answer to stopContainers");
    yarn::StopContainersResponse out{.succeeded = ReadIds(reader, in->succeeded_requests()),
                                     .failed = ReadFailed(reader, in->failed_requests())};
    return reader.Done<yarn::NmResponse>(std::move(out));
  }
  DecodedResponse operator()(const yarn::GetContainerStatusesRequest&) const {
    const auto in = Parse<pb::GetContainerStatusesResponse>(body, "answer to getContainerStatuses");
    if (!in) return tl::unexpected(in.error());
    Reader reader("answer to getContainerStatuses");
    yarn::GetContainerStatusesResponse out;
    for (const pb::ContainerStatus& status : in->status())
      out.statuses.push_back(reader.Status(status));
    out.failed = ReadFailed(reader, in->failed_requests());
    return reader.Done<yarn::NmResponse>(std::move(out));
  }
};

// ---------------------------------------------------------------- a daemon's end

/// Which container it is stands in the token alone.
DecodedRequest DecodeStart(std::string_view body, TokenStore& tokens) {
  const auto in = Parse<pb::StartContainersRequest>(body, "startContainers");
  if (!in) return tl::unexpected(in.error());
  Reader reader("startContainers");
  yarn::StartContainersRequest out;
  for (const pb::StartContainerRequest& entry : in->start_container_request()) {
    const auto identifier = Parse<pb::ContainerTokenIdentifier>(
        entry.container_token().identifier(), "container token");
    if (!identifier) return tl::unexpected(identifier.error());
    out.containers.push_back({.container = reader.Container(identifier->container_id()),
                              .container_token = tokens.Keep(Read(entry.container_token())),
                              .context = reader.LaunchContext(entry.container_launch_context())});
  }
  return reader.Done<yarn::NmRequest>(std::move(out));
}

template <class Message, class Request>
DecodedRequest DecodeIds(std::string_view body, std::string_view what) {
  const auto in = Parse<Message>(body, what);
  if (!in) return tl::unexpected(in.error());
  Reader reader(what);
  Request out{.containers = ReadIds(reader, in->container_id())};
  return reader.Done<yarn::NmRequest>(std::move(out));
}

struct NmResponseEncoder {
  std::string operator()(const yarn::RpcError&) const { TF_CHECK(false); }
  std::string operator()(const yarn::StartContainersResponse& in) const {
    pb::StartContainersResponse out;
    WriteIds(in.succeeded, *out.mutable_succeeded_requests());
    WriteFailed(in.failed, *out.mutable_failed_requests());
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::StopContainersResponse& in) const {
    pb::StopContainersResponse out;
    WriteIds(in.succeeded, *out.mutable_succeeded_requests());
    WriteFailed(in.failed, *out.mutable_failed_requests());
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::GetContainerStatusesResponse& in) const {
    pb::GetContainerStatusesResponse out;
    for (const yarn::ContainerStatus& status : in.statuses) Write(status, *out.add_status());
    WriteFailed(in.failed, *out.mutable_failed_requests());
    return out.SerializeAsString();
  }
};

}  // namespace

Expected<EncodedCall> EncodeNmRequest(const yarn::NmRequest& request,
                                      const std::map<ContainerId, LaunchTerms>& terms,
                                      const TokenStore& tokens) {
  return std::visit(NmRequestEncoder{terms, tokens}, request);
}

Expected<yarn::NmResponse> DecodeNmResponse(const yarn::NmRequest& request, std::string_view body) {
  return std::visit(NmResponseDecoder{body}, request);
}

Expected<yarn::NmRequest> DecodeNmRequest(std::string_view method, std::string_view body,
                                          TokenStore& tokens) {
  if (method == "startContainers") return DecodeStart(body, tokens);
  if (method == "stopContainers")
    return DecodeIds<pb::StopContainersRequest, yarn::StopContainersRequest>(body, method);
  if (method == "getContainerStatuses")
    return DecodeIds<pb::GetContainerStatusesRequest, yarn::GetContainerStatusesRequest>(body,
                                                                                         method);
  return Fail(ErrorCode::kNotFound, fmt::format("Unknown method {} called on {} protocol.", method,
                                                kContainerManagementProtocol.name));
}

Expected<std::map<ContainerId, LaunchTerms>> DecodeLaunchTerms(std::string_view body) {
  const auto in = Parse<pb::StartContainersRequest>(body, "startContainers");
  if (!in) return tl::unexpected(in.error());
  Reader reader("startContainers");
  std::map<ContainerId, LaunchTerms> out;
  for (const pb::StartContainerRequest& entry : in->start_container_request()) {
    const auto identifier = Parse<pb::ContainerTokenIdentifier>(
        entry.container_token().identifier(), "container token");
    if (!identifier) return tl::unexpected(identifier.error());
    out.emplace(reader.Container(identifier->container_id()),
                Reader::Terms(entry.container_launch_context()));
  }
  return reader.Done(std::move(out));
}

std::string EncodeNmResponse(const yarn::NmResponse& response) {
  return std::visit(NmResponseEncoder{}, response);
}

}  // namespace tfyarn::hadoop
