// Any bytes as a call of YARN or the answer to one: the first byte tells which. Decoding never
// crashes, and an answer that was decoded is encoded and decoded again to the same.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/check.h"
#include "core/model/text.h"
#include "wire/hadoop/base64.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/token_identifiers.h"
#include "wire/hadoop/yarn_codec.h"

namespace {

namespace hadoop = tfyarn::hadoop;
namespace yarn = tfyarn::yarn;

const std::array<yarn::RmRequest, 9> kRmCalls = {
    yarn::GetNewApplicationRequest{},         yarn::SubmitApplicationRequest{},
    yarn::GetApplicationReportRequest{},      yarn::KillApplicationRequest{},
    yarn::GetClusterNodesRequest{},           yarn::GetQueueInfoRequest{},
    yarn::RegisterApplicationMasterRequest{}, yarn::AllocateRequest{},
    yarn::FinishApplicationMasterRequest{}};
const std::array<yarn::NmRequest, 3> kNmCalls = {yarn::StartContainersRequest{},
                                                 yarn::StopContainersRequest{},
                                                 yarn::GetContainerStatusesRequest{}};

/// Amounts that are negative are written as none, and a long one of cores is cut: the copy is what
/// has to stay.
void CheckRmResponse(const yarn::RmRequest& call, std::string_view body) {
  hadoop::TokenStore tokens;
  const auto response = hadoop::DecodeRmResponse(call, body, tokens);
  if (!response) return;
  const auto copy =
      hadoop::DecodeRmResponse(call, hadoop::EncodeRmResponse(*response, tokens), tokens);
  TF_CHECK(copy.has_value());
  const auto again =
      hadoop::DecodeRmResponse(call, hadoop::EncodeRmResponse(*copy, tokens), tokens);
  TF_CHECK(again.has_value());
  TF_CHECK(tfyarn::ToText(*again) == tfyarn::ToText(*copy));
}

void CheckNmResponse(const yarn::NmRequest& call, std::string_view body) {
  const auto response = hadoop::DecodeNmResponse(call, body);
  if (!response) return;
  const auto again = hadoop::DecodeNmResponse(call, hadoop::EncodeNmResponse(*response));
  TF_CHECK(again.has_value());
  TF_CHECK(tfyarn::ToText(*again) == tfyarn::ToText(*response));
}

void CheckRequest(const yarn::RmRequest& example, std::string_view body) {
  auto call = hadoop::EncodeRmRequest(example, {.unmanaged_am = true});
  TF_CHECK(call.has_value());
  (void)hadoop::DecodeRmRequest(call->protocol, call->method, body);
  hadoop::TokenStore tokens;
  for (const char* method : {"startContainers", "stopContainers", "getContainerStatuses"})
    (void)hadoop::DecodeNmRequest(method, body, tokens);
  (void)hadoop::DecodeSubmitTerms(body);
  (void)hadoop::DecodeLaunchTerms(body);
}

/// What a client shows of a token.
void CheckTokens(std::string_view bytes) {
  if (const auto token = hadoop::DecodeAmRmTokenIdentifier(bytes))
    TF_CHECK(hadoop::DecodeAmRmTokenIdentifier(Encode(*token)) == *token);
  if (const auto token = hadoop::DecodeNmTokenIdentifier(bytes))
    TF_CHECK(hadoop::DecodeNmTokenIdentifier(Encode(*token)) == *token);
  if (const auto decoded = hadoop::DecodeBase64(bytes))
    TF_CHECK(hadoop::DecodeBase64(hadoop::EncodeBase64(*decoded)) == *decoded);
}

void CheckQueries(std::string_view body) {
  (void)hadoop::DecodeClusterMetrics(body);
  (void)hadoop::DecodeNodeLabels(body);
  (void)hadoop::DecodeNodeToLabels(body);
  (void)hadoop::DecodeNodeWebAddresses(body);
  (void)hadoop::DecodeQueueRights(body);
  (void)hadoop::DecodeResourceTypes(body);
  (void)hadoop::DecodeApplications(body);
  (void)hadoop::DecodeApplicationReport(body);
  (void)hadoop::DecodeApplicationAttempts(body);
  (void)hadoop::DecodeApplicationAttemptReport(body);
  (void)hadoop::DecodeContainers(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t which = data[0] / 4;
  switch (data[0] % 4) {
    case 0:
      CheckRmResponse(kRmCalls[which % kRmCalls.size()], rest);
      break;
    case 1:
      CheckNmResponse(kNmCalls[which % kNmCalls.size()], rest);
      break;
    case 2:
      CheckRequest(kRmCalls[which % kRmCalls.size()], rest);
      break;
    case 3:
      CheckQueries(rest);
      CheckTokens(rest);
      break;
  }
  return 0;
}
