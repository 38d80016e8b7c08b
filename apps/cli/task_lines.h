// Lines of one task's output as they come, for a terminal: whole ones, each behind its task.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tfyarn::cli {

/// "worker:1 | ", coloured by its name where `color` says so.
[[nodiscard]] std::string LinePrefix(const std::string& name, bool color);

/// Cuts text into lines, wherever its pieces are cut.
class LineCutter {
 public:
  /// A line without an end is cut there, in bytes.
  static constexpr std::size_t kLongestLine = std::size_t{8} << 10;
  using Use = std::function<void(std::string_view line)>;

  /// Calls `use` for each line that is complete now, without its end.
  void Add(std::string_view text, const Use& use);
  /// For what is left of an unfinished line.
  void Flush(const Use& use);

 private:
  std::string rest_;  ///< Of a line whose end is not there yet.
};

}  // namespace tfyarn::cli
