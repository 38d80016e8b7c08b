// Writing results so that no reader ever sees half of one: files appear whole or not at all, and
// every write is checked.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::cli {

/// Opens /dev/null in place of standard streams that were closed, so that no file of ours takes
/// their number; a limit on files becomes an error of their writing. False: stdout was closed, and
/// WriteStdout will say so.
bool PrepareStandardStreams();

/// Writes all of it to stdout, now. Errors: kUnavailable with the reason of the system.
[[nodiscard]] Expected<void> WriteStdout(std::string_view text);
/// Writes to stderr; a stderr that cannot be written is not reported.
void WriteStderr(std::string_view text);
/// The same, but drops it where stderr takes nothing now (a stopped terminal, a full pipe): for
/// what matters at that moment only, and to those who must not wait. Some lines at most.
void TryWriteStderr(std::string_view text);

/// What Complain puts in front; "tfsim" unless main sets it.
void SetProgram(std::string_view name);
[[nodiscard]] const std::string& Program();

/// A message for people on stderr, "tfsim: " in front of it. What users or their files wrote in it
/// cannot steer the terminal.
void Complain(std::string_view message);
/// `text` for a terminal: its lines stay lines, all other control characters are shown.
[[nodiscard]] std::string TerminalText(std::string_view text);

/// A file that appears under its name when it is complete. What is not a regular file (a device, a
/// pipe) is written directly.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();  ///< Without Commit: leaves no trace.
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  /// Makes missing parent directories. Until Commit there is nothing to see of it, and nothing is
  /// left behind even by SIGKILL, where the file system can do that. Errors: kUnavailable.
  [[nodiscard]] static Expected<OutputFile> Create(const std::string& path);
  /// Buffered. Errors: kUnavailable, also for earlier text that could not be written.
  [[nodiscard]] Expected<void> Write(std::string_view text);
  /// Flushes to the device and gives the file its name. Errors: kUnavailable; the file is then not
  /// there.
  [[nodiscard]] Expected<void> Commit();

 private:
  [[nodiscard]] Expected<void> Flush();
  void Discard();

  std::string path_;
  std::string temporary_;  // "" = written directly
  bool nameless_ = false;  // the temporary has no name yet
  int fd_ = -1;
  std::string buffer_;
};

/// A file that grows while a run goes on. The first error ends the writing, and is kept for Commit.
class GrowingFile {
 public:
  /// "" opens nothing: all that is added goes nowhere. Errors: the file cannot be made.
  [[nodiscard]] Expected<void> Open(const std::string& path);
  [[nodiscard]] bool is_open() const { return open_; }
  void Add(std::string_view text);
  [[nodiscard]] Expected<void> Commit();

 private:
  OutputFile file_;
  bool open_ = false;
  Expected<void> state_;
};

/// Whether a file could be written there, before the work that makes it; "" is always fine. Makes
/// missing parent directories. Errors: kUnavailable.
[[nodiscard]] Expected<void> CheckWritable(const std::string& path);

/// Create, Write and Commit.
[[nodiscard]] Expected<void> WriteFile(const std::string& path, std::string_view text);

/// True when text for people may have colours: a terminal that is not dumb, and NO_COLOR unset or
/// empty.
[[nodiscard]] bool ColorOn(int fd);

}  // namespace tfyarn::cli
