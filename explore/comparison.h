// A scenario's run beside other runs of it that must come to the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/guarded_run.h"
#include "explore/problem.h"
#include "explore/relation.h"

namespace tfyarn::explore {

class Comparison {
 public:
  Comparison(Relation relation, const Node& document, Guard guard);

  /// The scenario, as its plain run has it; nullopt: the document is none, see error().
  [[nodiscard]] const std::optional<config::Scenario>& scenario() const { return loaded_.scenario; }
  [[nodiscard]] const std::string& error() const { return loaded_.error; }

  /// The plain run. Once, before what follows. `coverage` gets what it reaches.
  void Run(sim::Coverage* coverage = nullptr);
  [[nodiscard]] const Ran& plain() const { return plain_; }

  /// Empty: nothing is compared. Why, where that has a reason, is in skipped().
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  [[nodiscard]] const std::string& skipped() const { return skipped_; }
  /// Runs that variant. What differs, and what invariants broke in it.
  [[nodiscard]] std::vector<Problem> Try(std::size_t variant);

  /// Simulated events of all runs: what they cost.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  Relation relation_;
  Guard guard_;
  Node document_;
  Loaded loaded_;
  Ran plain_;
  std::vector<Variant> variants_;
  std::string skipped_;
  std::uint64_t events_ = 0;
};

}  // namespace tfyarn::explore
