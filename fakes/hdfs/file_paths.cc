#include "fakes/hdfs/file_paths.h"

#include <algorithm>
#include <cstddef>

namespace tfyarn::fakes {
namespace {

// Source: HdfsServerConstants.java MAX_PATH_LENGTH, MAX_PATH_DEPTH; hdfs-default.xml
// dfs.namenode.fs-limits.max-component-length.
constexpr std::size_t kMaxPathLength = 8000;
constexpr std::size_t kMaxPathDepth = 1000;
constexpr std::size_t kMaxNameLength = 255;

}  // namespace

bool IsValidPath(std::string_view path) {
  if (path.empty() || path[0] != '/' || path.size() > kMaxPathLength) return false;
  if (path == "/") return true;
  path.remove_prefix(1);
  if (path.back() == '/') path.remove_suffix(1);
  std::size_t depth = 0;
  while (true) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == ".." || name.find(':') != name.npos) return false;
    if (name.size() > kMaxNameLength || ++depth > kMaxPathDepth) return false;
    if (name.size() == path.size()) return true;
    path.remove_prefix(name.size() + 1);
  }
}

std::vector<std::string_view> NamesOf(std::string_view path) {
  std::vector<std::string_view> names;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    names.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

}  // namespace tfyarn::fakes
