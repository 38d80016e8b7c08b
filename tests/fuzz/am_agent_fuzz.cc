// Any bytes as a message between AM and agent. The first byte says which: of an agent, of the AM,
// a Hello, or a cluster spec, whose hash keeps random bytes out of the AM's messages. Decoding
// never crashes, and what was decoded is encoded and decoded again unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/check.h"
#include "core/model/text.h"
#include "tests/fuzz/one_of.h"
#include "wire/am_agent_codec.h"
#include "wire/frame.h"
#include "wire/spec_codec.h"

namespace {

namespace wire = tfyarn::wire;

void CheckAgentToAm(std::string_view bytes) {
  const auto message = wire::DecodeAgentToAm(bytes);
  if (!message) return;
  const std::string copy = wire::Encode(*message);
  TF_CHECK(copy.size() <= wire::kMaxAgentFrame);
  const auto again = wire::DecodeAgentToAm(copy);
  TF_CHECK(again.has_value());
  TF_CHECK(tfyarn::ToText(*again) == tfyarn::ToText(*message));
}

void CheckAmToAgent(std::string_view bytes) {
  const auto message = wire::DecodeAmToAgent(bytes);
  if (!message) return;
  const auto again = wire::DecodeAmToAgent(wire::Encode(*message));
  TF_CHECK(again.has_value());
  TF_CHECK(tfyarn::ToText(*again) == tfyarn::ToText(*message));
}

void CheckHello(std::string_view bytes) {
  const auto hello = wire::DecodeHello(bytes);
  if (!hello) return;
  (void)wire::CommonVersion(*hello);
  TF_CHECK(wire::DecodeHello(wire::Encode(*hello)) == *hello);
}

void CheckSpec(std::string_view bytes) {
  const auto spec = wire::DecodeSpec(bytes);
  if (!spec) return;
  const auto again = wire::DecodeSpec(wire::EncodeSpec(*spec));
  TF_CHECK(again.has_value());
  TF_CHECK(*again == *spec);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tfyarn::fuzz::OneOf(data, size, {CheckAgentToAm, CheckAmToAgent, CheckHello, CheckSpec});
}
