#include "config/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/diagnostics.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kMostColumns = 1000;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string LowerCase(std::string_view text) {
  std::string out(Trim(text));
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// False when a quote stays open.
bool Split(std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  std::size_t at = 0;
  while (true) {
    std::string cell;
    if (at < line.size() && line[at] == '"') {
      ++at;
      while (true) {
        if (at >= line.size()) return false;
        if (line[at] == '"') {
          if (at + 1 >= line.size() || line[at + 1] != '"') break;
          ++at;
        }
        cell += line[at++];
      }
      ++at;
    }
    const std::size_t comma = std::min(line.find(',', at), line.size());
    cell += line.substr(std::min(at, line.size()), comma - std::min(at, line.size()));
    cells.push_back(std::move(cell));
    if (comma >= line.size() || cells.size() > kMostColumns) return true;
    at = comma + 1;
  }
}

}  // namespace

Expected<CsvReader> CsvReader::Open(std::string file, std::unique_ptr<ByteSource> source) {
  CsvReader reader(std::move(file), std::move(source));
  const auto got = reader.ReadRow();
  if (!got) return tl::unexpected(got.error());
  if (!*got) return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: is empty", reader.file_));
  reader.header_ = std::move(reader.cells_);
  if (reader.header_[0].starts_with("\xEF\xBB\xBF")) reader.header_[0].erase(0, 3);
  return reader;
}

Expected<std::vector<std::size_t>> CsvReader::Columns(const std::vector<std::string>& names) const {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const auto found = std::find_if(header_.begin(), header_.end(), [&](const std::string& column) {
      return LowerCase(column) == LowerCase(name);
    });
    if (found == header_.end()) {
      std::string all;
      for (const std::string& column : header_)
        all += (all.empty() ? "" : ", ") + Printable(column);
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}:1: there is no column `{}`; there are: {}", file_, name,
                              Printable(all, 600)));
    }
    columns.push_back(static_cast<std::size_t>(found - header_.begin()));
  }
  return columns;
}

Expected<bool> CsvReader::Next() {
  const auto got = ReadRow();
  if (!got || !*got) return got;
  if (cells_.size() != header_.size()) {
    return Bad(fmt::format("has {} cells, the header has {}", cells_.size(), header_.size()));
  }
  return true;
}

Expected<bool> CsvReader::ReadRow() {
  while (true) {
    const auto line = lines_.Next();
    if (!line) return Bad(line.error().message);
    if (!*line) return false;
    if (Trim(**line).empty()) continue;
    if (!Split(**line, cells_)) return Bad("a quote is not closed");
    for (std::string& cell : cells_) cell = std::string(Trim(cell));
    return true;
  }
}

tl::unexpected<Error> CsvReader::Bad(std::string_view problem) const {
  // Before the first line there is none to name: an archive that cannot be opened.
  const std::string where = lines_.line() == 0 ? file_ : fmt::format("{}:{}", file_, lines_.line());
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", where, problem));
}

}  // namespace tfyarn::config
