#include "tests/exhaustive/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/text.h"
#include "tests/exhaustive/books.h"

namespace tfyarn::exhaustive {
namespace {

std::string InsideText(std::int32_t attempt) {
  if (attempt == kNotLaunched) return "which was not launched yet";
  return attempt < 0 ? "no process ran in it" : fmt::format("attempt {} ran in it", attempt);
}

}  // namespace

std::string TextOf(const Fact& fact, const JobSpec& job) {
  const std::string who =
      fact.task >= 0 ? ToString(TaskOf(job, fact.task)) : fmt::format("c{}", -fact.task);
  const std::string at = fmt::format("{:>8.3f} s  ", SecondsOf(fact.at));
  const std::string inside = InsideText(fact.attempt);
  switch (fact.kind) {
    case FactKind::kProcessEnded:
      return at + fmt::format("{} attempt {} ended with {}", who, fact.attempt, fact.code);
    case FactKind::kContainerEnded:
      return at + fmt::format("the container of {} ended with {}, {}", who, fact.code, inside);
    case FactKind::kNoticeGiven:
      return at + fmt::format("the RM gave notice for the container of {}, {}", who, inside);
    case FactKind::kNodeLost:
      return at + fmt::format("the node of {} was lost, {}", who, inside);
    case FactKind::kAmDied:
      return at + fmt::format("the AM died when {} entries were stored", fact.code);
    case FactKind::kStorageFailed:
      return at + fmt::format("the AM was told that entry {} is not stored{}", fact.code,
                              fact.detail != 0 ? ", and it is" : "");
  }
  return at;
}

std::string TextOf(const Outcome& outcome, const JobSpec& job) {
  std::string text = fmt::format("{} by {}", KebabName(outcome.status), outcome.rule);
  if (outcome.cause >= 0)
    text += fmt::format(" ({} {})", ToString(TaskOf(job, outcome.cause)),
                        KebabName(outcome.exit_class));
  for (const Payment& payment : outcome.payments) {
    std::string tasks;
    for (std::int8_t i = 0; i < CountOf(job); ++i) {
      if ((payment.tasks >> i & 1U) != 0) tasks += " " + ToString(TaskOf(job, i));
    }
    text += fmt::format("; {} paid for{} ({} {})", KebabName(payment.budget), tasks,
                        payment.cause < 0 ? "?" : ToString(TaskOf(job, payment.cause)),
                        KebabName(payment.exit_class));
  }
  return text;
}

std::int32_t Outcome::PaidBy(Budget budget) const {
  return static_cast<std::int32_t>(
      std::count_if(payments.begin(), payments.end(),
                    [&](const Payment& payment) { return payment.budget == budget; }));
}

bool Outcome::SameAs(const Outcome& other) const {
  return status == other.status && rule == other.rule &&
         PaidBy(Budget::kUser) == other.PaidBy(Budget::kUser) &&
         PaidBy(Budget::kInfrastructure) == other.PaidBy(Budget::kInfrastructure);
}

}  // namespace tfyarn::exhaustive
