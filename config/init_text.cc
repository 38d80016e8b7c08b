// The scenario that `tfsim init` writes.
#include "config/load.h"

namespace tfyarn::config {

std::string InitScenarioText() {
  return R"(# A first scenario: one training job on four nodes, one of which dies.
# Run it:            tfsim run FILE
# What a field means: tfsim explain gang.hold
schema: tfsim/v1
name: first
description: the node of a worker dies, and the job still succeeds
horizon: 24h

cluster:
  racks: 2                          # r1 and r2; nodes are dealt to them in turn
  nodes:
    - {name: gpu, count: 4, labels: [gpu], resources: {memory: 64GiB, vcores: 16, gpus: 4}}

jobs:
  - name: mnist
    tasks:
      chief: {instances: 1, memory: 8GiB, vcores: 2, gpus: 1}
      worker: {instances: 2, memory: 8GiB, vcores: 2, gpus: 1}
    gang: {policy: all, hold: 2m}   # no process starts before every container is there
    training:                       # what there is to do, as no real command runs here
      steps: 10000
      step_time: 100ms
      checkpoint: {every: 60s, cost: 1s}
      restore: 5s

faults:
  - {kind: node_crash, at: 400s, target: {job: mnist, task: "worker:1"}, for: 1h}

expect:
  - {job: mnist, status: SUCCEEDED}
  - {job: mnist, restarts: {gang: 1}}
  - {metric: job/mnist.lost_work_seconds, at_most: 62s}
  - {never: "job/mnist.leaked_containers > 0"}
)";
}

}  // namespace tfyarn::config
