#include "wire/webhdfs/fenced_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace tfyarn::wire {
namespace {

using hdfs::HdfsError;
using hdfs::HdfsErrorCode;

/// Others may take the file while it is being taken; so often it is tried again.
constexpr int kMostRounds = 16;
constexpr std::size_t kMostSegments = 1000;

/// One file of the row.
struct Segment {
  std::int64_t number = 0;
  std::int64_t id = 0;
  std::string path;
  bool open = false;
};

std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc{} || stop != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

/// nullopt: another file that happens to be beside it.
std::optional<Segment> SegmentOf(const WebHdfsFile& file, const std::string& path) {
  std::string_view name = file.status.path;
  if (file.status.directory || !name.starts_with(path + ".")) return std::nullopt;
  name.remove_prefix(path.size() + 1);
  const auto dot = name.find('.');
  const auto number = NumberIn(name.substr(0, dot));
  if (dot == std::string_view::npos || !number) return std::nullopt;
  const std::string_view state = name.substr(dot + 1);
  if (state != "open" && !NumberIn(state)) return std::nullopt;
  return Segment{
      .number = *number, .id = file.id, .path = file.status.path, .open = state == "open"};
}

std::vector<Segment> SegmentsIn(const std::vector<WebHdfsFile>& files, const std::string& path) {
  std::vector<Segment> segments;
  for (const WebHdfsFile& file : files) {
    if (auto segment = SegmentOf(file, path)) segments.push_back(std::move(*segment));
  }
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.number, a.id) < std::tie(b.number, b.id);
  });
  return segments;
}

}  // namespace

/// Taking one file: list, seal what is open, read, make the next, and look that nobody did the
/// same.
class FencedFiles::Taking : public std::enable_shared_from_this<Taking> {
 public:
  Taking(std::shared_ptr<FencedFiles> files, std::string path, WebHdfsAnswer<std::string> answer)
      : files_(std::move(files)), path_(std::move(path)), answer_(std::move(answer)) {}

  void Begin() {
    if (++rounds_ > kMostRounds) {
      return Fail({.code = HdfsErrorCode::kUnavailable,
                   .message = fmt::format("{}: others take it too, {} times in a row", path_,
                                          kMostRounds)});
    }
    segments_.clear();
    bytes_.clear();
    List([](Taking& taking, std::vector<Segment> found) {
      if (found.size() > kMostSegments) {
        return taking.Fail(
            {.code = HdfsErrorCode::kInvalidPath,
             .message = fmt::format("{}: more than {} files", taking.path_, kMostSegments)});
      }
      taking.segments_ = std::move(found);
      taking.Seal(0);
    });
  }

 private:
  /// `next` with the row as it is now; without directory there is none.
  template <class Next>
  void List(Next next) {
    const auto slash = path_.rfind('/');
    const std::string directory = slash == 0 ? "/" : path_.substr(0, slash);
    files_->operations_.List(directory, [self = shared_from_this(), next](auto found) {
      if (!found && found.error().code != HdfsErrorCode::kNotFound)
        return self->Fail(std::move(found.error()));
      next(*self, found ? SegmentsIn(*found, self->path_) : std::vector<Segment>());
    });
  }

  void Seal(std::size_t at) {
    while (at < segments_.size() && !segments_[at].open) ++at;
    if (at == segments_.size()) return Read(0);
    const Segment& segment = segments_[at];
    const std::string sealed = fmt::format("{}.{}.{}", path_, segment.number, segment.id);
    files_->operations_.Rename(segment.path, sealed,
                               [self = shared_from_this(), at, sealed](auto renamed) {
                                 if (!renamed) return self->Fail(std::move(renamed.error()));
                                 // Somebody else was faster, or an earlier try of ours.
                                 if (!*renamed) return self->Begin();
                                 self->segments_[at].path = sealed;
                                 self->segments_[at].open = false;
                                 self->Seal(at + 1);
                               });
  }

  void Read(std::size_t at) {
    if (at == segments_.size()) return Make();
    files_->operations_.Open(segments_[at].path, [self = shared_from_this(), at](auto bytes) {
      if (!bytes) return self->Fail(std::move(bytes.error()));
      self->bytes_ += *bytes;
      self->Read(at + 1);
    });
  }

  void Make() {
    const std::int64_t number = segments_.empty() ? 1 : segments_.back().number + 1;
    own_.path = fmt::format("{}.{}.open", path_, number);
    files_->operations_.Create(own_.path, "", false, [self = shared_from_this()](auto made) {
      if (made) return self->LookAgain();
      // Another's, or our own of an attempt that seemed to fail: it becomes one of the row.
      if (made.error().code == HdfsErrorCode::kAlreadyExists) return self->Begin();
      self->Fail(std::move(made.error()));
    });
  }

  /// Whoever listed the row before ours was there may have made one of his own meanwhile.
  void LookAgain() {
    List([](Taking& taking, std::vector<Segment> found) {
      const bool alone =
          found.size() == taking.segments_.size() + 1 && found.back().path == taking.own_.path &&
          std::equal(taking.segments_.begin(), taking.segments_.end(), found.begin(),
                     [](const Segment& a, const Segment& b) { return a.path == b.path; });
      if (!alone) return taking.Begin();
      taking.own_.id = found.back().id;
      taking.End();
    });
  }

  void End() {
    files_->own_[path_] = own_;
    if (!segments_.empty()) return answer_(std::move(bytes_));
    Fail({.code = HdfsErrorCode::kNotFound, .message = path_ + " is new"});
  }
  void Fail(HdfsError error) { answer_(tl::unexpected(std::move(error))); }

  std::shared_ptr<FencedFiles> files_;
  std::string path_;
  WebHdfsAnswer<std::string> answer_;
  int rounds_ = 0;
  std::vector<Segment> segments_;
  std::string bytes_;
  Own own_;
};

void FencedFiles::Take(const std::string& path, WebHdfsAnswer<std::string> answer) {
  own_.erase(path);
  std::make_shared<Taking>(shared_from_this(), path, std::move(answer))->Begin();
}

void FencedFiles::Append(const std::string& path, std::string bytes,
                         WebHdfsAnswer<hdfs::Done> answer) {
  const auto own = own_.find(path);
  if (own == own_.end()) {
    boost::asio::post(loop_, [path, answer = std::move(answer)] {
      answer(tl::unexpected(HdfsError{.code = HdfsErrorCode::kLeaseLost,
                                      .message = path + " is not taken by this process"}));
    });
    return;
  }
  operations_.Append(own->second.path, std::move(bytes),
                     [self = shared_from_this(), path, mine = own->second,
                      answer = std::move(answer)](tl::expected<hdfs::Done, HdfsError> appended) {
                       const bool gone =
                           !appended && (appended.error().code == HdfsErrorCode::kNotFound ||
                                         appended.error().code == HdfsErrorCode::kLeaseLost);
                       if (!appended && !gone) return answer(std::move(appended));
                       self->CheckOwn(path, mine, std::move(appended), answer);
                     });
}

void FencedFiles::CheckOwn(const std::string& path, const Own& own,
                           tl::expected<hdfs::Done, HdfsError> appended,
                           const WebHdfsAnswer<hdfs::Done>& answer) {
  operations_.Status(own.path, [self = shared_from_this(), path, own, appended,
                                answer](tl::expected<WebHdfsFile, HdfsError> found) {
    if (!found && found.error().code != HdfsErrorCode::kNotFound)
      return answer(tl::unexpected(std::move(found.error())));
    if (found && found->id == own.id) {
      if (appended) return answer(hdfs::Done{});
      // It is ours, and the append failed all the same: that may pass.
      return answer(tl::unexpected(
          HdfsError{.code = HdfsErrorCode::kUnavailable, .message = appended.error().message}));
    }
    self->own_.erase(path);
    answer(tl::unexpected(HdfsError{.code = HdfsErrorCode::kLeaseLost,
                                    .message = path + " was taken by somebody else"}));
  });
}

}  // namespace tfyarn::wire
