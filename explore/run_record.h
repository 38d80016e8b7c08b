// What is kept of a run to be compared with another one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/record.h"
#include "core/trace/result.h"
#include "sim/damages.h"
#include "sim/job_tally.h"

namespace tfyarn::explore {

struct RunRecord {
  trace::Result result;
  std::vector<sim::JobTally> tallies;
  std::map<std::string, std::uint64_t> appends;  ///< To the journals of a job, by its name.
  sim::EffectCounts effects;

  /// Of the run, in order.
  void Observe(const trace::TraceRecord& record);

 private:
  std::map<trace::JobIndex, std::string> names_;
};

}  // namespace tfyarn::explore
