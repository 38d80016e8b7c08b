#include "apps/cli/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/human.h"
#include "core/model/describe.h"
#include "sim/coverage.h"

namespace tfyarn::cli {
namespace {

using nlohmann::ordered_json;
using sim::Cell;
using sim::CellTable;

constexpr std::size_t kWidth = 100;
constexpr std::size_t kNamed = 5;

std::uint64_t ReachedIn(const CellTable& table, const explore::CellCounts& counts) {
  const auto first = counts.hits.begin() + table.first;
  return static_cast<std::uint64_t>(std::count_if(first,
                                                  first + static_cast<std::ptrdiff_t>(table.size()),
                                                  [](std::uint64_t hits) { return hits > 0; }));
}

/// Words one after the other, in lines that begin with two spaces.
std::string Lines(const std::vector<std::string>& words) {
  std::string text;
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty() && line.size() + word.size() + 3 > kWidth) {
      text += " " + line + "\n";
      line.clear();
    }
    line += " " + word;
  }
  return line.empty() ? text : text + " " + line + "\n";
}

char Letter(std::size_t column) {
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return column < kLetters.size() ? kLetters[column] : '?';
}

char Digit(std::uint64_t hits) {
  return hits == 0
             ? '.'
             : static_cast<char>('0' + std::min<std::size_t>(fmt::format("{}", hits).size(), 9));
}

std::string NeverIn(const CellTable& table, const explore::CellCounts& counts) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (counts.hits[table.CellAt(row, 0)] == 0) names.push_back(table.rows[row]);
  }
  return names.empty() ? "" : " never:\n" + Lines(names);
}

std::string Matrix(const CellTable& table, const explore::CellCounts& counts) {
  std::vector<std::string> legend;
  std::string head;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    legend.push_back(fmt::format("{} {},", Letter(column), table.columns[column]));
    head += fmt::format(" {}", Letter(column));
  }
  legend.back().pop_back();
  std::size_t widest = 0;
  for (const std::string& row : table.rows) widest = std::max(widest, row.size());
  std::string text = Lines(legend) + fmt::format("  {:{}}{}\n", "", widest, head);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text += fmt::format("  {:{}}", table.rows[row], widest);
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      text += fmt::format(" {}", Digit(counts.hits[table.CellAt(row, column)]));
    text += '\n';
  }
  return text;
}

}  // namespace

std::string CoverageSummary(const explore::Corpus& corpus) {
  const explore::CellCounts& all = corpus.all();
  std::string text = fmt::format("reached {} of {} cells:", HumanCount(all.reached()),
                                 HumanCount(all.hits.size()));
  for (const CellTable& table : sim::CellTables()) {
    text += fmt::format("{} {} of {} {}", &table == &sim::CellTables().front() ? "" : ",",
                        ReachedIn(table, all), table.size(), KebabName(table.kind));
  }
  const explore::CellCounts& fresh = corpus.fresh();
  if (fresh.runs == 0) return text + "\n";
  text += fmt::format(
      "\none more drawn run reaches a new cell with a probability of about {} ({} reached by one "
      "of {})\n",
      HumanPercent(fresh.ChanceOfNews()), Plural(fresh.reached_by(1), "cell"),
      Plural(fresh.runs, "drawn run"));
  if (corpus.branched() == 0) return text;
  return text + fmt::format("{} branched from others, {} of them to a new cell; {} kept\n",
                            Plural(corpus.branched(), "run"), corpus.branched_with_news(),
                            Plural(corpus.kept().size(), "run"));
}

std::string CoverageTables(const explore::Corpus& corpus) {
  std::string text;
  for (const CellTable& table : sim::CellTables()) {
    text +=
        fmt::format("\n{}: {} of {}\n", table.title, ReachedIn(table, corpus.all()), table.size());
    text += table.columns.size() == 1 ? NeverIn(table, corpus.all()) : Matrix(table, corpus.all());
  }
  return text;
}

std::string CoverageJson(const explore::Corpus& corpus) {
  const explore::CellCounts& all = corpus.all();
  const explore::CellCounts& fresh = corpus.fresh();
  ordered_json cells = ordered_json::array();
  for (Cell cell = 0; cell < all.hits.size(); ++cell) {
    cells.push_back({{"name", sim::NameOf(cell)},
                     {"kind", KebabName(sim::KindOf(cell))},
                     {"runs", all.hits[cell]},
                     {"drawn_runs", fresh.hits[cell]}});
  }
  const ordered_json document{{"schema", "tfsim.coverage/v1"},
                              {"runs", all.runs},
                              {"drawn_runs", fresh.runs},
                              {"branched_runs", corpus.branched()},
                              {"kept", corpus.kept().size()},
                              {"reached", all.reached()},
                              {"chance_of_news", fresh.ChanceOfNews()},
                              {"cells", std::move(cells)}};
  return document.dump(1) + "\n";
}

std::string NewsOf(const explore::KeptRun& run) {
  std::string text = "# Reached first:";
  for (std::size_t i = 0; i < std::min(run.news.size(), kNamed); ++i)
    text += (i > 0 ? ", " : " ") + sim::NameOf(run.news[i].cell);
  if (run.news.size() > kNamed) text += fmt::format(", and {} more", run.news.size() - kNamed);
  return text + "\n";
}

}  // namespace tfyarn::cli
