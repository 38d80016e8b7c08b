// The processes of a simulated cluster as the host keeps them: one actor per machine instance, with
// its place, its timer and its periodic link.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/am/application_master.h"
#include "core/client/job_client.h"
#include "core/trace/record.h"
#include "fakes/yarn-rm/node_manager.h"
#include "sim/effects.h"
#include "sim/network.h"
#include "sim/workload.h"

namespace tfyarn::sim {

enum class ActorKind : std::uint8_t { kRm, kNm, kClient, kAm, kAgent };

/// The periodic link of a sender: an AM's allocate, an agent's heartbeat, a client's poll, a NM's
/// heartbeat.
///
/// `sent` counts beats the sender believes to have sent, `seen` those the receiver has been told
/// of; the difference is what the receiver still has to hear of as elided.
struct Beat {
  Duration period{};
  Duration round_trip{};
  std::optional<Instant> last_sent;  ///< Nothing is elided before the first.
  std::optional<std::uint64_t>
      awaited;         ///< Number of the latest call sent for real, while its answer is under way.
  bool late = false;   ///< The latest answer came later than after a round trip.
  bool clean = false;  ///< Nothing disturbs the link: idle beats may be skipped.
  bool vouched = false;  ///< The receiver was told so.
  std::uint64_t sent = 0;
  std::uint64_t seen = 0;
  Instant forced = kNever;  ///< The receiver has news for the beat at this instant.
};

struct Actor {
  Actor(ActorKind k, std::uint32_t i, Place p) : kind(k), id(i), place(p) {}
  virtual ~Actor() = default;

  ActorKind kind;
  std::uint32_t id;
  Place place;
  bool alive = true;
  bool paused = false;
  Instant scheduled = kNever;  ///< Earliest timer event of this actor in the queue.
  Beat beat;
};

/// Stands for the RM's timer only; the machine itself is the host's.
struct RmActor : Actor {
  using Actor::Actor;
};

struct NmActor : Actor {
  using Actor::Actor;
  std::unique_ptr<fakes::NodeManager> machine;
};

struct ClientActor : Actor {
  using Actor::Actor;
  std::unique_ptr<client::JobClient> machine;
  trace::JobIndex job;
  std::optional<yarn::GetApplicationReportResponse> last_report;
  CallId last_poll;
  std::int32_t lost = 0;                 ///< Faults client_lost that last.
  std::set<std::uint64_t> suspended_by;  ///< Faults, by fault and instance.
  std::deque<ClientEvent> inbox;         ///< What arrived while it was lost, or stood still.
};

struct AmActor : Actor {
  using Actor::Actor;
  std::unique_ptr<am::ApplicationMaster> machine;
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
  std::int32_t pauses = 0;    ///< Faults that make it stand still.
  std::deque<AmEvent> inbox;  ///< What arrived while paused.
};

struct AgentActor : Actor {
  using Actor::Actor;
  std::unique_ptr<agent::TaskAgent> machine;
  trace::JobIndex job;
  std::string staging_directory;  ///< Of its application.
  AgentFence fence;
  std::uint32_t am = 0;  ///< Actor id of the AM that accepted it; 0 = none.
  std::int32_t port = 0;
  std::deque<AgentEvent> inbox;  ///< What arrived while paused.
  bool disowned =
      false;  ///< The RM has written its container off: the AM may refuse its heartbeats.
};

/// What the host knows of one container on a node, from the NM's Localize to its end.
struct ContainerRt {
  std::int32_t node = 0;
  std::uint32_t actor = 0;  ///< Its AM or agent; 0 = none yet or any more.
  trace::JobIndex job;
};

/// One job, from its submission until a minute after its end.
struct JobRt {
  trace::JobIndex index;
  std::shared_ptr<const config::JobConfig> config;
  std::shared_ptr<const JobSpec> spec;
  std::string name;
  std::uint32_t client = 0;
  std::uint32_t am = 0;            ///< Actor of the newest living AM; 0 = none.
  std::vector<std::uint32_t> ams;  ///< Actors of all that there were.
  std::vector<ApplicationId> applications;
  std::string staging_directory;
  ClusterFacts facts;
  WallTime surveyed{};  ///< When the client had the facts.
  std::unique_ptr<JobWorkload> workload;
  Instant workload_scheduled = kNever;
  std::vector<std::uint32_t> agents;  ///< Actors of its living agents.
  /// When the files that an application's containers have in common are on a node.
  std::map<std::pair<ApplicationId, Place>, Instant> localized;
  bool ended = false;
};

}  // namespace tfyarn::sim
