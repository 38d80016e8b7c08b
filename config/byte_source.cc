#include "config/byte_source.h"

#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tfyarn::config {
namespace {

constexpr std::size_t kBlock = std::size_t{64} * 1024;
// Enough for every preset of xz; a hostile header cannot ask for more.
constexpr std::uint64_t kXzMemory = 128ULL << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class RealFile final : public ByteSource {
 public:
  RealFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}

  Expected<std::size_t> Read(char* buffer, std::size_t size) override {
    const std::size_t got = std::fread(buffer, 1, size, file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) {
      return Fail(ErrorCode::kUnavailable, fmt::format("cannot read {}", path_));
    }
    return got;
  }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string bytes) : bytes_(std::move(bytes)) {}

  Expected<std::size_t> Read(char* buffer, std::size_t size) override {
    const std::size_t got = std::min(size, bytes_.size() - at_);
    std::copy_n(bytes_.data() + at_, got, buffer);
    at_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

class Xz final : public ByteSource {
 public:
  explicit Xz(std::unique_ptr<ByteSource> compressed) : compressed_(std::move(compressed)) {
    started_ = lzma_stream_decoder(&stream_, kXzMemory, LZMA_CONCATENATED) == LZMA_OK;
  }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;
  ~Xz() override { lzma_end(&stream_); }

  Expected<std::size_t> Read(char* buffer, std::size_t size) override {
    if (!started_) return Fail(ErrorCode::kUnavailable, "not enough memory to decompress");
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0 && !input_ended_) {
        const auto got = compressed_->Read(input_.data(), input_.size());
        if (!got) return tl::unexpected(got.error());
        input_ended_ = *got == 0;
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        stream_.avail_in = *got;
      }
      const lzma_ret result = lzma_code(&stream_, input_ended_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) {
        ended_ = true;
      } else if (result != LZMA_OK) {
        return Fail(ErrorCode::kDataLoss, result == LZMA_MEMLIMIT_ERROR
                                              ? "needs more than 128 MiB to decompress"
                                              : "is damaged or no xz archive");
      }
    }
    return size - stream_.avail_out;
  }

 private:
  std::unique_ptr<ByteSource> compressed_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::array<char, kBlock> input_{};
  bool started_ = false;
  bool input_ended_ = false;
  bool ended_ = false;
};

}  // namespace

Expected<std::unique_ptr<ByteSource>> OpenRealFile(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const ErrorCode code =
        errno == ENOENT || errno == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return Fail(code, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) return Fail(ErrorCode::kInvalidArgument, "is a directory");
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return Fail(ErrorCode::kUnavailable, std::strerror(errno));
  return std::make_unique<RealFile>(file, path);
}

std::unique_ptr<ByteSource> OpenBytes(std::string bytes) {
  return std::make_unique<MemoryBytes>(std::move(bytes));
}

std::unique_ptr<ByteSource> DecompressXz(std::unique_ptr<ByteSource> compressed) {
  return std::make_unique<Xz>(std::move(compressed));
}

Expected<std::string> ReadAll(ByteSource& source, std::size_t limit) {
  std::string all;
  std::array<char, kBlock> block;
  while (true) {
    const auto got = source.Read(block.data(), block.size());
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return all;
    all.append(block.data(), *got);
    if (all.size() > limit) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("is larger than {} bytes", limit));
    }
  }
}

Expected<std::optional<std::string_view>> LineReader::Next() {
  std::size_t searched = begin_;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos || (at_end_ && begin_ < buffer_.size())) {
      const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
      std::string_view line(buffer_.data() + begin_, stop - begin_);
      begin_ = end == std::string::npos ? stop : end + 1;
      ++line_;
      if (line.size() > kMaxLine) {
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("a line is longer than {} bytes", kMaxLine));
      }
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      return line;
    }
    if (at_end_) return std::nullopt;
    buffer_.erase(0, begin_);
    begin_ = 0;
    searched = buffer_.size();
    if (buffer_.size() > kMaxLine) {
      ++line_;
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("a line is longer than {} bytes", kMaxLine));
    }
    buffer_.resize(searched + kBlock);
    const auto got = source_->Read(buffer_.data() + searched, kBlock);
    buffer_.resize(searched + (got ? *got : 0));
    if (!got) return tl::unexpected(got.error());
    at_end_ = *got == 0;
  }
}

}  // namespace tfyarn::config
