#include "tests/exhaustive/explorer.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "tests/exhaustive/allowed.h"

namespace tfyarn::exhaustive {
namespace {

constexpr std::size_t kFirstTable = std::size_t{1} << 16;

std::uint64_t HashOf(const std::vector<Fact>& facts) {
  std::vector<std::uint64_t> words;
  for (const Fact& fact : facts) {
    words.insert(words.end(),
                 {static_cast<std::uint64_t>(fact.at.time_since_epoch().count()),
                  static_cast<std::uint64_t>(fact.kind), static_cast<std::uint64_t>(fact.task),
                  static_cast<std::uint64_t>(fact.attempt), static_cast<std::uint64_t>(fact.code),
                  fact.detail});
  }
  return XXH3_64bits(words.data(), words.size() * sizeof(words[0]));
}

/// Findings of one kind differ in numbers only.
std::string KindOf(std::string what) {
  std::erase_if(what, [](char c) { return c >= '0' && c <= '9'; });
  return what;
}

}  // namespace

Explorer::Explorer(const Scope& scope, const Limits& limits)
    : scope_(scope), limits_(limits), met_(kFirstTable) {}

Report Explorer::Run() {
  Arena::Clear();
  {
    const Arena::Use use;
    world_ = new World(scope_);
  }
  Go({}, limits_.deviations);
  report_.complete = report_.cut == 0 && !stop_;
  report_.groups = groups_.size();
  CompareOutcomes();
  return report_;
}

// ---------------------------------------------------------------- the search

void Explorer::Go(const Sleepers& asleep, std::int32_t deviations) {
  if (stop_) return;
  const std::span<const Move> all = world_->Moves();
  const std::vector<Move> moves(all.begin(), all.end());
  if (moves.empty()) return End();
  report_.depth = std::max(report_.depth, path_.size());
  if (path_.size() >= limits_.depth) {
    ++report_.cut;
    return;
  }
  std::vector<std::uint64_t> left;
  bool is_new = true;
  if (limits_.merge) {
    const std::uint64_t key = [&] {
      const Arena::Use use;
      return world_->Key(memory_);
    }();
    is_new = IsNew(key, asleep, deviations, left);
  }
  if (is_new && ++report_.states >= limits_.states) stop_ = true;
  if (is_new) return Try(moves, asleep, deviations, nullptr);
  if (!left.empty()) Try(moves, asleep, deviations, &left);
}

/// False: it was met before. `left`: what slept then and does not now.
bool Explorer::IsNew(std::uint64_t key, const Sleepers& asleep, std::int32_t deviations,
                     std::vector<std::uint64_t>& left) {
  Met* met = Find(key);
  if (met->key == 0) {
    *met = {.key = key == 0 ? 1 : key,
            .sleepers_at = static_cast<std::uint32_t>(sleepers_.size()),
            .sleepers = static_cast<std::uint32_t>(asleep.size())};
    for (const Sleeper& sleeper : asleep) sleepers_.push_back(sleeper.id);
    if (deviations >= 0) met->sleepers_at = static_cast<std::uint32_t>(deviations) + 1;
    if (++met_count_ * 2 > met_.size()) Grow();
    return true;
  }
  if (deviations >= 0) {
    const auto now = static_cast<std::uint32_t>(deviations) + 1;
    if (now <= met->sleepers_at) return false;
    met->sleepers_at = now;
    return true;
  }
  const auto first = sleepers_.begin() + met->sleepers_at;
  std::vector<std::uint64_t> both;
  for (auto id = first; id != first + met->sleepers; ++id) {
    const bool still = std::any_of(asleep.begin(), asleep.end(),
                                   [&](const Sleeper& sleeper) { return sleeper.id == *id; });
    (still ? both : left).push_back(*id);
  }
  std::copy(both.begin(), both.end(), first);
  met->sleepers = static_cast<std::uint32_t>(both.size());
  return false;
}

/// `only`: of the moves, these and no others.
void Explorer::Try(const std::vector<Move>& moves, const Sleepers& asleep, std::int32_t deviations,
                   const std::vector<std::uint64_t>* only) {
  Sleepers done = asleep;
  std::vector<std::size_t> tries;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const std::uint64_t id = moves[i].id;
    const bool sleeps = std::any_of(asleep.begin(), asleep.end(),
                                    [&](const Sleeper& sleeper) { return sleeper.id == id; });
    const bool too_far = deviations == 0 && i > 0 && moves[i].kind != MoveKind::kFault;
    const bool left_out =
        only != nullptr && std::find(only->begin(), only->end(), id) == only->end();
    if (!sleeps && !too_far && !left_out) tries.push_back(i);
  }
  Arena::Image image;
  if (tries.size() > 1) Arena::Save(image);
  for (std::size_t k = 0; k < tries.size() && !stop_; ++k) {
    const std::size_t choice = tries[k];
    const Move& move = moves[choice];
    if (k > 0) Arena::Restore(image);
    {
      const Arena::Use use;
      world_->Take(move);
    }
    ++report_.moves;
    const std::uint32_t parts = world_->touched();
    Sleepers next;
    if (limits_.sleep && deviations < 0) {
      for (const Sleeper& sleeper : done) {
        if ((sleeper.parts & parts) == 0) next.push_back(sleeper);
      }
      done.push_back({move.id, parts});
    }
    const bool deviates = deviations > 0 && choice > 0 && move.kind != MoveKind::kFault;
    path_.push_back(static_cast<std::uint8_t>(choice));
    Go(next, deviates ? deviations - 1 : deviations);
    path_.pop_back();
  }
}

Explorer::Met* Explorer::Find(std::uint64_t key) {
  if (key == 0) key = 1;
  std::size_t at = key & (met_.size() - 1);
  while (met_[at].key != 0 && met_[at].key != key) at = (at + 1) & (met_.size() - 1);
  return &met_[at];
}

void Explorer::Grow() {
  std::vector<Met> old = std::exchange(met_, std::vector<Met>(met_.size() * 2));
  for (const Met& met : old) {
    if (met.key != 0) *Find(met.key) = met;
  }
}

// ---------------------------------------------------------------- what was found

void Explorer::End() {
  if (const std::string broken = world_->HowBroken(); !broken.empty())
    return Add({.what = broken, .path = path_, .facts = world_->facts()});
  ++report_.ends;
  Judge();
  Group& group = groups_[HashOf(world_->facts())];
  if (group.examples.empty()) group.facts = world_->facts();
  const bool known = std::any_of(
      group.examples.begin(), group.examples.end(),
      [&](const Example& example) { return example.outcome.SameAs(world_->outcome()); });
  if (!known) group.examples.push_back({world_->outcome(), path_});
}

/// The reference model judges what strikes one thing at a time: it knows what the AM has heard, but
/// not in which order of several decisions that are on their way to the journal at once.
///
/// Takes the path again from its beginning, in a world of its own. It must come to the same end: a
/// state that was put back is one that was reached.
void Explorer::Judge() {
  const Judged judged = JudgeByReference(scope_, path_);
  const bool repeats = judged.broken.empty() && judged.facts == world_->facts() &&
                       judged.outcome.SameAs(world_->outcome());
  if (!repeats)
    return Add({.what = "repeatable: the path leads to another end when it is taken again, as if a "
                        "machine read what it has not written",
                .path = path_,
                .facts = world_->facts()});
  if (world_->overlapping()) return;
  ++report_.judged;
  report_.decisions += judged.decisions;
  for (const std::string& alarm : judged.alarms)
    Add({.what = "reference-verdict: " + alarm, .path = path_, .facts = world_->facts()});
}

/// The first outcome of each set of facts against the others.
void Explorer::CompareOutcomes() {
  for (const auto& [hash, group] : groups_) {
    if (group.examples.size() < 2) continue;
    bool all = true;
    for (std::size_t i = 0; i < group.examples.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const Outcome& a = group.examples[k].outcome;
        const Outcome& b = group.examples[i].outcome;
        if (const auto why = WhyAllowed(scope_, group.facts, a, b)) {
          ++report_.allowed[std::string(*why)];
          continue;
        }
        if (all) {
          Add({.what = fmt::format("one-verdict: the same facts lead to '{}' and to '{}'",
                                   TextOf(a, *scope_.job), TextOf(b, *scope_.job)),
               .path = group.examples[k].path,
               .other = group.examples[i].path,
               .facts = group.facts});
        }
        all = false;
      }
    }
  }
}

/// Of each kind the first, which is the shortest when the bound on deviations grew from nothing.
void Explorer::Add(Finding finding) {
  const std::string kind = KindOf(finding.what);
  for (Finding& known : report_.findings) {
    if (KindOf(known.what) != kind) continue;
    ++known.times;
    return;
  }
  report_.findings.push_back(std::move(finding));
}

}  // namespace tfyarn::exhaustive
