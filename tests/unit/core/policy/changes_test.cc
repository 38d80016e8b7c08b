// Each row of the policy tables, each of its conditions and each thing that it decides matter: a
// copy of the table without it, or with another in its place, decides some situation otherwise.
#include "tests/unit/core/policy/changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/policy/tables/parts.h"
#include "core/policy/text.h"
#include "tests/unit/core/policy/outcomes.h"
#include "tests/unit/core/policy/situations.h"

namespace tfyarn::policy::policy_changes_test {
namespace {

// ---------------------------------------------------------------- changes that only names show

/// A change that leaves every decision as it is and changes which rule users read of.
struct NamesOnly {
  std::string_view policy;
  std::string_view part;
  std::string_view what;
  std::string_view why;
};

constexpr std::string_view kOkOrStopped =
    "both are tallied; the message tells a task that did its work from one that we stopped";
constexpr std::string_view kUsersLookForIt =
    "the original's own name of the limit is what its users look for";
constexpr std::string_view kBackoffLimit =
    "one budget pays both; TFJob's own reason, backoff-limit, is what its users look for";
constexpr NamesOnly kNamesOnly[] = {
    {"default", "row ended-ok", "class killed-by-us added", kOkOrStopped},
    {"tony", "row ended-ok", "class killed-by-us added", kOkOrStopped},
    {"framework-launcher", "row retried", "limit name left out", kUsersLookForIt},
    {"hbox", "row ended-ok", "class killed-by-us added", kOkOrStopped},
    {"slider-tf", "row finished", "class killed-by-us added", kOkOrStopped},
    {"slider-tf", "row container-lost", "limit name left out", kUsersLookForIt},
    {"slider-tf", "row instance-replaced", "limit name left out", kUsersLookForIt},
    {"tfjob", "row always-recreated", "limit name left out", kBackoffLimit},
    {"tfjob", "row always", "limit name left out", kBackoffLimit},
    {"tfjob", "row on-failure-recreated", "limit name left out", kBackoffLimit},
    {"tfjob", "row on-failure", "limit name left out", kBackoffLimit},
    {"tfjob", "row exit-code-retryable", "limit name left out", kBackoffLimit},
};

// ---------------------------------------------------------------- all situations of a table

enum class Seen { kNothing, kNames, kDecision };

/// A table beside all that it decides.
class World {
 public:
  explicit World(const Table& original)
      : original_(original),
        copy_(original),
        table_(copy_.Whole()),
        jobs_(JobsFor(original)),
        ends_(copy_.rows.size()) {
    for (std::size_t job = 0; job < jobs_.size(); ++job) Add(job);
  }

  /// The strongest difference that the change makes to the end of a task. `from`: the rows before
  /// it are unchanged, so that what they take is decided as before.
  [[nodiscard]] Seen DifferenceOfEnds(const Change& change, std::size_t from = 0) const {
    TableCopy copy(original_);
    change.make(copy);
    const Table table = copy.Whole();
    return Scan(table, from, [&](const End& end) {
      return change.only && end.situation.exit_class != *change.only;
    });
  }

  /// Likewise, and to roles and verdicts. Jobs that give options only repeat others.
  [[nodiscard]] Seen Difference(const Change& change) const {
    TableCopy copy(original_);
    change.make(copy);
    const Table table = copy.Whole();
    for (const JobSpec& job : jobs_) {
      const Bench bench(job, table);
      if (!bench.takes_job() || bench.Roles() != Bench(job, table_).Roles()) return Seen::kDecision;
    }
    const Seen seen =
        Scan(table, 0, [&](const End& end) { return !jobs_[end.job].policy.options.empty(); });
    if (seen == Seen::kDecision) return seen;
    for (const JobSpec& job : SmallJobsFor(original_)) {
      if (!job.policy.options.empty()) continue;
      const Bench before(job, table_);
      const Bench after(job, table);
      if (!after.takes_job() || !SameVerdicts(before, after, job)) return Seen::kDecision;
    }
    return seen;
  }

  /// Whether an end of the class may come as far as this row, and meet its other conditions.
  [[nodiscard]] bool Reaches(std::size_t row, ExitClass exit_class) const {
    TableCopy copy(original_);
    copy.rows[row].classes = kAnyEnd;
    copy.rows[row].name = "reached";
    const Table table = copy.Whole();
    Benches benches(*this, table);
    return std::any_of(
        ends_.begin() + static_cast<std::ptrdiff_t>(row), ends_.end(),
        [&](const std::vector<End>& ends) {
          return std::any_of(ends.begin(), ends.end(), [&](const End& end) {
            return end.situation.exit_class == exit_class &&
                   benches.Of(end.job).Decide(end.situation).rule.ends_with("/reached");
          });
        });
  }

  /// The situations that the last row of a copy takes, and the count of all.
  [[nodiscard]] std::pair<std::vector<std::string>, std::size_t> Untaken() const {
    std::vector<std::string> untaken;
    std::size_t count = 0;
    for (const std::vector<End>& ends : ends_) count += ends.size();
    for (const End& end : ends_.back()) untaken.push_back(ToText(jobs_[end.job], end.situation));
    return {untaken, count};
  }

 private:
  struct End {
    std::size_t job = 0;
    Situation situation;
    Decision decision;
  };

  /// One for each job, made when it is asked for.
  class Benches {
   public:
    Benches(const World& world, const Table& table)
        : world_(world), table_(table), benches_(world.jobs_.size()) {}
    Bench& Of(std::size_t job) {
      if (!benches_[job]) benches_[job] = std::make_unique<Bench>(world_.jobs_[job], table_);
      return *benches_[job];
    }

   private:
    const World& world_;
    const Table& table_;
    std::vector<std::unique_ptr<Bench>> benches_;
  };

  /// The strongest difference in the ends that rows from `from` on decide.
  template <class Skip>
  [[nodiscard]] Seen Scan(const Table& table, std::size_t from, Skip skip) const {
    // What a row decides once its own restarts are spent, a later one decides.
    for (std::size_t row = 0; row < from; ++row) {
      if (table_.rows[row].next_when_spent) from = row;
    }
    Benches benches(*this, table);
    Seen seen = Seen::kNothing;
    // What the row itself takes comes first: most changes show there.
    for (std::size_t row = from; row < ends_.size(); ++row) {
      for (const End& end : ends_[row]) {
        if (skip(end)) continue;
        seen = std::max(seen, DifferenceOf(end, benches.Of(end.job)));
        if (seen == Seen::kDecision) return seen;
      }
    }
    return seen;
  }

  void Add(std::size_t job) {
    Bench bench(jobs_[job], table_);
    for (Situation& situation : SituationsOf(jobs_[job], original_)) {
      Decision decision = bench.Decide(situation);
      ends_[RowOf(decision)].push_back({job, std::move(situation), std::move(decision)});
    }
  }

  /// Position of the row that decided; the first for a rule of the job's own.
  [[nodiscard]] std::size_t RowOf(const Decision& decision) const {
    for (std::size_t row = 0; row < copy_.rows.size(); ++row) {
      if (decision.probe == &table_.ProbeOf(table_.rows[row])) return row;
    }
    return 0;
  }

  [[nodiscard]] static Seen DifferenceOf(const End& end, Bench& bench) {
    if (!bench.takes_job()) return Seen::kDecision;
    const Decision decision = bench.Decide(end.situation);
    if (!SameDecision(decision, end.decision)) return Seen::kDecision;
    return SameNames(decision, end.decision) ? Seen::kNothing : Seen::kNames;
  }

  const Table& original_;
  TableCopy copy_;
  Table table_;
  std::vector<JobSpec> jobs_;
  std::vector<std::vector<End>> ends_;  ///< By the row that decides.
};

/// Made once for each policy.
const World& WorldOf(const Table& table) {
  static std::map<const Table*, World> worlds;
  return worlds.try_emplace(&table, table).first->second;
}

// ---------------------------------------------------------------- tests

class PolicyChangesTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  void Expect(const Change& change, Seen seen) {
    const auto listed =
        std::find_if(std::begin(kNamesOnly), std::end(kNamesOnly), [&](const NamesOnly& entry) {
          return entry.policy == table_.name && entry.part == change.part &&
                 entry.what == change.what;
        });
    if (listed != std::end(kNamesOnly)) {
      used_.insert(&*listed);
      EXPECT_EQ(seen, Seen::kNames) << Text(change) << "\nIt is listed as one that changes names "
                                    << "only: " << listed->why;
      return;
    }
    EXPECT_EQ(seen, Seen::kDecision)
        << Text(change) << "\n"
        << (seen == Seen::kNames ? "Only names of rules differ: list it in kNamesOnly, or merge "
                                   "the rows."
                                 : "No situation is decided otherwise: the condition is dead.");
  }

  void ExpectListedAreUsed() {
    for (const NamesOnly& entry : kNamesOnly) {
      if (entry.policy != table_.name) continue;
      EXPECT_TRUE(used_.contains(&entry))
          << entry.policy << ", " << entry.part << ": no such change: " << entry.what;
    }
  }

  const Table& table_ = *FindTable(GetParam());

 private:
  [[nodiscard]] std::string Text(const Change& change) const {
    return fmt::format("policy {}, {}: {}", table_.name, change.part, change.what);
  }

  std::set<const NamesOnly*> used_;
};

/// `any end` and `any failure` are words for what comes as far as the row; a set that names its
/// classes names none that an earlier row takes.
bool IsWord(ExitClassSet set) {
  return set.bits == kAnyEnd.bits || set.bits == kFailure.bits;
}

TEST_P(PolicyChangesTest, EveryConditionOfEveryRowMatters) {
  const World& world = WorldOf(table_);
  for (std::size_t row = 0; row < table_.rows.size(); ++row) {
    for (const Change& change : ChangesOfRow(table_, row))
      Expect(change, world.DifferenceOfEnds(change, row));
    const ExitClassSet classes = table_.rows[row].classes;
    for (int i = 0; i <= static_cast<int>(ExitClass::kUnknown); ++i) {
      const auto c = static_cast<ExitClass>(i);
      const bool names_it = classes.Has(c) && !IsWord(classes);
      if (!names_it && !world.Reaches(row, c)) continue;
      const Change change = ChangeOfClass(table_, row, c);
      Expect(change, world.DifferenceOfEnds(change, row));
    }
  }
  ExpectListedAreUsed();
}

TEST_P(PolicyChangesTest, EveryRoleAndEveryFlagMatters) {
  const World& world = WorldOf(table_);
  for (const Change& change : ChangesOfRoles(table_)) Expect(change, world.Difference(change));
}

TEST_P(PolicyChangesTest, EveryStandardValueOfAnOptionMatters) {
  const World& world = WorldOf(table_);
  for (const Change& change : ChangesOfOptions(table_)) Expect(change, world.Difference(change));
}

TEST_P(PolicyChangesTest, NoEndComesPastTheLastRow) {
  const World& world = WorldOf(table_);
  const auto [untaken, count] = world.Untaken();
  EXPECT_EQ(untaken, std::vector<std::string>{}) << table_.name;
  EXPECT_GT(count, 1000U);
}

TEST_P(PolicyChangesTest, EveryVerdictIsReachedAndOneTasksOutcomeReachesAnother) {
  auto reached = ReachedVerdicts(table_);
  for (const VerdictRow& row : table_.verdicts) {
    const std::string rule = fmt::format("{}/{}", table_.name, row.name);
    const auto found = reached.find(rule);
    if (found == reached.end()) {
      ADD_FAILURE() << rule << ": no outcome of the tasks reaches this verdict";
      continue;
    }
    EXPECT_TRUE(found->second.another) << rule << ": no other outcome of one task leads elsewhere";
    EXPECT_EQ(found->second.statuses, std::set<JobStatus>{row.status}) << rule;
    reached.erase(found);
  }
  for (const auto& [rule, reach] : reached) ADD_FAILURE() << rule << ": a verdict without a row";
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyChangesTest, ::testing::ValuesIn(Names()),
                         [](const auto& policy) {
                           std::string name(policy.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tfyarn::policy::policy_changes_test
