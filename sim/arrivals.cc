#include "sim/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/check.h"

namespace tfyarn::sim {
namespace {

/// As few equal tasks as `gpus_per_task` allows: 16 GPUs at 8 a task are 2 tasks of 8, 12 are 2
/// of 6.
std::int64_t TasksFor(std::int64_t gpus, std::int64_t gpus_per_task) {
  if (gpus <= gpus_per_task) return 1;
  std::int64_t tasks = (gpus + gpus_per_task - 1) / gpus_per_task;
  while (gpus % tasks != 0) ++tasks;
  return tasks;
}

}  // namespace

Arrivals::Arrivals(const config::Scenario& scenario, std::int64_t largest_node_gpus,
                   std::uint64_t seed)
    : largest_node_gpus_(std::max<std::int64_t>(largest_node_gpus, 1)) {
  for (const config::JobConfig& job : scenario.jobs) {
    listed_.push_back(std::make_shared<const config::JobConfig>(job));
  }
  std::stable_sort(listed_.begin(), listed_.end(),
                   [](const auto& a, const auto& b) { return a->submit < b->submit; });
  sources_.push_back(Source{.spec = nullptr,
                            .rows = {},
                            .gaps = Random(seed, "arrivals", 0),
                            .taken = 0,
                            .count = listed_.size(),
                            .next = std::nullopt});
  std::uint64_t number = 0;
  for (const config::ArrivalSpec& spec : scenario.arrivals) {
    Source source{.spec = &spec,
                  .rows = {},
                  .gaps = Random(seed, "arrivals", ++number),
                  .taken = 0,
                  .count = static_cast<std::uint64_t>(spec.count),
                  .next = Instant{}};
    if (!spec.trace_file.empty()) {
      auto rows = config::ReadPhilly(spec.trace_file, spec.limit);
      TF_CHECK(rows.has_value());
      source.rows = std::move(*rows);
      source.count = source.rows.size();
    }
    sources_.push_back(std::move(source));
  }
  for (Source& source : sources_) {
    total_ += source.count;
    Advance(source);
  }
}

std::optional<Instant> Arrivals::next() const {
  std::optional<Instant> earliest;
  for (const Source& source : sources_) {
    if (source.next && (!earliest || *source.next < *earliest)) earliest = source.next;
  }
  return earliest;
}

Arrivals::Source& Arrivals::Earliest() {
  Source* earliest = nullptr;
  for (Source& source : sources_) {
    if (source.next && (earliest == nullptr || *source.next < *earliest->next)) earliest = &source;
  }
  TF_CHECK(earliest != nullptr);
  return *earliest;
}

std::shared_ptr<const config::JobConfig> Arrivals::Take() {
  Source& source = Earliest();
  std::shared_ptr<const config::JobConfig> job =
      source.spec == nullptr ? listed_[source.taken] : FromTemplate(source);
  ++source.taken;
  Advance(source);
  return job;
}

void Arrivals::Advance(Source& source) {
  if (source.taken >= source.count) {
    source.next.reset();
  } else if (source.spec == nullptr) {
    source.next = Instant{} + listed_[source.taken]->submit;
  } else if (!source.rows.empty()) {
    source.next = Instant{} + source.rows[source.taken].submit;
  } else {
    const Duration gap = source.spec->interarrival
                             ? source.gaps.DrawDuration(*source.spec->interarrival)
                             : Duration{};
    source.next = *source.next + gap;
  }
}

std::shared_ptr<const config::JobConfig> Arrivals::FromTemplate(const Source& source) const {
  auto job = std::make_shared<config::JobConfig>(*source.spec->job);
  job->spec.name = fmt::format("{}-{}", source.spec->prefix, source.taken + 1);
  job->submit = source.next->time_since_epoch();
  if (!source.rows.empty()) ShapeLikeRow(*job, source, source.rows[source.taken]);
  return job;
}

void Arrivals::ShapeLikeRow(config::JobConfig& job, const Source& source,
                            const config::PhillyJob& row) const {
  const std::int64_t per_task =
      source.spec->gpus_per_task > 0 ? source.spec->gpus_per_task : largest_node_gpus_;
  const std::int64_t tasks = TasksFor(row.gpus, per_task);
  for (TaskTypeSpec& task : job.spec.tasks) {
    if (task.name != "worker") continue;
    task.instances = static_cast<std::int32_t>(tasks);
    task.resource.gpus = row.gpus / tasks;
  }
  const auto queue = source.spec->queue_of_cluster.find(row.cluster);
  if (queue != source.spec->queue_of_cluster.end()) job.spec.queue = queue->second;
  // The row's duration is the training time: one step that long.
  job.training.steps =
      config::Distribution::Constant(std::max(1.0, std::round(row.duration_seconds)));
  job.training.step_time = config::Distribution::Constant(1.0);
}

}  // namespace tfyarn::sim
