// The kinds of actors: what each kind's machines hear and order, and what the simulator keeps of
// one such actor.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/am/application_master.h"
#include "core/client/job_client.h"
#include "core/model/elision.h"
#include "core/trace/record.h"
#include "fakes/yarn-rm/node_manager.h"
#include "fakes/yarn-rm/resource_manager.h"
#include "sim/actor.h"
#include "sim/doubles.h"
#include "sim/effects.h"
#include "sim/network.h"

namespace tfyarn::sim {

struct RmRecord {
  std::uint64_t calls = 0;                   ///< That it has served.
  std::optional<yarn::RmResponse> response;  ///< To the call that its step serves now.
};

struct NmRecord {
  std::uint64_t calls = 0;                   ///< That it has served.
  std::optional<yarn::NmResponse> response;  ///< To the call that its step serves now.
};

struct ClientRecord {
  trace::JobIndex job;
  std::optional<yarn::GetApplicationReportResponse> last_report;
  std::int32_t lost = 0;                 ///< Faults client_lost that last.
  std::set<std::uint64_t> suspended_by;  ///< Faults, by fault and instance.
};

struct AmRecord {
  trace::JobIndex job;
  ApplicationAttemptId attempt;
  std::optional<std::int32_t> resubmission;  ///< Of its application: see trace::AmTold.
  std::string staging_directory;             ///< Of its application.
  ContainerId container;
  yarn::Token token;  ///< AMRM token.
  JobState state = JobState::kSubmitted;
  std::deque<AppendJournal> appends;  ///< In order; the first is under way.
  /// What goes wrong with one of these.
  std::map<JournalSeq, const Sabotage*> damaged_appends;
  std::int32_t pauses = 0;  ///< Faults that make it stand still.
};

struct AgentRecord {
  trace::JobIndex job;
  std::string staging_directory;  ///< Of its application.
  AgentFence fence;
  std::uint32_t am = 0;  ///< Actor id of the AM that accepted it; 0 = none.
  std::int32_t port = 0;
  bool disowned =
      false;  ///< The RM has written its container off: the AM may refuse its heartbeats.
};

template <>
struct Role<fakes::ResourceManager> {
  using Event = fakes::RmEvent;
  using Action = fakes::RmAction;
  using Deadline = fakes::RmDeadlineReached;
  using Elided = void;  ///< It sends no beats.
  using Record = RmRecord;
  static constexpr auto kDouble = &Doubles::rm;
};

template <>
struct Role<fakes::NodeManager> {
  using Event = fakes::NmEvent;
  using Action = fakes::NmAction;
  using Deadline = fakes::NmDeadlineReached;
  using Elided = fakes::OwnHeartbeatsElided;
  using Record = NmRecord;
  static constexpr auto kDouble = &Doubles::nm;
};

template <>
struct Role<client::JobClient> {
  using Event = ClientEvent;
  using Action = ClientAction;
  using Deadline = DeadlineReached;
  using Elided = HeartbeatsElided;
  using Record = ClientRecord;
};

template <>
struct Role<am::ApplicationMaster> {
  using Event = AmEvent;
  using Action = AmAction;
  using Deadline = DeadlineReached;
  using Elided = HeartbeatsElided;
  using Record = AmRecord;
  static constexpr auto kDouble = &Doubles::am;
};

template <>
struct Role<agent::TaskAgent> {
  using Event = AgentEvent;
  using Action = AgentAction;
  using Deadline = DeadlineReached;
  using Elided = HeartbeatsElided;
  using Record = AgentRecord;
  static constexpr auto kDouble = &Doubles::agent;
};

using RmActor = Actor<fakes::ResourceManager>;
using NmActor = Actor<fakes::NodeManager>;
using ClientActor = Actor<client::JobClient>;
using AmActor = Actor<am::ApplicationMaster>;
using AgentActor = Actor<agent::TaskAgent>;

}  // namespace tfyarn::sim
