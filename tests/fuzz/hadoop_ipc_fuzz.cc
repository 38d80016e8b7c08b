// Any bytes as what a Hadoop daemon says, or a client: the first byte tells which. Decoding never
// crashes, and what was decoded is encoded and decoded again unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/check.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      CheckResponse(rest);
      break;
    case 1:
      CheckSasl(rest);
      break;
    case 2:
      CheckClientFrame(rest);
      break;
    case 3:
      (void)hadoop::DecodeOldRefusal(rest);
      break;
  }
  return 0;
}
