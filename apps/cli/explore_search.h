// The search behind `tfsim explore`: many experiments in child processes, each finding once.
//
// In generations: what a run branches from follows from the runs of all generations but its own and
// the one before. So it does not matter how many run at once, and none waits for the last of a
// generation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "explore/corpus.h"
#include "explore/document.h"
#include "explore/generator.h"
#include "explore/trial.h"

namespace tfyarn::cli {

/// A scenario of the user's, of which only faults and seeds are drawn.
struct SearchBase {
  std::string file;
  explore::Node document;  ///< Its effective form.
  explore::Sketch sketch;
};

struct PlannedRun {
  explore::Experiment experiment;
  std::optional<std::uint64_t> from;  ///< Position of the kept run that it branches from.
};

struct SearchPlan {
  std::uint64_t seed = 1;
  std::vector<SearchBase> bases;     ///< Empty: whole scenarios are drawn.
  std::vector<explore::Node> first;  ///< Run before any other: what an earlier search kept.
  bool guided = true;                ///< False: no run branches from another.

  /// Everything about it follows from seed, index, and what the guide knows.
  [[nodiscard]] PlannedRun Plan(std::uint64_t index, const explore::Guide& guide) const;

 private:
  [[nodiscard]] explore::Experiment Fresh(std::uint64_t index) const;
};

/// The first run of a search is a multiple of that.
inline constexpr std::uint64_t kSearchStep = 100;

struct SearchLimits {
  std::uint64_t runs = 0;    ///< 0 = no limit.
  std::uint64_t from = 0;    ///< The first run: a multiple of kSearchStep, of an unguided search.
  double seconds = 0;        ///< 0 = no limit.
  std::size_t findings = 0;  ///< The search ends with so many; 0 = no limit.
  std::size_t at_once = 1;   ///< Processes.
  std::set<std::string> known;  ///< Keys of problems that are no findings.
  bool digests = false;         ///< The state gets them: a search may have a million runs.
};

struct FoundProblem {
  explore::Problem problem;
  std::uint64_t index = 0;         ///< Of the first experiment that showed it.
  explore::Experiment experiment;  ///< That one.
  std::uint64_t times = 1;
};

struct SearchState {
  std::uint64_t runs = 0;
  std::uint64_t cut_short = 0;                   ///< Runs that were too long to see their ends.
  std::vector<FoundProblem> found;               ///< In order of their first experiments.
  std::map<std::uint64_t, std::string> digests;  ///< Of the plain run of each experiment.
  explore::Corpus corpus;
  bool interrupted = false;
};

/// `shown` is called now and then, and after each new finding.
[[nodiscard]] SearchState Search(const SearchPlan& plan, const SearchLimits& limits,
                                 const explore::Laboratory& laboratory,
                                 const std::atomic<bool>& interrupt,
                                 const std::function<void(const SearchState&)>& shown);

/// Each tried in a process of its own: a crash is a problem, too. Only problems and cost are told.
[[nodiscard]] std::vector<explore::Trial> TryApart(
    const std::vector<explore::Experiment>& experiments, std::size_t at_once,
    const explore::Laboratory& laboratory);

/// The experiment's document, shrunk as far as `problem` stays and the effort is worth it.
[[nodiscard]] explore::Node ShrinkExperiment(const explore::Experiment& experiment,
                                             const explore::Problem& problem, std::size_t at_once,
                                             const explore::Laboratory& laboratory,
                                             const std::atomic<bool>& interrupt);

}  // namespace tfyarn::cli
