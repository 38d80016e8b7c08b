// What a search has seen so far, and which runs are worth branching from.
//
// A run is kept when it reached a cell (sim/coverage.h) that none before it has; that two kinds of
// faults met is drawn, not brought about, and no reason. The rarer what it reached, the likelier it
// is chosen: as greybox fuzzers do with inputs (AFLFast, Boehme et al. 2016; Entropic, 2020). Whole
// numbers and the order of runs alone decide, so that the same runs give the same choices on any
// machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/time.h"
#include "explore/draw.h"
#include "explore/generator.h"
#include "explore/trial.h"
#include "sim/coverage.h"

namespace tfyarn::explore {

/// A run as a search needs it to branch from it.
struct KeptRun {
  std::uint64_t index = 0;  ///< Of its experiment.
  std::string document;     ///< As a file; DocumentOf reads it.
  Sketch sketch;
  std::vector<sim::ReachedCell> reached;  ///< In order of cells.
  std::vector<sim::ReachedCell> news;     ///< What no run before it had reached.
  std::uint64_t records = 0;              ///< How long it is.
};

/// What the runs of a generation may know of those before it. Never changes.
class Guide {
 public:
  struct Choice {
    std::uint64_t position = 0;  ///< Among the kept runs.
    const KeptRun* run = nullptr;
  };

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// Not when empty.
  [[nodiscard]] Choice Choose(Draw& draw) const;

 private:
  friend class Corpus;
  std::vector<std::shared_ptr<const KeptRun>> kept_;
  std::vector<std::int64_t> weights_;  ///< Sums: of the run and all before it.
};

/// How often cells were reached.
struct CellCounts {
  std::uint64_t runs = 0;
  std::vector<std::uint64_t> hits;  ///< By cell: runs that reached it.

  void Add(const std::vector<sim::ReachedCell>& reached);
  [[nodiscard]] std::uint64_t reached() const;
  [[nodiscard]] std::uint64_t reached_by(std::uint64_t runs) const;
  /// Estimate of the chance that one more run, drawn as these were, reaches something new: cells
  /// that one run has reached, over runs (Good and Turing; of samples of several kinds each: Chao;
  /// for testing: STADS, Boehme 2018). 1 without any run.
  [[nodiscard]] double ChanceOfNews() const;
};

class Corpus {
 public:
  struct Run {
    std::uint64_t index = 0;
    std::vector<sim::ReachedCell> reached;
    std::uint64_t records = 0;
    std::optional<std::uint64_t> from;  ///< The kept run that it branched from.
    bool drawn = true;  ///< By itself, and not taken over from another search or a file.
  };

  Corpus();
  /// Takes a run in, in order of index. True: it reached something new, and Keep is to follow.
  [[nodiscard]] bool Take(const Run& run);
  void Keep(const Run& run, std::string document, Sketch sketch);
  [[nodiscard]] std::shared_ptr<const Guide> MakeGuide() const;

  [[nodiscard]] const CellCounts& all() const { return all_; }
  /// Of the runs that were drawn without a look at others.
  [[nodiscard]] const CellCounts& fresh() const { return fresh_; }
  [[nodiscard]] const std::vector<std::shared_ptr<const KeptRun>>& kept() const { return kept_; }
  /// Runs that branched, and those of them that reached something new.
  [[nodiscard]] std::uint64_t branched() const { return branched_; }
  [[nodiscard]] std::uint64_t branched_with_news() const { return branched_with_news_; }

 private:
  [[nodiscard]] std::int64_t WeightOf(std::size_t position) const;

  CellCounts all_;
  CellCounts fresh_;
  std::vector<std::shared_ptr<const KeptRun>> kept_;
  std::vector<std::uint64_t> chosen_;   ///< By kept run: how often.
  std::vector<sim::ReachedCell> news_;  ///< Of the run taken last.
  std::uint64_t branched_ = 0;
  std::uint64_t branched_with_news_ = 0;
};

}  // namespace tfyarn::explore
