// uses.txt as values: for each field, two values of it that lead to different outcomes, or the name
// of the test that shows what it is for. The head of uses.txt says how it is written.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/type.h"

namespace tfyarn::field_uses_test {

/// A scenario with one value of a field, and the same with another.
struct Pair {
  std::string base;
  std::vector<std::string> with;  ///< `--set` of both.
  std::string one;                ///< `--set`; "" = the base as it is.
  std::string other;
};

/// A test that shows what the pair cannot.
struct NamedTest {
  std::set<config::Host> hosts;
  std::string file;
  std::string text;  ///< Is in the file.
};

struct Use {
  std::string field;  ///< "gang.hold": record and field; "fault drop.nth": kind and parameter.
  int line = 0;       ///< In uses.txt.
  std::vector<Pair> pairs;  ///< One at most.
  std::vector<NamedTest> tests;
};

struct UseTable {
  std::map<std::string, std::string> bases;  ///< Scenarios by name.
  std::vector<Use> uses;
  std::vector<std::string> problems;
};

[[nodiscard]] UseTable ReadUses(const std::string& path);

}  // namespace tfyarn::field_uses_test
