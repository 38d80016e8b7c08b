// What several files and `--set` arguments make together: one tree.
//
// Later wins. Maps merge key by key; anything else, lists too, is replaced as a whole; `null`
// removes what is there. A file's own content is later than what it includes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/byte_source.h"
#include "config/tree.h"

namespace tfyarn::config {

/// `later` merged over `earlier`.
[[nodiscard]] Node Merge(const Node& earlier, const Node& later);

/// Reads files with what they include.
class FileLoader {
 public:
  FileLoader(Sources& sources, const OpenFile& open, std::vector<Finding>& findings)
      : sources_(sources), open_(open), findings_(findings) {}

  /// The merged tree of a file; nullopt when it cannot be read at all.
  [[nodiscard]] std::optional<Node> LoadFile(const std::string& path);
  /// The same where the text is at hand.
  [[nodiscard]] std::optional<Node> LoadText(std::string text, const std::string& path);

 private:
  [[nodiscard]] std::optional<Node> MergeIncludes(Node own, const std::string& path);
  [[nodiscard]] std::optional<Node> LoadIncluded(const Node& name, const std::string& from);

  Sources& sources_;
  const OpenFile& open_;
  std::vector<Finding>& findings_;
  std::vector<std::string> open_files_;  // normalised, outermost first
  std::size_t files_ = 0;
};

/// `path` as written in the file `from`, relative to that file's directory.
[[nodiscard]] std::string ResolvePath(const std::string& from, const std::string& path);

/// Applies one `path=value`. What is wrong is appended to `findings`, and `root` is left as it was.
void ApplySet(Sources& sources, const std::string& assignment, Node& root,
              std::vector<Finding>& findings);
/// Puts `value` at `path`, whose text stands at `place`.
void SetAt(Node& root, std::string_view path, Place place, const Node& value,
           std::vector<Finding>& findings);

}  // namespace tfyarn::config
