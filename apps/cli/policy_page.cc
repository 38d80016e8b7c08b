#include "apps/cli/policy_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tfyarn::cli {
namespace {

constexpr std::size_t kColumns = 100;

/// The text's words in lines that all start at column `indent`.
std::string Wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > kColumns) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? std::string(indent, ' ') : " ";
    column = column == 0 ? indent + word.size() : column + 1 + word.size();
    out += word;
  }
  return out.empty() ? out : out + "\n";
}

std::size_t WidestName(const std::vector<policy::RowText>& rows) {
  std::size_t widest = 0;
  for (const policy::RowText& row : rows) widest = std::max(widest, row.name.size());
  return widest;
}

/// "  NAME   TEXT", and below it, at the same column as the text, the reason.
std::string Entry(std::string_view name, std::size_t width, const std::string& text,
                  std::string_view why) {
  const std::size_t indent = 2 + width + 2;
  std::string lines = Wrapped(text, indent);
  lines.replace(0, indent, fmt::format("  {:<{}}  ", name, width));
  return lines + Wrapped(why, indent + 2);
}

std::string RowText(const policy::RowText& row) {
  const std::string pays = row.pays.empty() ? "" : fmt::format(", paid by {}", row.pays);
  return fmt::format("{} -> {}{}", row.when, row.action, pays);
}

}  // namespace

std::string PolicyPage(const policy::Text& text) {
  std::string page = Wrapped(fmt::format("{}: {}", text.name, text.summary), 0);
  if (!text.options.empty()) page += "\nOptions, with their defaults\n";
  for (const policy::RowText& row : text.options) {
    page += Entry(row.name, WidestName(text.options),
                  fmt::format("{}; without it {}", row.action, row.when), row.why);
  }
  page += "\nTask types and their class\n";
  for (const policy::RowText& row : text.roles)
    page += Entry(row.name, WidestName(text.roles), row.action, row.why);
  page += "\nAn exit: the first row whose conditions all hold decides (on_exit rows come before)\n";
  for (const policy::RowText& row : text.rows)
    page += Entry(row.name, WidestName(text.rows), RowText(row), row.why);
  page += "\nThe job: what ends it\n";
  for (const policy::RowText& row : text.verdicts) {
    page += Entry(row.name, WidestName(text.verdicts),
                  fmt::format("{} -> {}", row.when, row.action), row.why);
  }
  return page;
}

}  // namespace tfyarn::cli
