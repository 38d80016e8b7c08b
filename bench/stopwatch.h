// CPU time that the machines of a JobWorld spend in their steps.
#pragma once

#include "bench/job_world.h"
#include "bench/summary.h"

namespace tfyarn::bench {

class Stopwatch : public StepMeter {
 public:
  void BeforeAm() override { start_ = CpuNanoseconds(); }
  void AfterAm() override { am += CpuNanoseconds() - start_; }
  void BeforeAgent() override { start_ = CpuNanoseconds(); }
  void AfterAgent() override { agents += CpuNanoseconds() - start_; }

  double am = 0;      ///< Nanoseconds, since it was last set to 0.
  double agents = 0;  ///< Nanoseconds, of all agents together.

 private:
  double start_ = 0;
};

}  // namespace tfyarn::bench
