// Drawing whole scenarios: cluster, queues, jobs, workloads, faults, and what must hold at the end.
//
// Small on purpose: at most 4 nodes, 2 jobs and 3 faults. Most bugs of crash recovery need no more,
// and what needs little is found sooner and read sooner. Each scenario leaves out a random part of
// the features and of the kinds of faults (swarm testing, Groce et al. 2012): what always comes
// along hides what happens without it.
//
// Three sorts. A *healthy* scenario has programs that do nothing wrong, ample budgets and faults
// that infrastructure pays for: every job must succeed. A *harmless* one is healthy, and its faults
// must cost nothing but time: no process starts again, and each job ends within the time that its
// work, its starts and the faults take. A *wild* one may do anything that a file can say: every job
// must come to some end. All end within a bound after the last fault, which follows from the job's
// own deadlines and is the scenario's horizon.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/scenario.h"
#include "core/model/time.h"
#include "explore/document.h"

namespace tfyarn::explore {

/// A job as far as faults can aim at it.
struct JobSketch {
  struct Type {
    std::string name;
    std::int64_t instances = 1;
  };
  std::string name;
  std::vector<Type> types;
  std::vector<Type> named;          ///< Those of which its rules say something.
  bool ends_for_sure = false;       ///< It has `deadlines.run`.
  std::vector<std::int64_t> exits;  ///< That its rules name.
  std::vector<Duration> times;  ///< Its deadlines and the like: what lasts a little longer hurts.
};

/// A scenario as far as faults can aim at it.
struct Sketch {
  std::vector<std::string> nodes;
  std::int64_t nodes_for_ams = 0;  ///< In the default partition.
  std::vector<std::string> racks;
  bool gpus = false;                ///< Every node has some.
  std::vector<JobSketch> jobs;      ///< None: every fault is for nodes, ResourceManager or HDFS.
  std::vector<Duration> any_times;  ///< Of all jobs.
  bool healthy = false;
  bool harmless = false;  ///< Healthy, too.
};

/// A scenario that validates; a pure function of `seed`.
[[nodiscard]] Node DrawScenario(std::uint64_t seed);

/// `count` faults that hit what is there.
struct DrawnFaults {
  Node list;
  Duration ends{};   ///< The latest end of one that ends.
  Duration lasts{};  ///< Of all of them, together.
};
[[nodiscard]] DrawnFaults DrawFaults(std::uint64_t seed, const Sketch& sketch, std::int64_t count);

/// What `scenario` has to aim at: of arrivals the first job.
[[nodiscard]] Sketch SketchOf(const config::Scenario& scenario);

}  // namespace tfyarn::explore
