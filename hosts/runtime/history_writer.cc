#include "hosts/runtime/history_writer.h"

#include <algorithm>
#include <utility>

namespace tfyarn::hosts {
namespace {

/// From `offset` on; of more than `most` bytes, whole lines.
std::string ReadPiece(const GrowingFile& grown, std::uint64_t offset, std::size_t most) {
  std::string piece = grown.Read(offset, most);
  const auto line = piece.size() < most ? std::string::npos : piece.rfind('\n');
  if (line != std::string::npos) piece.resize(line + 1);
  return piece;
}

}  // namespace

HistoryWriter::HistoryWriter(Parts parts)
    : parts_(std::move(parts)), tick_(parts_.loop), last_(parts_.loop) {
  Tick();
}

void HistoryWriter::Follow(const std::string& name, const GrowingFile& grown) {
  followed_[name] = {.grown = &grown};
}

void HistoryWriter::Put(const std::string& name, std::string bytes) {
  whole_[name] = std::move(bytes);
}

void HistoryWriter::Finish(Duration most, std::function<void()> done) {
  done_ = std::move(done);
  finishing_ = true;
  pause_ = kFirstPause;
  last_.expires_after(most);
  last_.async_wait(lifetime_.Guard([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    parts_.note("the history in " + parts_.directory +
                " is not whole: HDFS did not take it in time");
    End();
  }));
  if (!busy_) Next();
}

void HistoryWriter::End() {
  ended_ = true;
  tick_.cancel();
  last_.cancel();
  if (done_) std::exchange(done_, nullptr)();
}

/// Sleeps, and then writes what there is.
void HistoryWriter::Tick() {
  tick_.expires_after(failing_ ? pause_ : kPeriod);
  tick_.async_wait(lifetime_.Guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && !busy_) Next();
  }));
}

void HistoryWriter::Next() {
  if (ended_) return;
  if (!directory_made_) return MakeDirectory();
  // Whole files say what has come of the others: last.
  if (AppendNext() || PutNext()) return;
  if (finishing_) return End();
  Tick();
}

void HistoryWriter::MakeDirectory() {
  Call(
      hdfs::MkdirsRequest{.path = parts_.directory}, [this] { directory_made_ = true; }, [] {});
}

bool HistoryWriter::PutNext() {
  if (whole_.empty()) return false;
  auto entry = whole_.extract(whole_.begin());
  hdfs::CreateRequest create{.path = parts_.directory + "/" + entry.key(), .bytes = entry.mapped()};
  create.size = static_cast<std::int64_t>(create.bytes.size());
  Call(
      std::move(create), [] {},
      // Unless there is a newer one by now.
      [this, name = entry.key(), bytes = std::move(entry.mapped())]() mutable {
        whole_.try_emplace(name, std::move(bytes));
      });
  return true;
}

bool HistoryWriter::AppendNext() {
  for (auto& [name, file] : followed_) {
    std::string piece = ReadPiece(*file.grown, file.written, kMostAtOnce);
    if (piece.empty()) continue;
    const std::size_t size = piece.size();
    if (file.new_line) piece.insert(0, 1, '\n');
    Call(
        hdfs::AppendRequest{
            .path = parts_.directory + "/" + name, .bytes = std::move(piece), .writer = {}},
        [&file = file, size] {
          file.written += size;
          file.new_line = false;
        },
        [&file = file] { file.new_line = true; });
    return true;
  }
  return false;
}

void HistoryWriter::Call(hdfs::HdfsRequest request, std::function<void()> written,
                         std::function<void()> failed) {
  busy_ = true;
  parts_.storage.Call(
      std::move(request),
      lifetime_.Guard([this, written = std::move(written),
                       failed = std::move(failed)](const hdfs::HdfsResponse& response) {
        busy_ = false;
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response)) {
          failed();
          return Failed(*error);
        }
        written();
        Worked();
        Next();
      }));
}

void HistoryWriter::Failed(const hdfs::HdfsError& error) {
  if (!failing_) parts_.note("the history is not written, and tried again: " + error.message);
  failing_ = true;
  if (ended_) return;
  Tick();
  pause_ = finishing_ ? kFirstPause : std::min(pause_ * 2, kLongestPause);
}

void HistoryWriter::Worked() {
  if (failing_) parts_.note("the history is written again");
  failing_ = false;
  pause_ = kFirstPause;
}

}  // namespace tfyarn::hosts
