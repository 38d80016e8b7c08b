#include "wire/yarnweb/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

namespace tfyarn::wire {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
constexpr std::size_t kInflated = std::size_t{256} << 10;

/// A part of the file as it stands there.
class Plain : public ByteSource {
 public:
  Plain(const ReadRange& read, std::uint64_t offset, std::uint64_t length)
      : read_(read), next_(offset), end_(offset + length) {}

  Expected<std::string_view> Next(std::uint64_t most) override {
    if (used_ == piece_.size()) {
      if (auto filled = Fill(); !filled) return tl::unexpected(filled.error());
    }
    const auto view = std::string_view(piece_).substr(used_, most);
    used_ += view.size();
    return view;
  }

  Expected<void> Skip(std::uint64_t count) override {
    const std::uint64_t here = std::min<std::uint64_t>(count, piece_.size() - used_);
    used_ += here;
    if (count - here > end_ - next_) return Damaged("it ends too early");
    next_ += count - here;
    return {};
  }

  Expected<bool> AtEnd() override { return used_ == piece_.size() && next_ == end_; }

 private:
  Expected<void> Fill() {
    used_ = 0;
    piece_.clear();
    if (next_ == end_) return {};
    auto piece = read_(next_, std::min(kPiece, end_ - next_));
    if (!piece) return tl::unexpected(piece.error());
    if (piece->empty() || piece->size() > end_ - next_) return Damaged("it ends too early");
    next_ += piece->size();
    piece_ = std::move(*piece);
    return {};
  }

  const ReadRange& read_;
  std::uint64_t next_;  ///< Offset behind the piece.
  std::uint64_t end_;
  std::string piece_;
  std::size_t used_ = 0;
};

/// A part that was deflated.
class Inflated : public ByteSource {
 public:
  explicit Inflated(std::unique_ptr<ByteSource> from) : from_(std::move(from)) {
    good_ = ::inflateInit(&stream_) == Z_OK;
  }
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;
  ~Inflated() override { ::inflateEnd(&stream_); }

  Expected<std::string_view> Next(std::uint64_t most) override {
    if (const auto end = AtEnd(); !end) return tl::unexpected(end.error());
    const auto view = std::string_view(out_.data() + used_, size_ - used_).substr(0, most);
    used_ += view.size();
    return view;
  }

  Expected<void> Skip(std::uint64_t count) override {
    return Each(*this, count, [](std::string_view) {});
  }

  Expected<bool> AtEnd() override {
    while (used_ == size_ && !ended_) {
      if (auto filled = Fill(); !filled) return tl::unexpected(filled.error());
    }
    return used_ == size_;
  }

 private:
  Expected<void> Fill() {
    if (!good_) return Fail(ErrorCode::kInternal, "zlib cannot be used");
    if (stream_.avail_in == 0) {
      const auto piece = from_->Next(kPiece);
      if (!piece) return tl::unexpected(piece.error());
      if (piece->empty()) return Damaged("a block ends too early");
      // zlib reads it only.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece->data()));
      stream_.avail_in = static_cast<uInt>(piece->size());
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = static_cast<uInt>(out_.size());
    const int state = ::inflate(&stream_, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      return Damaged("a block cannot be inflated");
    used_ = 0;
    size_ = out_.size() - stream_.avail_out;
    ended_ = state == Z_STREAM_END;
    return {};
  }

  std::unique_ptr<ByteSource> from_;
  z_stream stream_{};
  bool good_ = false;
  bool ended_ = false;
  std::string out_ = std::string(kInflated, '\0');
  std::size_t used_ = 0;
  std::size_t size_ = 0;
};

}  // namespace

tl::unexpected<Error> Damaged(std::string_view what) {
  return Fail(ErrorCode::kDataLoss, fmt::format("no aggregated log, or a damaged one: {}", what));
}

Expected<std::string> Exactly(ByteSource& source, std::uint64_t count) {
  std::string bytes;
  const auto read = Each(source, count, [&](std::string_view piece) { bytes += piece; });
  if (!read) return tl::unexpected(read.error());
  return bytes;
}

std::unique_ptr<ByteSource> OpenPlain(const ReadRange& read, std::uint64_t offset,
                                      std::uint64_t length) {
  return std::make_unique<Plain>(read, offset, length);
}

std::unique_ptr<ByteSource> Inflate(std::unique_ptr<ByteSource> from) {
  return std::make_unique<Inflated>(std::move(from));
}

}  // namespace tfyarn::wire
