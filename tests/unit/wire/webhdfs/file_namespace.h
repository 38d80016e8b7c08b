// A NameNode with its only DataNode, for tests of what is kept in files there: it does what a real
// one did (tests/hadoop/webhdfs.py).
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/unit/wire/webhdfs/http_stage.h"
#include "wire/webhdfs/webhdfs_calls.h"

namespace tfyarn::wire {

/// Files below "/d", by WebHDFS; its NameNode is its DataNode.
class FileNamespace {
 public:
  explicit FileNamespace(boost::asio::io_context& loop)
      : stage_(loop, [this](StageRequest request, HttpStage::Reply reply) {
          Play(std::move(request), std::move(reply));
        }) {}

  /// Of the requests that carry `user`, the one that is number `at` (from 0) is held: before it is
  /// carried out, or when it has been and before its answer.
  void Hold(const std::string& user, int at, bool before, std::function<void()> then) {
    hold_ = {user, at, before, std::move(then)};
  }
  /// Goes on with what is held.
  void Release() {
    if (auto go = std::exchange(release_, nullptr)) go();
  }
  [[nodiscard]] bool held() const { return release_ != nullptr; }
  /// As a file system that has no attributes, or so many for each file.
  void LimitAttributes(std::size_t most) { most_attributes_ = most; }
  [[nodiscard]] int appends() const { return appends_; }
  /// Files that were made with bytes of their own.
  [[nodiscard]] int blocks() const { return blocks_; }
  [[nodiscard]] std::size_t files() const { return files_.size(); }
  /// The streams of files that are there now hang: no writer can append to them any more.
  void HangStreams() {
    for (const auto& [path, file] : files_) hanging_.insert(file.id);
  }
  [[nodiscard]] WebHdfsOptions Options(const std::string& user) const {
    return {.name_nodes = {{"127.0.0.1", stage_.port()}},
            .user = user,
            .longest = 5s,
            .pause_first = 1ms};
  }

 private:
  struct File {
    std::string bytes;
    std::int64_t id = 0;
    std::map<std::string, std::string> attributes;  ///< As they were written.
  };
  struct Holding {
    std::string user;
    int at = -1;
    bool before = false;
    std::function<void()> then;
  };

  void Play(StageRequest request, HttpStage::Reply reply) {
    const bool counts = request.Has("user.name=" + hold_.user);
    if (!counts || hold_.at-- != 0) return reply(Carry(request));
    auto then = std::move(hold_.then);
    if (hold_.before) {
      release_ = [this, request, reply] { reply(Carry(request)); };
    } else {
      release_ = [answer = Carry(request), reply] { reply(answer); };
    }
    then();
  }

  static StageReply Refuse(unsigned status, const std::string& exception) {
    return {.status = status,
            .body = R"({"RemoteException":{"exception":")" + exception + R"(","message":"m"}})"};
  }

  StageReply Carry(const StageRequest& request) {
    const auto begin = request.target.find("/d");
    const std::string path = request.target.substr(begin, request.target.find('?') - begin);
    if (request.Has("op=LISTSTATUS")) return List();
    if (request.Has("op=CREATE") || request.Has("op=APPEND") || request.Has("op=OPEN")) {
      if (!request.Has("&data"))
        return {.status = 307, .location = stage_.url() + request.target + "&data"};
    }
    const auto file = files_.find(path);
    if (request.Has("op=CREATE")) {
      if (file != files_.end() && !request.Has("overwrite=true"))
        return Refuse(403, "FileAlreadyExistsException");
      if (!request.body.empty()) ++blocks_;
      files_[path] = {request.body, ++last_id_, {}};
      return {.status = 201};
    }
    if (request.Has("op=DELETE")) {
      files_.erase(path);
      return {.body = R"({"boolean":true})"};
    }
    if (file == files_.end()) {
      if (request.Has("op=RENAME")) return {.body = R"({"boolean":false})"};
      return Refuse(404, "FileNotFoundException");
    }
    if (request.Has("op=APPEND") && hanging_.contains(file->second.id))
      return Refuse(403, "AlreadyBeingCreatedException");
    if (request.Has("op=APPEND")) {
      ++appends_;
      file->second.bytes += request.body;
    }
    if (request.Has("op=SETXATTR")) return SetAttribute(request, file->second);
    if (request.Has("op=GETXATTRS")) return Attributes(file->second);
    if (request.Has("op=OPEN")) return {.body = file->second.bytes};
    if (request.Has("op=GETFILESTATUS"))
      return {.body = "{\"FileStatus\":" + Describe("", file->second) + "}"};
    if (request.Has("op=RENAME")) return Rename(request, path);
    return {};
  }

  StageReply Rename(const StageRequest& request, const std::string& path) {
    const std::string mark = "destination=%2Fd%2F";
    const std::string to = "/d/" + request.target.substr(request.target.find(mark) + mark.size());
    if (files_.contains(to)) return {.body = R"({"boolean":false})"};
    files_[to] = files_[path];
    files_.erase(path);
    return {.body = R"({"boolean":true})"};
  }

  static std::string Parameter(const StageRequest& request, const std::string& name) {
    const auto begin = request.target.find(name + "=") + name.size() + 1;
    return request.target.substr(begin, request.target.find('&', begin) - begin);
  }

  StageReply SetAttribute(const StageRequest& request, File& file) {
    if (file.attributes.size() >= most_attributes_) {
      return {.status = 403,
              .body = R"({"RemoteException":{"exception":"IOException","message":)"
                      R"("Cannot add additional XAttr to inode, would exceed limit of 32"}})"};
    }
    file.attributes[Parameter(request, "xattr.name")] = Parameter(request, "xattr.value");
    return {};
  }

  static StageReply Attributes(const File& file) {
    std::string text;
    for (const auto& [name, value] : file.attributes) {
      text.append(text.empty() ? "" : ",")
          .append(R"({"name":")" + name + R"(","value":")" + value + R"("})");
    }
    return {.body = "{\"XAttrs\":[" + text + "]}"};
  }

  StageReply List() {
    std::string text;
    for (const auto& [path, file] : files_)
      text += (text.empty() ? "" : ",") + Describe(path.substr(3), file);
    return {.body = "{\"FileStatuses\":{\"FileStatus\":[" + text + "]}}"};
  }
  static std::string Describe(const std::string& name, const File& file) {
    return R"({"pathSuffix":")" + name + R"(","type":"FILE","modificationTime":1,"length":)" +
           std::to_string(file.bytes.size()) + R"(,"fileId":)" + std::to_string(file.id) + "}";
  }

  HttpStage stage_;
  std::map<std::string, File> files_;
  std::set<std::int64_t> hanging_;  ///< Inodes.
  std::int64_t last_id_ = 16'384;
  std::size_t most_attributes_ = 32;
  int appends_ = 0;
  int blocks_ = 0;
  Holding hold_;
  std::function<void()> release_;
};

}  // namespace tfyarn::wire
