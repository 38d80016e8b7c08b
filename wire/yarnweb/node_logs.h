// Logs of containers as a NodeManager serves them: which files there are, and their bytes.
//
// A NodeManager gives the first or the last bytes of a file, never what is between, and puts a
// header and a trailer around them. The header says how long the whole file is, so that a reader
// who asks for the last bytes knows where they begin, whatever was written meanwhile.
// Source: NMWebServices and LogToolUtils of Hadoop 3.4, and what a real NodeManager answered.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"
#include "core/model/ids.h"

namespace tfyarn::wire {

struct LogFile {
  std::string name;
  std::uint64_t size = 0;  ///< Bytes, when it was listed.
  friend bool operator==(const LogFile&, const LogFile&) = default;
};

/// Path and query of the list of a container's files. `user`: who asks, where there is no Kerberos.
[[nodiscard]] std::string ContainerLogsTarget(const ContainerId& container,
                                              const std::string& user);
/// The files on the node's own disks, in the order of the answer; nullopt: no such document. A
/// container that the node does not know but whose application it does has none.
[[nodiscard]] std::optional<std::vector<LogFile>> ParseContainerLogs(std::string_view body);

/// Of the last `bytes` bytes of a file.
[[nodiscard]] std::string LogTailTarget(const ContainerId& container, const std::string& file,
                                        std::uint64_t bytes, const std::string& user);

/// Takes the answer to LogTailTarget apart as it comes.
class LogTailReader {
 public:
  using Bytes = std::function<void(std::uint64_t offset, std::string_view bytes)>;

  /// `asked`: as in LogTailTarget. `bytes`: gets the file's own, each once, in their order.
  LogTailReader(std::uint64_t asked, Bytes bytes);
  /// False: this is no such answer.
  [[nodiscard]] bool Take(std::string_view piece);
  /// Length of the file when it was read; nullopt before that is known.
  [[nodiscard]] std::optional<std::uint64_t> length() const { return length_; }
  /// All that was asked for has come.
  [[nodiscard]] bool complete() const { return length_ && left_ == 0; }

 private:
  [[nodiscard]] bool ReadHeader();
  void Pass(std::string_view piece);

  std::uint64_t asked_;
  Bytes bytes_;
  std::string header_;
  std::optional<std::uint64_t> length_;
  std::uint64_t offset_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace tfyarn::wire
