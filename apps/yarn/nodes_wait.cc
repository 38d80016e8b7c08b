#include "apps/yarn/nodes_wait.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

/// Bytes of one read. A line that is longer has nothing of ours to say.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;

}  // namespace

void NodesWait::Look(const ApplicationAttemptId& attempt, std::function<void()> done) {
  if (attempt != attempt_) {
    attempt_ = attempt;
    next_ = 0;
    limit_.clear();
  }
  std::string path = hosts::AttemptDirectory(applications_, attempt) + "/" + hosts::kEventsFile;
  hdfs_.Status(path, [this, path, done = std::move(done)](auto status) mutable {
    if (!status) return done();
    Read(path, static_cast<std::uint64_t>(status->status.size), std::move(done));
  });
}

void NodesWait::LookNow(boost::asio::io_context& loop, const ApplicationAttemptId& attempt) {
  Look(attempt, [&loop] { loop.stop(); });
  loop.restart();
  loop.run();
}

void NodesWait::Read(const std::string& path, std::uint64_t size, std::function<void()> done) {
  if (size <= next_) return done();
  const std::uint64_t length = std::min(size - next_, kPiece);
  hdfs_.OpenRange(path, next_, length,
                  [this, path, size, length, done = std::move(done)](auto bytes) mutable {
                    if (!bytes) return done();
                    const std::uint64_t before = next_;
                    Take(*bytes);
                    // Without a whole line in it there is more of it to come, or it is too long.
                    if (next_ == before && length == kPiece) next_ += length;
                    if (next_ == before) return done();
                    Read(path, size, std::move(done));
                  });
}

void NodesWait::Take(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    TakeLine(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    next_ += end + 1;
  }
}

void NodesWait::TakeLine(std::string_view line) {
  // Most lines of a long history tell of something else, and reading one costs.
  if (line.find("\"NodesAwaited\"") == std::string_view::npos &&
      line.find("\"VerdictReached\"") == std::string_view::npos)
    return;
  const auto read = nlohmann::json::parse(line, nullptr, false);
  if (!read.is_object() || !read.contains("action") || !read["action"].is_object()) return;
  const nlohmann::json& action = read["action"];
  const auto type = action.find("type");
  if (type == action.end()) return;
  if (*type == "VerdictReached") limit_.clear();
  if (*type != "NodesAwaited") return;
  const auto limit = action.find("limit");
  if (limit != action.end() && limit->is_string()) limit_ = limit->get<std::string>();
}

}  // namespace tfyarn::apps
