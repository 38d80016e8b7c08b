// A path in words: who said, did or suffered what, one line each, in the order of time.
#pragma once

#include <string>
#include <vector>

#include "tests/exhaustive/scope.h"
#include "tests/exhaustive/world.h"

namespace tfyarn::exhaustive {

/// Positions in World::Moves, one after another; where it ends, the first move is taken.
using Path = std::vector<std::uint8_t>;

struct Told {
  std::vector<std::string> lines;
  std::string broken;
  Outcome outcome;
  std::vector<Fact> facts;
  std::size_t moves = 0;
};
/// Takes the path to its end, in a world of its own in ordinary memory.
[[nodiscard]] Told Tell(const Scope& scope, const Path& path);
/// The same without words, and with the reference model (oracles/) looking on: what it has to say.
struct Judged {
  std::string broken;
  Outcome outcome;
  std::vector<Fact> facts;
  std::vector<std::string> alarms;
  std::uint64_t decisions = 0;
};
[[nodiscard]] Judged JudgeByReference(const Scope& scope, const Path& path);

}  // namespace tfyarn::exhaustive
