// When jobs come: those listed in the scenario, those drawn from a law, and those of a trace,
// merged in order of time.
//
// Lazy: a job of a law or trace becomes a JobConfig when it is taken, so that 80,000 jobs need no
// 80,000 configurations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/scenario.h"
#include "config/traces.h"
#include "core/model/time.h"
#include "sim/random.h"

namespace tfyarn::sim {

class Arrivals {
 public:
  /// Reads trace files; `largest_node_gpus` is the default of gpus_per_task.
  /// Trace files were checked when the scenario was loaded; one that cannot be read now is a failed
  /// check.
  Arrivals(const config::Scenario& scenario, std::int64_t largest_node_gpus, std::uint64_t seed);

  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// When the next job comes; nullopt when there is none left.
  [[nodiscard]] std::optional<Instant> next() const;
  /// Takes the next job.
  [[nodiscard]] std::shared_ptr<const config::JobConfig> Take();

 private:
  struct Source {
    const config::ArrivalSpec* spec = nullptr;  ///< nullptr = the scenario's own list.
    std::vector<config::PhillyJob> rows;
    Random gaps;
    std::uint64_t taken = 0;
    std::uint64_t count = 0;
    std::optional<Instant> next;
  };

  void Advance(Source& source);
  [[nodiscard]] Source& Earliest();
  [[nodiscard]] std::shared_ptr<const config::JobConfig> FromTemplate(const Source& source) const;
  void ShapeLikeRow(config::JobConfig& job, const Source& source,
                    const config::PhillyJob& row) const;

  std::int64_t largest_node_gpus_;
  std::vector<std::shared_ptr<const config::JobConfig>>
      listed_;  ///< By submission, ties in file order.
  std::vector<Source> sources_;
  std::uint64_t total_ = 0;
};

}  // namespace tfyarn::sim
