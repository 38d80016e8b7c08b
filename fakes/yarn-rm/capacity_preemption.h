// The capacity scheduler's own policy of taking containers back for queues below their capacity.
//
// Assumptions: it frees at once all that these queues want of it (YARN: a tenth of the cluster a
// round), takes the newest containers of the queue furthest above its capacity, and never AM
// containers. Who is told, and what happens when a notice is over, is the ResourceManager's.
//
// Source: ProportionalCapacityPreemptionPolicy.java.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/resource.h"
#include "fakes/yarn-rm/demand_index.h"
#include "fakes/yarn-rm/rm_context.h"

namespace tfyarn::fakes {

class CapacityPreemption {
 public:
  /// `demand`: of activated applications, by queue. Both outlive this.
  CapacityPreemption(RmContext& rm, const std::vector<DemandIndex>& demand)
      : rm_(rm), records_(rm.records()), demand_(demand) {}

  /// A round is wanted at the end of the interval, if some queue starves.
  void Arm();
  /// The round.
  void Monitor();
  /// What leaf queues below their capacity want in this partition, up to their capacity, beyond
  /// what is free.
  [[nodiscard]] Resource Starved(std::int32_t partition) const;

 private:
  void ChooseVictims(std::int32_t partition, Resource& shortage);

  RmContext& rm_;
  RmRecords& records_;
  const std::vector<DemandIndex>& demand_;
  bool armed_ = false;
};

}  // namespace tfyarn::fakes
