// The simulated world: its time, its records, and the parts that act on them, put together.
//
// Each part uses only those before it; what it needs of a later one it asks of an actor, which any
// part may step or end, or of an interface that it declares. What faults do may use all of them.
#pragma once

#include "config/scenario.h"
#include "sim/agents.h"
#include "sim/application_masters.h"
#include "sim/claims.h"
#include "sim/clients.h"
#include "sim/cluster.h"
#include "sim/fault_schedule.h"
#include "sim/hdfs_side.h"
#include "sim/kernel.h"
#include "sim/links.h"
#include "sim/message_faults.h"
#include "sim/nm_side.h"
#include "sim/rm_side.h"
#include "sim/run.h"
#include "sim/run_setup.h"
#include "sim/sabotage_desk.h"
#include "sim/trace_tap.h"
#include "sim/views.h"
#include "sim/workloads.h"

namespace tfyarn::sim {

struct World {
  World(const config::Scenario& scenario, const RunOptions& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  RunSetup setup;
  Kernel kernel;
  MessageFaults message_faults;
  Links links;
  Cluster cluster;
  PlanView plan_view;
  FaultSchedule faults;
  FaultMarks marks;
  TraceTap trace;
  SabotageDesk sabotage;
  HdfsSide hdfs;
  Workloads workloads;
  RmSide rm;
  Claims claims;
  NmSide nms;
  Agents agents;
  ApplicationMasters ams;
  CheckersView checkers_view;
  Clients clients;
};

}  // namespace tfyarn::sim
