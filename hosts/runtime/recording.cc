#include "hosts/runtime/recording.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "core/model/codec.h"
#include "core/model/visit.h"

namespace tfyarn::hosts {
namespace {

constexpr std::string_view kMagic = "TFYARNR1";
constexpr std::size_t kFrameHeader = 8;

/// A spec, in front of the first entry that names it.
struct SpecDefined {
  ClusterSpec spec;
};
BOOST_DESCRIBE_STRUCT(SpecDefined, (), (spec))

using Entry = std::variant<RecordingHeader, SpecDefined, trace::TraceRecord>;

std::uint32_t Checksum(std::string_view body) {
  return static_cast<std::uint32_t>(XXH3_64bits(body.data(), body.size()));
}

void PutNumber(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::uint32_t GetNumber(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i)
    value = (value << 8) | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

std::string Framed(const Entry& entry, std::vector<SpecRef>& specs) {
  std::string body;
  Encoder(body, &specs).Put(entry);
  std::string framed;
  PutNumber(framed, static_cast<std::uint32_t>(body.size()));
  PutNumber(framed, Checksum(body));
  return framed + body;
}

}  // namespace

Expected<Recorder> Recorder::Open(const std::string& path, const RecordingHeader& header) {
  Recorder recorder;
  recorder.file_ = GrowingFile(path, true);
  const auto failed = [&](const char* what) {
    return Fail(ErrorCode::kFailedPrecondition, fmt::format("{}: cannot be {}: {}", path, what,
                                                            std::strerror(recorder.file_.error())));
  };
  if (!recorder.file_.is_open()) return failed("made");
  std::vector<SpecRef> none;
  recorder.file_.Append(std::string(kMagic) + Framed(Entry(header), none));
  if (recorder.file_.error() != 0) return failed("written");
  return recorder;
}

void Recorder::Write(Instant at, trace::Fact fact) {
  if (!file_.is_open()) return;
  std::vector<SpecRef> specs;
  const std::string record =
      Framed(Entry(trace::TraceRecord{.at = at, .fact = std::move(fact)}), specs);
  std::string bytes;
  for (const SpecRef& spec : specs) {
    const auto known = std::lower_bound(known_specs_.begin(), known_specs_.end(), spec.id());
    if (spec.get() == nullptr || (known != known_specs_.end() && *known == spec.id())) continue;
    known_specs_.insert(known, spec.id());
    std::vector<SpecRef> none;
    bytes += Framed(Entry(SpecDefined{*spec.get()}), none);
  }
  const bool kept = file_.Append(bytes + record);
  const int error = file_.error();
  if (kept && (error == 0 || error == ENOSPC || error == EDQUOT)) return;
  failure_ = fmt::format("the recording ends here: {}", std::strerror(error));
  file_.Close();
}

Expected<Recording> ReadRecording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorCode::kNotFound, fmt::format("{}: cannot be opened", path));
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto recording = ReadRecordingBytes(bytes);
  if (!recording)
    return Fail(recording.error().code, fmt::format("{}: {}", path, recording.error().message));
  return recording;
}

Expected<Recording> ReadRecordingBytes(std::string_view bytes) {
  Recording recording;
  RecordingParser parser;
  const auto parsed = parser.Feed(
      bytes, [&](trace::TraceRecord& record) { recording.records.push_back(std::move(record)); });
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  if (parser.header() == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "a recording without its beginning");
  recording.header = *parser.header();
  recording.whole = parser.whole();
  return recording;
}

// ---------------------------------------------------------------- RecordingParser

Expected<void> RecordingParser::Feed(std::string_view bytes, const OnRecord& on_record) {
  if (failure_) return tl::unexpected<Error>(*failure_);
  rest_ += bytes;
  auto taken = TakeEntries(on_record);
  if (!taken) failure_ = taken.error();
  return taken;
}

Expected<void> RecordingParser::TakeEntries(const OnRecord& on_record) {
  std::string_view left = rest_;
  if (!begun_) {
    if (left.substr(0, kMagic.size()) != kMagic.substr(0, left.size()))
      return Fail(ErrorCode::kInvalidArgument, "not a recording of this version of tfyarn");
    if (left.size() < kMagic.size()) return {};
    begun_ = true;
    left.remove_prefix(kMagic.size());
  }
  while (left.size() >= kFrameHeader) {
    const std::size_t size = GetNumber(left);
    if (size > left.size() - kFrameHeader) break;
    if (auto taken = TakeEntry(left.substr(0, kFrameHeader + size), on_record); !taken)
      return taken;
    left.remove_prefix(kFrameHeader + size);
  }
  rest_ = std::string(left);
  return {};
}

Expected<void> RecordingParser::TakeEntry(std::string_view frame, const OnRecord& on_record) {
  const std::string_view body = frame.substr(kFrameHeader);
  Entry entry;
  Decoder decoder(body, &specs_);
  decoder.Get(entry);
  if (Checksum(body) != GetNumber(frame.substr(4)) || !decoder.at_end())
    return Fail(ErrorCode::kDataLoss, "a damaged entry");
  std::visit(Overloaded{[&](RecordingHeader& header) { header_ = std::move(header); },
                        [&](SpecDefined& defined) {
                          const SpecRef spec = Share(std::move(defined.spec));
                          specs_.emplace(spec.id(), spec);
                        },
                        [&](trace::TraceRecord& record) { on_record(record); }},
             entry);
  return {};
}

}  // namespace tfyarn::hosts
