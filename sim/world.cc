#include "sim/world.h"

namespace tfyarn::sim {

World::World(const config::Scenario& scenario, const RunOptions& options)
    : setup(scenario, options),
      // A beat that a failing effect aims at must be there to be met.
      links(kernel, message_faults, options.elide && options.sabotage.empty()),
      cluster(scenario, options),
      plan_view(cluster),
      faults(kernel, setup, plan_view),
      marks(scenario.faults.size()),
      trace(kernel, setup, faults),
      sabotage(kernel, setup, trace),
      hdfs(kernel, setup, cluster.network, sabotage),
      workloads(kernel, cluster, trace, hdfs),
      rm(kernel, links, setup, cluster, message_faults, trace, sabotage),
      claims(kernel, setup, cluster, rm),
      nms(kernel, links, setup, cluster, marks, trace, hdfs, rm, claims),
      agents(kernel, links, setup, cluster, message_faults, marks, trace, sabotage, hdfs, workloads,
             rm, nms),
      ams(kernel, links, setup, cluster, message_faults, faults, trace, sabotage, hdfs, rm, nms,
          agents),
      checkers_view(cluster, rm.actor()),
      clients(kernel, links, setup, cluster, message_faults, faults, trace, sabotage, hdfs,
              workloads, rm, checkers_view) {}

}  // namespace tfyarn::sim
