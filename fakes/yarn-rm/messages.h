// What the fake ResourceManager and NodeManagers are told and order.
//
// They speak YARN's records only (core/model/yarn.h) and know nothing of an ApplicationMaster's
// insides. The simulator, or a server with sockets, carries these structs. Facts for checkers and
// trace are actions too.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/describe.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn::fakes {

enum class CallerKind { kClient, kAm, kNm };
BOOST_DESCRIBE_ENUM(CallerKind, kClient, kAm, kNm)

/// Who the connection says the caller is.
struct Caller {
  CallerKind kind = CallerKind::kClient;
  std::string user;  ///< kClient.
  ApplicationAttemptId
      attempt;  ///< kAm: name in the AMRM token; for NM calls: name in the NM token.
  NodeId node;  ///< kNm.
};
BOOST_DESCRIBE_STRUCT(Caller, (), (kind, user, attempt, node))

// ---------------------------------------------------------------- ResourceManager

/// A call from a client, an AM or a NM. Answered by RmReply with the same id, in the same Step.
struct RmCall {
  std::uint64_t id = 0;
  Caller caller;
  yarn::Token token;
  yarn::RmRequest request;
};
/// Answers RmCallNm: the AM container's start.
struct NmAnswered {
  std::uint64_t id = 0;
  NodeId node;
  yarn::NmResponse response;
};
struct RmDeadlineReached {};
/// Idle allocate calls that were not delivered: the response id advances by count.
struct AmHeartbeatsElided {
  ApplicationAttemptId attempt;
  std::uint64_t count = 0;
  Instant last{};
};
struct NodeHeartbeatsElided {
  NodeId node;
  std::uint64_t count = 0;
  Instant last{};
};
/// While vouched, the AM (or NM) counts as alive; when that ends it was last heard at `last`.
struct AmVouched {
  ApplicationAttemptId attempt;
  bool vouched = false;
  Instant last{};
};
struct NodeVouched {
  NodeId node;
  bool vouched = false;
  Instant last{};
};
/// An administrator's order: node leaves (gracefully or at once), or comes back into use.
struct DecommissionNode {
  NodeId node;
  bool graceful = false;
};
struct RecommissionNode {
  NodeId node;
};
/// The scheduler takes this container: notice first when `notice` > 0, then -102.
struct PreemptContainer {
  ContainerId container;
  Duration notice{};
};

/// The RM loses what it has of that attempt's registration; the next call of its AM says so.
struct ForgetRegistration {
  ApplicationAttemptId attempt;
};
/// The AMRM token that the attempt has is too old from now on.
struct ExpireAmRmToken {
  ApplicationAttemptId attempt;
};

using RmEvent =
    std::variant<RmCall, NmAnswered, RmDeadlineReached, AmHeartbeatsElided, NodeHeartbeatsElided,
                 AmVouched, NodeVouched, DecommissionNode, RecommissionNode, PreemptContainer,
                 ForgetRegistration, ExpireAmRmToken>;

struct RmReply {
  std::uint64_t id = 0;
  yarn::RmResponse response;
};
/// The RM starts (or stops) an AM container. Answered by NmAnswered.
struct RmCallNm {
  std::uint64_t id = 0;
  NodeId node;
  Caller caller;
  yarn::Token token;
  yarn::NmRequest request;
};
/// The next allocate of that attempt would not be answered idly. Repeated news may be announced
/// again.
struct NewsForAttempt {
  ApplicationAttemptId attempt;
};
/// The next heartbeat of that node would do something: assign a container, or be answered not idly.
struct NewsForNode {
  NodeId node;
};
/// The report of that application has changed.
struct NewsForClient {
  ApplicationId application;
};
/// Facts from the RM's books.
struct Granted {
  ContainerId container;
  NodeId node;
  Resource resource;
  bool am = false;
};
/// The scheduler has the resource back.
struct Freed {
  ContainerId container;
  std::int32_t exit_status = 0;
};
struct ApplicationEnded {
  ApplicationId application;
  yarn::YarnApplicationState state = yarn::YarnApplicationState::kFinished;
  yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined;
};
struct RmNote {
  std::string text;
};

using RmAction = std::variant<RmReply, RmCallNm, NewsForAttempt, NewsForNode, NewsForClient,
                              Granted, Freed, ApplicationEnded, RmNote>;

// ---------------------------------------------------------------- NodeManager

/// The NM process starts: first event, and the first after a restart (then with what it recovered).
struct NmStarted {};
/// A call from an AM or the RM. Answered by NmReply with the same id, in the same Step.
struct NmCall {
  std::uint64_t id = 0;
  Caller caller;
  yarn::Token token;
  yarn::NmRequest request;
};
/// Answers NmCallRm; RpcError kUnavailable when no answer came.
struct RmAnswered {
  std::uint64_t id = 0;
  yarn::RmResponse response;
};
/// Answer Localize.
struct Localized {
  ContainerId container;
};
struct LocalizationFailed {
  ContainerId container;
  std::string diagnostics;
};
/// Answer Launch.
struct ProcessStarted {
  ContainerId container;
};
struct LaunchFailed {
  ContainerId container;
  std::int32_t exit_status = 0;
  std::string diagnostics;
};
/// The container's process tree is gone; status as waitpid's: 0..255 (128+n for a signal), or a
/// YARN exit that the NM's own monitors decided (-103, -104).
struct ProcessEnded {
  ContainerId container;
  std::int32_t exit_status = 0;
  std::string diagnostics;
};
struct NmDeadlineReached {};
/// As in the RM: idle heartbeats that were not sent, for the counters.
struct OwnHeartbeatsElided {
  std::uint64_t count = 0;
  Instant last{};
};
/// Changes what the node can hold: a GPU lost or back. Told to the RM by registering again.
struct CapacityChanged {
  Resource capacity;
};
/// From the node's health script.
struct HealthChanged {
  bool healthy = true;
  std::string report;
};

/// The machine's clock was set: it is now this far ahead of true time (behind when negative).
struct ClockChanged {
  Duration offset{};
};

using NmEvent = std::variant<NmStarted, NmCall, RmAnswered, Localized, LocalizationFailed,
                             ProcessStarted, LaunchFailed, ProcessEnded, NmDeadlineReached,
                             OwnHeartbeatsElided, CapacityChanged, HealthChanged, ClockChanged>;

struct NmReply {
  std::uint64_t id = 0;
  yarn::NmResponse response;
};
/// Answered by RmAnswered.
struct NmCallRm {
  std::uint64_t id = 0;
  yarn::RmRequest request;
};
/// Fetch these files for the container. Answered by Localized or LocalizationFailed.
struct Localize {
  ContainerId container;
  yarn::ContainerLaunchContext context;
};
/// Start its process. Answered by ProcessStarted or LaunchFailed, later by ProcessEnded.
struct Launch {
  ContainerId container;
  yarn::ContainerLaunchContext context;
};
/// To the container's process group.
struct SignalContainer {
  ContainerId container;
  bool kill = false;  ///< SIGKILL, else SIGTERM.
};
/// Fact: the NM has nothing of that container any more but its exit.
struct ContainerDone {
  ContainerId container;
  std::int32_t exit_status = 0;
};
struct NmNote {
  std::string text;
};

using NmAction =
    std::variant<NmReply, NmCallRm, Localize, Launch, SignalContainer, ContainerDone, NmNote>;

}  // namespace tfyarn::fakes
