// Any bytes as a recording. Reading never crashes, gives the same in whatever pieces the bytes
// come, and gives nothing that was not written. The first byte says how the rest is used: as the
// file; as the bodies of two entries, as checksums keep random bytes out of the decoder; or as
// damage to a file that was written well. The second byte is the size of a piece, or of the first
// body.
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/check.h"
#include "core/model/codec.h"
#include "hosts/runtime/recording.h"

namespace {

using namespace tfyarn;

constexpr std::string_view kMagic = "TFYARNR1";

std::string Number(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

std::string Framed(std::string_view body) {
  return Number(body.size()) + Number(XXH3_64bits(body.data(), body.size())) + std::string(body);
}

/// A body: which of header, spec and record it is, and that.
template <class T>
std::string Body(char index, const T& value) {
  std::string body(1, index);
  std::vector<SpecRef> specs;
  Encoder(body, &specs).Put(value);
  return body;
}

std::string Header() {
  return std::string(kMagic) + Framed(Body(0, hosts::RecordingHeader{.version = "1", .seed = 7}));
}

struct Reading {
  std::vector<std::string> records;
  bool failed = false;
  bool whole = false;
};

Reading InPieces(std::string_view bytes, std::size_t piece) {
  Reading reading;
  hosts::RecordingParser parser;
  while (!bytes.empty() && !reading.failed) {
    const std::string fed(bytes.substr(0, piece));  // Of its own: a look beyond it is caught.
    bytes.remove_prefix(fed.size());
    const auto taken = parser.Feed(
        fed, [&](const trace::TraceRecord& record) { reading.records.push_back(Body(2, record)); });
    reading.failed = !taken;
  }
  reading.whole = parser.whole();
  return reading;
}

Reading CheckFile(const std::string& bytes, std::size_t piece) {
  const Reading whole = InPieces(bytes, bytes.size());
  const Reading pieces = InPieces(bytes, piece + 1);
  TF_CHECK(whole.records == pieces.records && whole.failed == pieces.failed);
  TF_CHECK(whole.failed || whole.whole == pieces.whole);
  return whole;
}

void CheckBodies(std::string_view bodies, std::size_t first) {
  const std::string_view one = bodies.substr(0, first);
  bodies.remove_prefix(one.size());
  const Reading reading = CheckFile(Header() + Framed(one) + Framed(bodies), first);
  TF_CHECK(reading.failed || reading.whole);
}

/// Every two bytes: a place, and what is xored into it. Nothing altered may be read.
void CheckDamage(std::string_view damage, std::size_t piece) {
  const SpecRef spec =
      Share({.epoch = Epoch(1), .tasks = {{"worker", {{.host = "a", .port = 1}}}}});
  const std::vector<std::string> records{
      Body(2, trace::TraceRecord{Instant(std::chrono::seconds(1)), trace::RunStopped{}}),
      Body(2, trace::TraceRecord{Instant(std::chrono::seconds(2)),
                                 trace::AmOrdered{.action = SpecAssembled{.spec = spec}}})};
  std::string file =
      Header() + Framed(records[0]) + Framed(Body(1, *spec.get())) + Framed(records[1]);
  TF_CHECK(CheckFile(file, piece).records == records);
  for (std::size_t i = 0; i + 1 < damage.size(); i += 2) {
    char& byte = file[static_cast<unsigned char>(damage[i]) % file.size()];
    byte = static_cast<char>(byte ^ damage[i + 1]);
  }
  const Reading reading = CheckFile(file, piece);
  TF_CHECK(reading.records.size() <= records.size());
  for (std::size_t i = 0; i < reading.records.size(); ++i)
    TF_CHECK(reading.records[i] == records[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 3) {
    case 0:
      CheckFile(std::string(rest), data[1]);
      break;
    case 1:
      CheckBodies(rest, data[1]);
      break;
    case 2:
      CheckDamage(rest, data[1]);
      break;
  }
  return 0;
}
