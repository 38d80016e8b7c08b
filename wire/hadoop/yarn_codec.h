// Calls of YARN as bytes: core/model/yarn.h to Hadoop's messages and back, for both ends.
// Protobuf's own types stay in the .cc files.
//
// A peer is believed nothing: ids, numbers and what must be there are checked on the way in.
// Enumerators and fields of a later Hadoop are ignored: a state that is not known reads as the
// first of its kind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"
#include "core/model/host_port.h"
#include "core/model/yarn.h"
#include "wire/hadoop/ipc_messages.h"
#include "wire/hadoop/token_store.h"

namespace tfyarn::hadoop {

/// Source: the PB interfaces of hadoop-yarn-api; all have version 1.
inline const IpcProtocol kApplicationClientProtocol{
    .name = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"};
inline const IpcProtocol kApplicationMasterProtocol{
    .name = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"};
inline const IpcProtocol kContainerManagementProtocol{
    .name = "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"};

/// The file system in which a LocalResource's path lies.
struct FileSystemAddress {
  std::string scheme = "hdfs";
  /// Or the name service of a pair of NameNodes, which has no port: 0.
  HostPort server;
};

/// What a launch needs beyond core's record.
struct LaunchTerms {
  FileSystemAddress file_system;
  std::string credentials;  ///< Encoded, wire/hadoop/credentials.h; "" = none.
};

/// What a submission needs beyond core's record.
struct SubmitTerms {
  LaunchTerms am;
  bool unmanaged_am = false;                ///< The AM is started by us, not by the RM.
  std::string application_type = "TFYARN";  ///< Most 20 characters.
};

struct EncodedCall {
  IpcProtocol protocol;
  std::string method;
  std::string body;
};

// ---------------------------------------------------------------- a client's and an AM's end

/// `request`: one of a client or an AM; `submit` is for SubmitApplicationRequest alone.
/// Errors: kInvalidArgument for a call of a NodeManager, and for a launch that no NodeManager could
/// be told.
[[nodiscard]] Expected<EncodedCall> EncodeRmRequest(const yarn::RmRequest& request,
                                                    const SubmitTerms& submit);
/// The answer to `request`. Tokens in it go to `tokens`.
/// Errors: kInvalidArgument saying what is wrong.
[[nodiscard]] Expected<yarn::RmResponse> DecodeRmResponse(const yarn::RmRequest& request,
                                                          std::string_view body,
                                                          TokenStore& tokens);

/// `terms`: by container of a StartContainersRequest. Errors: as above, and kNotFound when the
/// token of a container is not in `tokens`.
[[nodiscard]] Expected<EncodedCall> EncodeNmRequest(const yarn::NmRequest& request,
                                                    const std::map<ContainerId, LaunchTerms>& terms,
                                                    const TokenStore& tokens);
[[nodiscard]] Expected<yarn::NmResponse> DecodeNmResponse(const yarn::NmRequest& request,
                                                          std::string_view body);

// ---------------------------------------------------------------- a daemon's end

/// Errors: kNotFound when there is no such method; kInvalidArgument.
[[nodiscard]] Expected<yarn::RmRequest> DecodeRmRequest(const IpcProtocol& protocol,
                                                        std::string_view method,
                                                        std::string_view body);
/// What a submitApplication says beyond core's record. Errors: kInvalidArgument.
[[nodiscard]] Expected<SubmitTerms> DecodeSubmitTerms(std::string_view body);
/// `response`: no RpcError. Tokens that are not in `tokens` are left out.
[[nodiscard]] std::string EncodeRmResponse(const yarn::RmResponse& response,
                                           const TokenStore& tokens);
/// The containers' tokens get handles of `tokens`.
[[nodiscard]] Expected<yarn::NmRequest> DecodeNmRequest(std::string_view method,
                                                        std::string_view body, TokenStore& tokens);
/// What a startContainers says beyond core's record, by container. Errors: kInvalidArgument.
[[nodiscard]] Expected<std::map<ContainerId, LaunchTerms>> DecodeLaunchTerms(std::string_view body);
[[nodiscard]] std::string EncodeNmResponse(const yarn::NmResponse& response);

}  // namespace tfyarn::hadoop
