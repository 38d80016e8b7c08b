#include "tests/fields/use_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tfyarn::field_uses_test {
namespace {

using config::Host;

std::string Trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::vector<std::string> Cells(const std::string& line, const std::string& between) {
  std::vector<std::string> cells;
  std::size_t from = 0;
  for (std::size_t at; (at = line.find(between, from)) != std::string::npos;
       from = at + between.size())
    cells.push_back(Trimmed(line.substr(from, at - from)));
  cells.push_back(Trimmed(line.substr(from)));
  return cells;
}

/// `.gang.hold=5s` is about the job of the base.
std::string SetOf(const std::string& cell) {
  if (cell == "-") return "";
  return cell.starts_with('.') ? "jobs.a" + cell : cell;
}

std::set<Host> HostsOf(const std::string& cell) {
  std::set<Host> hosts;
  if (cell.find("simulator") != std::string::npos) hosts.insert(Host::kSimulator);
  if (cell.find("machine") != std::string::npos) hosts.insert(Host::kMachine);
  if (cell.find("cluster") != std::string::npos) hosts.insert(Host::kCluster);
  return hosts;
}

Use& UseOf(UseTable& table, const std::string& field, int line) {
  for (Use& use : table.uses) {
    if (use.field == field) return use;
  }
  table.uses.push_back({.field = field, .line = line, .pairs = {}, .tests = {}});
  return table.uses.back();
}

void TakeLine(UseTable& table, const std::vector<std::string>& cells, int line) {
  const auto complain = [&](const std::string& what) {
    table.problems.push_back(fmt::format("uses.txt:{}: {}", line, what));
  };
  Use& use = UseOf(table, cells[0], line);
  if (cells.size() == 5 && cells[1] == "test") {
    use.tests.push_back({.hosts = HostsOf(cells[2]), .file = cells[3], .text = cells[4]});
    if (use.tests.back().hosts.empty()) complain("names no host");
    return;
  }
  if (cells.size() != 5) return complain(fmt::format("{} cells, not 5", cells.size()));
  if (!use.pairs.empty()) complain("a second pair for this field");
  if (!table.bases.contains(cells[1])) complain("there is no base " + cells[1]);
  Pair pair{.base = cells[1], .with = {}, .one = SetOf(cells[3]), .other = SetOf(cells[4])};
  for (const std::string& set : Cells(cells[2], " ; ")) {
    if (!SetOf(set).empty()) pair.with.push_back(SetOf(set));
  }
  use.pairs.push_back(std::move(pair));
}

}  // namespace

UseTable ReadUses(const std::string& path) {
  UseTable table;
  std::ifstream in(path);
  if (!in) table.problems.push_back(path + " cannot be read");
  std::string* base = nullptr;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line == "end") {
      base = nullptr;
    } else if (base != nullptr) {
      *base += line + "\n";
    } else if (line.starts_with("base ")) {
      base = &table.bases[line.substr(5)];
    } else if (!line.empty() && line[0] != '#') {
      TakeLine(table, Cells(line, " | "), number);
    }
  }
  return table;
}

}  // namespace tfyarn::field_uses_test
