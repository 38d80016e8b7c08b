#include "hosts/runtime/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
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
#include "hosts/runtime/write_all.h"

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

/// Kept for a disk that is full.
constexpr std::size_t kMostPending = std::size_t{4} << 20;

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
  recorder.file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (recorder.file_ < 0)
    return Fail(ErrorCode::kFailedPrecondition,
                fmt::format("{}: cannot be made: {}", path, std::strerror(errno)));
  std::vector<SpecRef> none;
  const std::string begin = std::string(kMagic) + Framed(Entry(header), none);
  std::string_view rest = begin;
  if (!WriteAll(recorder.file_, rest))
    return Fail(ErrorCode::kFailedPrecondition,
                fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  return recorder;
}

Recorder::Recorder(Recorder&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      pending_(std::move(other.pending_)),
      known_specs_(std::move(other.known_specs_)),
      failure_(std::move(other.failure_)) {}

Recorder& Recorder::operator=(Recorder&& other) noexcept {
  if (this != &other) {
    if (file_ >= 0) ::close(file_);
    file_ = std::exchange(other.file_, -1);
    pending_ = std::move(other.pending_);
    known_specs_ = std::move(other.known_specs_);
    failure_ = std::move(other.failure_);
  }
  return *this;
}

Recorder::~Recorder() {
  if (file_ >= 0) WritePending();
  if (file_ >= 0) ::close(file_);
}

void Recorder::Write(Instant at, trace::Fact fact) {
  if (file_ < 0) return;
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
  pending_ += bytes + record;
  WritePending();
}

void Recorder::WritePending() {
  std::string_view rest = pending_;
  const bool written = WriteAll(file_, rest);
  const int error = errno;
  pending_.erase(0, pending_.size() - rest.size());
  const bool no_room = error == ENOSPC || error == EDQUOT;
  if (written || (no_room && pending_.size() <= kMostPending)) return;
  failure_ = fmt::format("the recording ends here: {}", std::strerror(error));
  ::close(std::exchange(file_, -1));
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
