#include "explore/corpus.h"

#include <algorithm>
#include <utility>

namespace tfyarn::explore {
namespace {

/// Weight of a cell that one run has reached.
constexpr std::int64_t kRarest = 1'000'000;
/// What is drawn and not brought about counts for less: which faults there are.
constexpr std::int64_t kOfPairs = kRarest / 8;
/// A run that takes longer than this is chosen less often.
constexpr std::uint64_t kUsualRecords = 1'000;

std::int64_t WorthOf(sim::Cell cell) {
  return sim::KindOf(cell) == sim::CellKind::kFaultPair ? kOfPairs : kRarest;
}

}  // namespace

Guide::Choice Guide::Choose(Draw& draw) const {
  const std::int64_t at = draw.Whole(0, weights_.back() - 1);
  const auto found = std::upper_bound(weights_.begin(), weights_.end(), at);
  const auto position = static_cast<std::uint64_t>(found - weights_.begin());
  return {.position = position, .run = kept_[position].get()};
}

// ---------------------------------------------------------------- counts

void CellCounts::Add(const std::vector<sim::ReachedCell>& reached) {
  ++runs;
  for (const sim::ReachedCell& one : reached) ++hits.at(one.cell);
}

std::uint64_t CellCounts::reached() const {
  return static_cast<std::uint64_t>(
      std::count_if(hits.begin(), hits.end(), [](std::uint64_t n) { return n > 0; }));
}

std::uint64_t CellCounts::reached_by(std::uint64_t n) const {
  return static_cast<std::uint64_t>(std::count(hits.begin(), hits.end(), n));
}

double CellCounts::ChanceOfNews() const {
  if (runs == 0) return 1;
  return std::min(1.0, static_cast<double>(reached_by(1)) / static_cast<double>(runs));
}

// ---------------------------------------------------------------- the corpus

Corpus::Corpus() {
  all_.hits.resize(sim::CellCount());
  fresh_.hits.resize(sim::CellCount());
}

bool Corpus::Take(const Run& run) {
  news_.clear();
  for (const sim::ReachedCell& one : run.reached) {
    if (all_.hits.at(one.cell) == 0) news_.push_back(one);
  }
  all_.Add(run.reached);
  if (run.from) {
    ++chosen_.at(*run.from);
    ++branched_;
    if (!news_.empty()) ++branched_with_news_;
  } else if (run.drawn) {
    fresh_.Add(run.reached);
  }
  return std::any_of(news_.begin(), news_.end(), [](const sim::ReachedCell& one) {
    return sim::KindOf(one.cell) != sim::CellKind::kFaultPair;
  });
}

void Corpus::Keep(const Run& run, std::string document, Sketch sketch) {
  auto kept = std::make_shared<KeptRun>();
  kept->index = run.index;
  kept->document = std::move(document);
  kept->sketch = std::move(sketch);
  kept->reached = run.reached;
  kept->news = news_;
  kept->records = run.records;
  kept_.push_back(std::move(kept));
  chosen_.push_back(0);
}

/// Of the cells it reached the rare count most; a run often chosen, or a long one, counts less.
std::int64_t Corpus::WeightOf(std::size_t position) const {
  const KeptRun& run = *kept_[position];
  std::int64_t weight = 0;
  for (const sim::ReachedCell& one : run.reached)
    weight += WorthOf(one.cell) /
              static_cast<std::int64_t>(std::max<std::uint64_t>(all_.hits[one.cell], 1));
  const std::uint64_t length = 1 + run.records / kUsualRecords;
  weight /= static_cast<std::int64_t>((1 + chosen_[position] / 4) * length);
  return std::max<std::int64_t>(weight, 1);
}

std::shared_ptr<const Guide> Corpus::MakeGuide() const {
  auto guide = std::make_shared<Guide>();
  guide->kept_ = kept_;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) guide->weights_.push_back(sum += WeightOf(i));
  return guide;
}

}  // namespace tfyarn::explore
