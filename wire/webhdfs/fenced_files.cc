#include "wire/webhdfs/fenced_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "wire/webhdfs/numbered_attributes.h"

namespace tfyarn::wire {
namespace {

using hdfs::HdfsError;
using hdfs::HdfsErrorCode;

/// Others may take the file while it is being taken; so often it is tried again.
constexpr int kMostRounds = 16;
/// Before each round but the first, up to: doubles with each. Several that go on at once would
/// keep each other from ever ending.
constexpr std::chrono::milliseconds kFirstPause{10};
constexpr int kMostDoublings = 6;
constexpr std::size_t kMostSegments = 1000;

/// A longer row costs its next reader more than its writer gains.
constexpr std::size_t kLongestQuickRow = 40;

/// One file of the row.
struct Segment {
  std::int64_t number = 0;
  std::int64_t id = 0;
  std::string path;
  bool open = false;
};

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

std::string OpenName(const std::string& path, std::int64_t number) {
  return fmt::format("{}.{}.open", path, number);
}

std::string SealedName(const std::string& path, std::int64_t number, std::int64_t id) {
  return fmt::format("{}.{}.{}", path, number, id);
}

std::string DirectoryOf(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
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

/// Taking one file: list, seal what is open, read, make the next, and look that no other writer
/// did the same.
class FencedFiles::Taking : public std::enable_shared_from_this<Taking> {
 public:
  Taking(std::shared_ptr<FencedFiles> files, std::string path, WebHdfsAnswer<std::string> answer)
      : files_(std::move(files)),
        path_(std::move(path)),
        answer_(std::move(answer)),
        pause_(files_->loop_) {}

  void Begin() {
    if (++rounds_ > kMostRounds) {
      return Fail({.code = HdfsErrorCode::kUnavailable,
                   .message = fmt::format("{}: others take it too, {} times in a row", path_,
                                          kMostRounds)});
    }
    if (rounds_ == 1) return Round();
    const auto most = kFirstPause * (1 << std::min(rounds_ - 2, kMostDoublings));
    pause_.expires_after(files_->random_.Between(Duration::zero(), most));
    pause_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) self->Round();
    });
  }

 private:
  void Round() {
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

  /// `next` with the row as it is now; without directory there is none.
  template <class Next>
  void List(Next next) {
    files_->operations_.List(DirectoryOf(path_), [self = shared_from_this(), next](auto found) {
      if (!found && found.error().code != HdfsErrorCode::kNotFound)
        return self->Fail(std::move(found.error()));
      next(*self, found ? SegmentsIn(*found, self->path_) : std::vector<Segment>());
    });
  }

  void Seal(std::size_t at) {
    while (at < segments_.size() && !segments_[at].open) ++at;
    if (at == segments_.size()) return Read(0);
    const Segment& segment = segments_[at];
    const std::string sealed = SealedName(path_, segment.number, segment.id);
    files_->operations_.Rename(segment.path, sealed,
                               [self = shared_from_this(), at, sealed](auto renamed) {
                                 if (!renamed) return self->Fail(std::move(renamed.error()));
                                 // Another writer was faster, or an earlier try of ours.
                                 if (!*renamed) return self->Begin();
                                 self->segments_[at].path = sealed;
                                 self->segments_[at].open = false;
                                 self->Seal(at + 1);
                               });
  }

  void Read(std::size_t at) {
    if (at == segments_.size()) return Make();
    files_->operations_.Attributes(segments_[at].path, [self = shared_from_this(), at](auto found) {
      if (found) {
        self->bytes_ += JoinedAttributes(*found).value_or("");
      } else if (found.error().code != HdfsErrorCode::kInvalidPath) {
        return self->Fail(std::move(found.error()));
      }
      self->ReadBytes(at);
    });
  }

  void ReadBytes(std::size_t at) {
    files_->operations_.Open(segments_[at].path, [self = shared_from_this(), at](auto bytes) {
      if (!bytes) return self->Fail(std::move(bytes.error()));
      self->bytes_ += *bytes;
      self->Read(at + 1);
    });
  }

  void Make() {
    own_.number = segments_.empty() ? 1 : segments_.back().number + 1;
    own_.path = OpenName(path_, own_.number);
    files_->operations_.Create(own_.path, "", false, [self = shared_from_this()](auto made) {
      if (made) return self->LookAgain();
      // Another's, or our own of an attempt that seemed to fail: it becomes one of the row.
      if (made.error().code == HdfsErrorCode::kAlreadyExists) return self->Begin();
      self->Fail(std::move(made.error()));
    });
  }

  /// A writer that listed the row before ours was there may have made its own meanwhile.
  void LookAgain() {
    List([](Taking& taking, std::vector<Segment> found) {
      const bool alone =
          found.size() == taking.segments_.size() + 1 && found.back().path == taking.own_.path &&
          std::equal(taking.segments_.begin(), taking.segments_.end(), found.begin(),
                     [](const Segment& a, const Segment& b) { return a.path == b.path; });
      if (!alone) return taking.Begin();
      taking.own_.id = found.back().id;
      taking.own_.row = found.size();
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
  boost::asio::steady_timer pause_;
  int rounds_ = 0;
  std::vector<Segment> segments_;
  std::string bytes_;
  Own own_;
};

void FencedFiles::Take(const std::string& path, WebHdfsAnswer<std::string> answer) {
  own_.erase(path);
  std::make_shared<Taking>(shared_from_this(), path, std::move(answer))->Begin();
}

/// Appending to one's own file, and to the next one of the row where that one is stuck.
class FencedFiles::Appending : public std::enable_shared_from_this<Appending> {
 public:
  Appending(std::shared_ptr<FencedFiles> files, std::string path, std::string bytes,
            WebHdfsAnswer<hdfs::Done> answer)
      : files_(std::move(files)),
        path_(std::move(path)),
        own_(files_->own_.at(path_)),
        bytes_(std::move(bytes)),
        answer_(std::move(answer)) {}

  void Append() {
    if (!own_.sealed.empty()) return Make();
    const bool quick = files_->attributes_work_ && bytes_.size() <= kLongestAttribute;
    if (!quick) return AppendBytes();
    if (!own_.bytes && own_.attributes < kMostAttributes) return SetAttribute();
    own_.row < kLongestQuickRow ? Seal() : AppendBytes();
  }

 private:
  void SetAttribute() {
    // Whatever becomes of this one, the next one has another name: a late call replaces nothing.
    const std::string name = AttributeName(own_.attributes++);
    Keep();
    files_->operations_.SetAttribute(
        own_.path, name, bytes_,
        [self = shared_from_this()](tl::expected<hdfs::Done, HdfsError> set) {
          if (!set && set.error().code == HdfsErrorCode::kInvalidPath) {
            self->files_->attributes_work_ = false;
            return self->AppendBytes();
          }
          const bool gone = !set && set.error().code == HdfsErrorCode::kNotFound;
          if (!set && !gone) return self->Fail(std::move(set.error()));
          self->CheckOwn(gone ? set.error().message : "");
        });
  }

  void AppendBytes() {
    own_.bytes = true;
    Keep();
    files_->operations_.AppendAlone(
        own_.path, bytes_, [self = shared_from_this()](tl::expected<bool, HdfsError> appended) {
          if (appended && !*appended) return self->Seal();
          const bool gone = !appended && (appended.error().code == HdfsErrorCode::kNotFound ||
                                          appended.error().code == HdfsErrorCode::kLeaseLost);
          if (!appended && !gone) return self->Fail(std::move(appended.error()));
          self->CheckOwn(gone ? appended.error().message : "");
        });
  }

  /// `failure`: why nothing was appended if the file should be ours all the same.
  void CheckOwn(const std::string& failure) {
    files_->operations_.Status(own_.path, [self = shared_from_this(),
                                           failure](tl::expected<WebHdfsFile, HdfsError> found) {
      if (!found && found.error().code != HdfsErrorCode::kNotFound)
        return self->Fail(std::move(found.error()));
      if (!found || found->id != self->own_.id) return self->Lost();
      if (failure.empty()) return self->answer_(hdfs::Done{});
      self->Fail({.code = HdfsErrorCode::kUnavailable, .message = failure});
    });
  }

  // From here on: the file has an open stream that no writer will close. What it brings yet, if
  // anything, is what the next file gets too.
  void Seal() {
    const std::string sealed = SealedName(path_, own_.number, own_.id);
    files_->operations_.Rename(
        own_.path, sealed,
        [self = shared_from_this(), sealed](tl::expected<bool, HdfsError> renamed) {
          if (!renamed) return self->Fail(std::move(renamed.error()));
          if (!*renamed) return self->Lost();
          self->own_.sealed = sealed;
          self->Keep();
          self->Make();
        });
  }

  void Make() {
    const std::string next = OpenName(path_, own_.number + 1);
    files_->operations_.Create(
        next, "", false,
        [self = shared_from_this(), next](tl::expected<hdfs::Done, HdfsError> made) {
          if (made) return self->LookAgain(next);
          if (made.error().code == HdfsErrorCode::kAlreadyExists) return self->Lost();
          self->Fail(std::move(made.error()));
        });
  }

  /// A writer that took the row when the sealed one was its last made one of its own.
  void LookAgain(const std::string& next) {
    files_->operations_.List(
        DirectoryOf(path_),
        [self = shared_from_this(), next](tl::expected<std::vector<WebHdfsFile>, HdfsError> found) {
          if (!found) return self->Fail(std::move(found.error()));
          const std::vector<Segment> row = SegmentsIn(*found, self->path_);
          const Own& own = self->own_;
          const bool alone = row.size() == own.row + 1 && row.back().path == next &&
                             row[row.size() - 2].path == own.sealed;
          if (!alone) return self->Lost();
          self->own_ = {
              .path = next, .number = own.number + 1, .id = row.back().id, .row = row.size()};
          self->Keep();
          self->Append();
        });
  }

  void Keep() { files_->own_[path_] = own_; }
  void Lost() {
    files_->own_.erase(path_);
    Fail({.code = HdfsErrorCode::kLeaseLost, .message = path_ + " was taken by another writer"});
  }
  void Fail(HdfsError error) { answer_(tl::unexpected(std::move(error))); }

  std::shared_ptr<FencedFiles> files_;
  std::string path_;
  Own own_;
  std::string bytes_;
  WebHdfsAnswer<hdfs::Done> answer_;
};

void FencedFiles::Append(const std::string& path, std::string bytes,
                         WebHdfsAnswer<hdfs::Done> answer) {
  if (own_.contains(path)) {
    return std::make_shared<Appending>(shared_from_this(), path, std::move(bytes),
                                       std::move(answer))
        ->Append();
  }
  boost::asio::post(loop_, [path, answer = std::move(answer)] {
    answer(tl::unexpected(HdfsError{.code = HdfsErrorCode::kLeaseLost,
                                    .message = path + " is not taken by this process"}));
  });
}

}  // namespace tfyarn::wire
