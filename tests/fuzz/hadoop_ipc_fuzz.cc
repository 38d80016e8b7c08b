// Any bytes as what a Hadoop daemon says, or a client: the first byte tells which. Decoding never
// crashes, and what was decoded is encoded and decoded again unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/check.h"
#include "tests/fuzz/one_of.h"
#include "wire/frame.h"
#include "wire/hadoop/ipc_messages.h"

namespace {

namespace hadoop = tfyarn::hadoop;

std::string_view PayloadOf(std::string_view frame) {
  return frame.substr(tfyarn::wire::kFrameHeader);
}

void CheckResponse(std::string_view bytes) {
  const auto response = hadoop::DecodeResponse(bytes);
  if (!response) return;
  TF_CHECK(hadoop::DecodeResponse(PayloadOf(hadoop::ResponseFrame(*response))) == *response);
}

void CheckSasl(std::string_view bytes) {
  const auto message = hadoop::DecodeSasl(bytes);
  if (!message) return;
  const auto response = hadoop::DecodeResponse(PayloadOf(hadoop::SaslResponseFrame(*message)));
  TF_CHECK(response.has_value());
  TF_CHECK(hadoop::DecodeSasl(response->body) == *message);
}

struct Encoder {
  std::string operator()(const hadoop::ConnectionContext& context) const {
    return hadoop::ContextFrame(context, "client");
  }
  std::string operator()(const hadoop::Ping&) const { return hadoop::PingFrame("client"); }
  std::string operator()(const hadoop::CallRequest& call) const {
    return hadoop::RequestFrame(call);
  }
  std::string operator()(const hadoop::SaslMessage& message) const {
    return hadoop::SaslRequestFrame(message);
  }
};

void CheckClientFrame(std::string_view bytes) {
  const auto frame = hadoop::DecodeClientFrame(bytes);
  if (!frame) return;
  const std::string copy = std::visit(Encoder{}, *frame);
  TF_CHECK(hadoop::DecodeClientFrame(PayloadOf(copy)) == *frame);
}

void CheckOldRefusal(std::string_view bytes) {
  (void)hadoop::DecodeOldRefusal(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(data, size,
                             {CheckResponse, CheckSasl, CheckClientFrame, CheckOldRefusal});
}
