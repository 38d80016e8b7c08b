// The schedulers that a ResourceManager may have, by name: what a scenario's `yarn.scheduler`
// chooses from, and what is said of them to users.
//
// Each is a file in schedulers/ that defines its row of this table and how it is made; the build
// puts them together. How they work with the ResourceManager is in scheduler.h.
#pragma once

#include <span>
#include <string_view>

namespace tfyarn::fakes {

struct SchedulerKind {
  std::string_view name;    ///< "gang".
  std::string_view text;    ///< What it does, in a sentence for users.
  bool has_limits = false;  ///< Limits of queues and users hold.
  bool draws = false;       ///< Which application is served is drawn at random.
};

/// In the order in which users are told of them.
[[nodiscard]] std::span<const SchedulerKind* const> AllSchedulers();
/// nullptr: there is none of that name.
[[nodiscard]] const SchedulerKind* FindScheduler(std::string_view name);

}  // namespace tfyarn::fakes
