// Drawing one job and its workload.
#pragma once

#include <string>

#include "explore/draw.h"
#include "explore/generator.h"

namespace tfyarn::explore {

/// Which features a scenario may have at all.
struct Swarm {
  bool two_jobs = false;
  bool queues = false;
  bool partitions = false;
  bool gpus = false;
  bool side_types = false;  ///< evaluator, tensorboard, types of the user's own.
  bool placement = false;
  bool gang = false;      ///< gang.policy, deadline, hold.
  bool policies = false;  ///< tony, tf-yarn, tfjob.
  bool on_exit = false;
  bool success = false;
  bool depends = false;
  bool finish = false;
  bool watch = false;
  bool budgets = false;
  bool deadlines = false;
  bool behavior = false;
  bool heartbeat = false;
  bool expiry = false;
  bool yarn = false;    ///< Other schedulers, attempts, restarts that preserve nothing.
  bool delays = false;  ///< Slow and random localization, launch, network, HDFS.
  [[nodiscard]] static Swarm Of(Draw& draw);
};

struct DrawnJob {
  Node document;
  JobSketch sketch;
  /// From the last fault to the end, at most.
  Duration bound{};
  /// From its start to its end where nothing goes wrong, beside what YARN and calls take.
  Duration takes{};
};

struct JobSurroundings {
  bool healthy = false;
  bool harmless = false;
  std::int64_t nodes = 1;
  bool gpus = false;
  bool partition = false;  ///< Nodes of partition `p` are there.
  std::vector<std::string> queues;
  bool contended = false;  ///< Each job has a queue of its own, and the cluster is small for both.
  Duration expiries{};     ///< Of YARN, together.
  std::vector<Duration> starts;  ///< What a container takes to start.
  Duration hold{};  ///< Containers expire soon: an incomplete gang must give them back by then.
};

[[nodiscard]] DrawnJob DrawJob(Draw& draw, const Swarm& swarm, const JobSurroundings& around,
                               const std::string& name);

}  // namespace tfyarn::explore
