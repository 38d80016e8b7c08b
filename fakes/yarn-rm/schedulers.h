// The schedulers that a ResourceManager may have, by name: what a scenario's `yarn.scheduler`
// chooses from, and what is said of them to users.
//
// Each is a file in schedulers/ that defines one row of this table; the build puts them together.
// How they work with the ResourceManager is in scheduler.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace tfyarn::fakes {

class RmContext;
class Scheduler;

struct SchedulerKind {
  std::string_view name;  ///< "gang".
  std::string_view text;  ///< What it does, in a sentence for users.
  /// Limits of queues and users hold. Else the queue of an application has no meaning.
  bool has_limits = false;
  /// Which application it serves is drawn at random.
  bool draws = false;
  /// `rm` outlives the scheduler. `seed`: of the ResourceManager, for draws.
  std::unique_ptr<Scheduler> (*make)(RmContext& rm, std::uint64_t seed) = nullptr;
};

/// In the order in which users are told of them; the first is the default.
[[nodiscard]] std::span<const SchedulerKind* const> AllSchedulers();
/// nullptr: there is none of that name.
[[nodiscard]] const SchedulerKind* FindScheduler(std::string_view name);

}  // namespace tfyarn::fakes
