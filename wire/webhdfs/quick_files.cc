#include "wire/webhdfs/quick_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tfyarn::wire {
namespace {

using hdfs::Done;
using hdfs::HdfsError;
using hdfs::HdfsErrorCode;

}  // namespace

/// One file: an empty one under another name, its attributes, the name.
class QuickFiles::Creating : public std::enable_shared_from_this<Creating> {
 public:
  Creating(std::shared_ptr<QuickFiles> files, std::string path, std::string bytes, bool overwrite,
           WebHdfsAnswer<Done> answer)
      : files_(std::move(files)),
        path_(std::move(path)),
        part_(fmt::format("{}.{:016x}.part", path_, files_->random_.Next())),
        bytes_(std::move(bytes)),
        overwrite_(overwrite),
        answer_(std::move(answer)) {}

  void Begin() {
    operations().Create(part_, "", true, Then([](Creating& self) { self.SetAttribute(0); }));
  }

 private:
  WebHdfsOperations& operations() { return files_->operations_; }

  /// `next(*this)` when the call has gone well.
  template <class Next>
  WebHdfsAnswer<Done> Then(Next next) {
    return [self = shared_from_this(), next](tl::expected<Done, HdfsError> done) {
      if (!done) return self->Fail(std::move(done.error()));
      next(*self);
    };
  }

  void SetAttribute(int number) {
    const std::size_t from = static_cast<std::size_t>(number) * kLongestAttribute;
    if (from >= bytes_.size()) return Name(true);
    operations().SetAttribute(
        part_, AttributeName(number), std::string_view(bytes_).substr(from, kLongestAttribute),
        [self = shared_from_this(), number](tl::expected<Done, HdfsError> set) {
          if (set) return self->SetAttribute(number + 1);
          if (set.error().code != HdfsErrorCode::kInvalidPath)
            return self->Fail(std::move(set.error()));
          self->files_->attributes_work_ = false;
          self->Plain();
        });
  }

  /// `first`: what stands there may be replaced yet.
  void Name(bool first) {
    operations().Rename(part_, path_,
                        [self = shared_from_this(), first](tl::expected<bool, HdfsError> renamed) {
                          if (!renamed) return self->Fail(std::move(renamed.error()));
                          if (*renamed) return self->answer_(Done{});
                          self->LookWhy(first);
                        });
  }

  /// Something stands there; or the answer to an earlier try of ours was lost.
  void LookWhy(bool first) {
    operations().Status(
        part_, [self = shared_from_this(), first](tl::expected<WebHdfsFile, HdfsError> found) {
          if (!found && found.error().code == HdfsErrorCode::kNotFound)
            return self->answer_(Done{});
          if (!found) return self->Fail(std::move(found.error()));
          if (!self->overwrite_ || !first) {
            return self->Fail({.code = HdfsErrorCode::kAlreadyExists,
                               .message = self->path_ + " is there already"});
          }
          self->operations().Delete(self->path_, false,
                                    self->Then([](Creating& creating) { creating.Name(false); }));
        });
  }

  void Plain() {
    operations().Delete(part_, false, Then([](Creating& self) {
                          self.operations().Create(self.path_, self.bytes_, self.overwrite_,
                                                   self.answer_);
                        }));
  }

  /// What is left of it is in no call's way, and goes when it can.
  void Fail(HdfsError error) {
    if (error.code != HdfsErrorCode::kUnavailable)
      operations().Delete(part_, false, [](const tl::expected<Done, HdfsError>&) {});
    answer_(tl::unexpected(std::move(error)));
  }

  std::shared_ptr<QuickFiles> files_;
  std::string path_;
  std::string part_;
  std::string bytes_;
  bool overwrite_;
  WebHdfsAnswer<Done> answer_;
};

void QuickFiles::Create(const std::string& path, std::string bytes, bool overwrite,
                        WebHdfsAnswer<Done> answer) {
  if (!attributes_work_ || bytes.empty() || bytes.size() > kLongest)
    return operations_.Create(path, std::move(bytes), overwrite, std::move(answer));
  std::make_shared<Creating>(shared_from_this(), path, std::move(bytes), overwrite,
                             std::move(answer))
      ->Begin();
}

void QuickFiles::Read(const std::string& path, WebHdfsAnswer<std::string> answer) {
  operations_.Attributes(path, [self = shared_from_this(), path, answer = std::move(answer)](
                                   tl::expected<WebHdfsAttributes, HdfsError> found) mutable {
    if (found) {
      if (auto joined = JoinedAttributes(*found)) return answer(std::move(*joined));
    } else if (found.error().code != HdfsErrorCode::kInvalidPath) {
      return answer(tl::unexpected(std::move(found.error())));
    }
    self->operations_.Open(path, std::move(answer));
  });
}

}  // namespace tfyarn::wire
