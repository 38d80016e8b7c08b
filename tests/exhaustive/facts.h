// What happened on one path, and what the AM made of it. Both are the same whatever the order in
// which they were written down.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/am.h"
#include "core/model/exit.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"

namespace tfyarn::exhaustive {

enum class FactKind : std::uint8_t {
  kProcessEnded,    ///< By itself, or killed by another than us; `code`: its status.
  kContainerEnded,  ///< Not by our order; `code`: the exit status that the RM tells.
  kNoticeGiven,     ///< The RM will take the container.
  kNodeLost,
  kAmDied,         ///< `code`: how many entries it had stored; `detail`: which, and what ran then.
  kStorageFailed,  ///< `code`: the entry that the AM was told is not stored; `detail`: 1 if it is.
};

/// In place of an attempt: none ran in the container, it was not launched yet.
inline constexpr std::int32_t kNoProcess = -1;
inline constexpr std::int32_t kNotLaunched = -2;

struct Fact {
  Instant at{};
  FactKind kind = FactKind::kProcessEnded;
  /// In the order of the job; -1 and below: the container with this number, which had none yet.
  std::int8_t task = -1;
  std::int32_t attempt = 0;
  std::int32_t code = 0;
  std::uint64_t detail = 0;
  friend auto operator<=>(const Fact&, const Fact&) = default;
};

/// A restart that was decided.
struct Payment {
  Budget budget = Budget::kNone;
  std::int8_t cause = -1;  ///< Task.
  ExitClass exit_class = ExitClass::kUnknown;
  std::uint32_t tasks = 0;  ///< A bit for each that starts again.
};

struct Outcome {
  JobStatus status = JobStatus::kUnfinished;
  std::string rule;
  std::int8_t cause = -1;
  ExitClass exit_class = ExitClass::kUnknown;
  std::vector<Payment> payments;  ///< In their order.

  [[nodiscard]] std::int32_t PaidBy(Budget budget) const;
  /// The same verdict, rule, payers and counts of restarts that were paid. The task blamed, of
  /// several, may differ, and whether a victim starts again with it or after it, for nothing.
  [[nodiscard]] bool SameAs(const Outcome& other) const;
};

[[nodiscard]] std::string TextOf(const Fact& fact, const JobSpec& job);
[[nodiscard]] std::string TextOf(const Outcome& outcome, const JobSpec& job);

}  // namespace tfyarn::exhaustive
