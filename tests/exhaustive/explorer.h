// Takes every path of moves through a World, once for each state.
//
// A depth-first search that remembers the states it has been in (World::Key) and never goes on from
// one a second time. States are put back by copying memory (arena.h): a move costs the step of one
// machine, not the path up to it.
//
// Partial-order reduction: sleep sets, with remembered states. Source: P. Godefroid,
// "Partial-Order Methods for the Verification of Concurrent Systems" (LNCS 1032, 1996), sections
// 5.2 and 6.3. Two moves that touch no common part of the world (World::touched, as they did when
// they were taken from this very state) lead to the same state in either order, and one order is
// enough: what was tried from a state sleeps in the states behind its later siblings until
// something that it touches has changed. A state that is met again with fewer sleepers is gone on
// from with those that slept before and do not now. Sleep sets leave out moves, never states: what
// is checked in every state is checked in all of them.
//
// A bound on deviations is that of delay-bounded scheduling. Source: M. Emmi, S. Qadeer, Z.
// Rakamaric, "Delay-Bounded Scheduling" (POPL 2011).
//
// Without `merge` states are not remembered and every order is a path of its own; without `sleep`
// nothing is left out. The tests compare what these find.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/exhaustive/arena.h"
#include "tests/exhaustive/facts.h"
#include "tests/exhaustive/memory_hash.h"
#include "tests/exhaustive/scope.h"
#include "tests/exhaustive/story.h"
#include "tests/exhaustive/world.h"

namespace tfyarn::exhaustive {

struct Limits {
  std::uint64_t states = ~std::uint64_t{0};
  std::uint32_t depth = 4000;  ///< Moves of a path; longer ones are cut.
  bool merge = true;
  bool sleep = true;
  /// At most so many moves of a path are not the first that can be taken; faults do not count. -1:
  /// all orders. With a bound nothing sleeps: the order that is kept could be one beyond it.
  std::int32_t deviations = -1;
};

/// A path and what is wrong with it.
struct Finding {
  std::string what;
  Path path;
  Path other;  ///< With the same facts, another outcome; empty: none.
  std::vector<Fact> facts;
  std::uint64_t times = 1;  ///< Paths of which the same is wrong.
};

struct Report {
  std::uint64_t states = 0;
  std::uint64_t moves = 0;
  std::uint64_t ends = 0;    ///< Paths on which the AM ended, each from a state of its own.
  std::uint64_t cut = 0;     ///< Paths that a limit ended.
  std::uint64_t groups = 0;  ///< Sets of facts.
  /// What the documents allow, by the reason: pairs of outcomes of one
  /// set of facts, and paths.
  std::map<std::string, std::uint64_t> allowed;
  std::uint64_t judged = 0;     ///< Paths that the reference model looked at ...
  std::uint64_t decisions = 0;  ///< ... and decisions that it judged there.
  std::size_t depth = 0;        ///< Of the longest path.
  bool complete = true;         ///< Nothing was cut, and no limit of states was reached.
  std::vector<Finding> findings;
};

class Explorer {
 public:
  Explorer(const Scope& scope, const Limits& limits);

  /// Not more than one at a time.
  [[nodiscard]] Report Run();

  struct Example {
    Outcome outcome;
    Path path;
  };
  /// By the hash of the facts: what came of them, an example each. After Run.
  struct Group {
    std::vector<Fact> facts;
    std::vector<Example> examples;
  };
  [[nodiscard]] const std::map<std::uint64_t, Group>& groups() const { return groups_; }

 private:
  struct Sleeper {
    std::uint64_t id = 0;
    std::uint32_t parts = 0;
  };
  using Sleepers = std::vector<Sleeper>;
  struct Met {
    std::uint64_t key = 0;
    std::uint32_t sleepers_at = 0;  ///< With a bound: deviations that were left, from 1.
    std::uint32_t sleepers = 0;
  };

  void Go(const Sleepers& asleep, std::int32_t deviations);
  void Try(const std::vector<Move>& moves, const Sleepers& asleep, std::int32_t deviations,
           const std::vector<std::uint64_t>* only);
  [[nodiscard]] bool IsNew(std::uint64_t key, const Sleepers& asleep, std::int32_t deviations,
                           std::vector<std::uint64_t>& left);
  [[nodiscard]] Met* Find(std::uint64_t key);
  void Grow();
  void End();
  void CompareOutcomes();
  void Add(Finding finding);
  void Judge();

  const Scope& scope_;
  Limits limits_;
  Report report_;
  MemoryHash memory_;
  World* world_ = nullptr;  // in the arena
  Path path_;
  std::vector<Met> met_;  // open addressing; key 0 = free
  std::size_t met_count_ = 0;
  std::vector<std::uint64_t> sleepers_;  // of all that are met
  std::map<std::uint64_t, Group> groups_;
  bool stop_ = false;
};

}  // namespace tfyarn::exhaustive
