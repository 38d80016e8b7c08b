// What the policy may know of the job's tasks: counters per task type, and single tasks on demand.
//
// The ApplicationMaster keeps the counters as tasks change, so that judging costs O(task types),
// not O(tasks). Nothing here decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/job_spec.h"

namespace tfyarn::policy {

/// One task type now. A task counts as ended only for good: no restart of it is decided, pending or
/// under way. A gang restart sets ok and failed of the tasks that start again back.
struct TypeCounts {
  std::string name;
  TaskClass task_class = TaskClass::kTracked;  ///< From Engine::ClassOf.
  std::int32_t instances = 0;
  std::int32_t ok = 0;      ///< Ended for good with class ok.
  std::int32_t failed = 0;  ///< Ended for good otherwise, our own stops included.
  /// Ended for good by a decision kIgnore: neither ok nor failed.
  std::int32_t ignored = 0;
  std::int32_t running = 0;  ///< Processes seen running.
  /// A dependency with `do: ignore` expired: the type no longer counts as tracked.
  bool waived = false;

  [[nodiscard]] std::int32_t ended() const { return ok + failed + ignored; }
  [[nodiscard]] bool all_ended() const { return ended() == instances; }
  /// Whether the type belongs to the pseudo type `tracked`.
  [[nodiscard]] bool tracked() const { return task_class == TaskClass::kTracked && !waived; }
};

/// One task now, in the same sense of "ended".
struct TaskFacts {
  bool ended = false;
  bool ok = false;  ///< With ended.
  bool running = false;
};

/// Read access to the tasks; implemented by the ApplicationMaster.
class JobView {
 public:
  virtual ~JobView() = default;
  /// In the order of JobSpec::tasks.
  [[nodiscard]] virtual const std::vector<TypeCounts>& types() const = 0;
  /// `type`: position in types(); `index` in [0, instances).
  [[nodiscard]] virtual TaskFacts FactsOf(std::size_t type, std::int32_t index) const = 0;

 protected:
  JobView() = default;
  JobView(const JobView&) = default;
  JobView& operator=(const JobView&) = default;
};

/// In the training cluster: tracked or service, and no evaluator or tensorboard.
[[nodiscard]] bool IsTraining(TaskClass task_class, std::string_view type);

/// The counts of all tracked types together; its name and class mean nothing.
[[nodiscard]] TypeCounts SumOfTracked(const JobView& view);
/// Adds the counts of `type` to `sum`.
void AddTo(const TypeCounts& type, TypeCounts& sum);

/// True when there is a tracked task and every one of them has ended.
[[nodiscard]] bool AllTrackedEnded(const JobView& view);

}  // namespace tfyarn::policy
