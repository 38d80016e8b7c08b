// Rows of comma-separated text with a header, read as a stream; quoted cells may hold commas and
// doubled quotes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/byte_source.h"

namespace tfyarn::config {

class CsvReader {
 public:
  /// Reads the header. Errors: kInvalidArgument with "FILE:LINE: ..." when it is missing, and those
  /// of the source.
  [[nodiscard]] static Expected<CsvReader> Open(std::string file,
                                                std::unique_ptr<ByteSource> source);

  /// Positions of the named columns (letter case and outer blanks do not count).
  /// Errors: kInvalidArgument with the columns that there are.
  [[nodiscard]] Expected<std::vector<std::size_t>> Columns(
      const std::vector<std::string>& names) const;

  /// Reads the next row that is not blank; false at the end.
  /// Errors: kInvalidArgument for an open quote or another number of cells than the header's, and
  /// those of the source.
  [[nodiscard]] Expected<bool> Next();
  [[nodiscard]] std::string_view cell(std::size_t column) const { return cells_[column]; }

  /// "FILE:LINE: problem" for the current row.
  [[nodiscard]] tl::unexpected<Error> Bad(std::string_view problem) const;

 private:
  CsvReader(std::string file, std::unique_ptr<ByteSource> source)
      : file_(std::move(file)), lines_(std::move(source)) {}
  [[nodiscard]] Expected<bool> ReadRow();

  std::string file_;
  LineReader lines_;
  std::vector<std::string> header_;
  std::vector<std::string> cells_;
};

}  // namespace tfyarn::config
