#include "tests/exhaustive/allowed.h"

#include <algorithm>
#include <cstdlib>

#include "tests/exhaustive/books.h"
#include "tests/exhaustive/scope.h"

namespace tfyarn::exhaustive {
namespace {

/// Of what happens within so long of each other either may be heard first: the RM tells with its
/// next answer; an agent says what was lost on its way again after 2 s.
constexpr Duration kAtOnce = kBeat;
constexpr Duration kSaidAgain = 2s;
/// So long after an AM's end its successor's agents may not have found it yet, each in its own
/// time: three and a half heartbeats without an answer, then a look for the new address.
constexpr Duration kFindsAm = 12s;

/// A launch is tried for so long on a node that does not answer.
constexpr Duration kLaunchGivenUp = 46s;

bool IsSuccess(const Fact& fact) {
  return fact.kind == FactKind::kProcessEnded && fact.code == 0;
}

bool IsEnd(const Fact& fact) {
  return fact.kind == FactKind::kProcessEnded;
}

bool IsLoss(const Fact& fact) {
  return fact.kind == FactKind::kContainerEnded || fact.kind == FactKind::kNodeLost ||
         fact.kind == FactKind::kNoticeGiven;
}

bool IsFailure(const Fact& fact) {
  return IsLoss(fact) || (fact.kind == FactKind::kProcessEnded && fact.code != 0);
}

/// The sender of what is heard first.
class Hearing {
 public:
  Hearing(const Scope& scope, const std::vector<Fact>& facts) : facts_(facts) {
    slack_ = kAtOnce + scope.latency;
    silence_ = scope.job->heartbeat.every * scope.job->heartbeat.missed + kBeat;
    if (scope.LosesMail()) slack_ += kSaidAgain * scope.faults;
  }

  /// Two facts of which either may be heard first, the one such and the other such.
  template <class First, class Second>
  [[nodiscard]] bool Races(First first, Second second) const {
    for (const Fact& a : facts_) {
      if (!first(a)) continue;
      for (const Fact& b : facts_) {
        if (&a != &b && second(a, b) && AtOnce(a, b)) return true;
      }
    }
    return false;
  }
  /// A failure came as the wait for the cause of another was over.
  [[nodiscard]] bool AsWindowCloses(Duration window) const {
    for (const Fact& a : facts_) {
      for (const Fact& b : facts_) {
        const Duration apart = b.at - a.at - window;
        if (IsFailure(a) && IsFailure(b) && apart >= -DelayOf(b) && apart <= DelayOf(a))
          return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] bool AtOnce(const Fact& a, const Fact& b) const {
    if (a.at <= b.at + DelayOf(b) && b.at <= a.at + DelayOf(a)) return true;
    return std::any_of(facts_.begin(), facts_.end(), [&](const Fact& death) {
      const auto near = [&](const Fact& fact) {
        return fact.at >= death.at - slack_ && fact.at <= death.at + kFindsAm;
      };
      return death.kind == FactKind::kAmDied && near(a) && near(b);
    });
  }

  /// Of a node that is gone, first by its agents' silence; an AM that never heard of them waits for
  /// the RM.
  [[nodiscard]] Duration DelayOf(const Fact& fact) const {
    if (fact.kind != FactKind::kNodeLost) return slack_;
    const bool unheard = std::any_of(facts_.begin(), facts_.end(), [&](const Fact& death) {
      return death.kind == FactKind::kAmDied;
    });
    if (unheard) return slack_ + kNodeExpiry + kBeat;
    return slack_ + (fact.attempt == kNotLaunched ? kLaunchGivenUp : silence_);
  }

  const std::vector<Fact>& facts_;
  Duration slack_{};
  Duration silence_{};
};

/// For each budget no more restarts apart than there were faults.
bool Near(const Scope& scope, const Outcome& a, const Outcome& b) {
  const auto near = [&](Budget budget) {
    return std::abs(a.PaidBy(budget) - b.PaidBy(budget)) <= scope.faults;
  };
  return near(Budget::kUser) && near(Budget::kInfrastructure);
}

bool SamePayers(const Outcome& a, const Outcome& b) {
  return a.PaidBy(Budget::kUser) == b.PaidBy(Budget::kUser) &&
         a.PaidBy(Budget::kInfrastructure) == b.PaidBy(Budget::kInfrastructure);
}

}  // namespace

std::optional<std::string_view> WhyAllowed(const Scope& scope, const std::vector<Fact>& facts,
                                           const Outcome& a, const Outcome& b) {
  const JobSpec& job = *scope.job;
  const Hearing hearing(scope, facts);
  const bool tfjob = job.policy.name == "tfjob";
  const auto is = [&](std::string_view rule) { return a.rule == rule || b.rule == rule; };
  if (is("tfjob/worker0-succeeded") && is("tfjob/workers-succeeded") && SamePayers(a, b))
    return "tfjob: worker:0 has ended with 0, and so have all: the verdict has the name of the row "
           "that was met first (table tfjob)";
  if (!Near(scope, a, b)) return std::nullopt;
  const bool success_races =
      hearing.Races(IsSuccess, [](const Fact&, const Fact& other) { return IsFailure(other); });
  const bool succeeds = a.status == JobStatus::kSucceeded || b.status == JobStatus::kSucceeded;
  // Under tf-yarn's `propagate: late` a success, too, may be the last end that a failure waits for.
  if (success_races && (succeeds || job.policy.name == "tf-yarn"))
    return "a success and a failure at once: every end is decided when the ApplicationMaster "
           "learns of it (Differences from the originals, All)";
  const bool ended_twice = hearing.Races(IsEnd, [](const Fact& end, const Fact& other) {
    return IsLoss(other) && other.task == end.task;
  });
  if (ended_twice)
    return "a process ended as its container did: the reason that YARN gives is better than the "
           "agent's report, until something was decided on that (From an exit to its class)";
  const bool before_launch = std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
    return IsLoss(fact) && fact.attempt == kNotLaunched;
  });
  if (before_launch && a.status == b.status && a.rule == b.rule)
    return "a container was lost as it was about to be launched: what the ApplicationMaster orders "
           "to a lost container fails as a launch and is paid for; what it hears of first it only "
           "asks for again (Restart units)";
  const bool failures =
      hearing.Races(IsFailure, [](const Fact&, const Fact& other) { return IsFailure(other); });
  if (job.policy.name == "default" && hearing.AsWindowCloses(job.deadlines.blame) &&
      a.status == b.status)
    return "a failure came as deadlines.blame was over since another: within it one decision is on "
           "both, later each has its own (Whose failure it is)";
  const bool beside = hearing.Races(IsFailure, [&](const Fact& other, const Fact& one) {
    const bool looks_on = other.task >= 0 && TaskOf(job, other.task).type == "evaluator";
    return looks_on && IsFailure(one);
  });
  if (beside && a.status == b.status)
    return "a failure of the training and one beside it at once: they are decided on one by one "
           "(Whose failure it is)";
  const bool collective = job.policy.name == "default" && job.strategy == Strategy::kMultiWorker;
  if (!collective && failures && a.status == b.status)
    return "two failures at once: a row that fails decides at once, and so does a first report "
           "under tony; only a collective under default waits for the cause (Whose failure it is)";
  if (tfjob && job.strategy == Strategy::kMultiWorker && a.status == b.status)
    return "tfjob starts one member of a collective again, alone: it breaks again until all do "
           "(Restart units)";
  return std::nullopt;
}

}  // namespace tfyarn::exhaustive
