// Names of things: applications, containers, nodes, tasks. Strong types, ordered, with YARN's own
// text forms.
//
// Source: hadoop-yarn-api ApplicationId.java, ApplicationAttemptId.java, ContainerId.java (text
// forms).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/describe.h"
#include "core/model/error.h"

namespace tfyarn {

/// A number that does not mix with other numbers. Tag only makes the type distinct.
template <class Tag, class Rep>
struct StrongInt {
  using rep = Rep;
  Rep value{};

  constexpr StrongInt() = default;
  constexpr explicit StrongInt(Rep v) : value(v) {}
  friend constexpr auto operator<=>(const StrongInt&, const StrongInt&) = default;
  /// The one after this.
  [[nodiscard]] constexpr StrongInt next() const { return StrongInt(static_cast<Rep>(value + 1)); }
};

/// Counter of the agents of one task, from 0; one for each container the task was given.
using Incarnation = StrongInt<struct IncarnationTag, std::uint32_t>;
/// Version of the cluster spec, from 1; 0 = none yet.
using Epoch = StrongInt<struct EpochTag, std::uint32_t>;
/// One run of a task's process, from 0 over containers and epochs.
using TaskAttempt = StrongInt<struct TaskAttemptTag, std::uint32_t>;
/// Content hash of a cluster spec.
using SpecId = StrongInt<struct SpecIdTag, std::uint64_t>;
/// Random number given to one agent incarnation; a message without it is not from that agent.
using Nonce = StrongInt<struct NonceTag, std::uint64_t>;
/// Number of one call of one caller, from 1; a reply carries the number of its call.
using CallId = StrongInt<struct CallIdTag, std::uint64_t>;
/// Position of one journal entry, from 1.
using JournalSeq = StrongInt<struct JournalSeqTag, std::uint64_t>;

/// `cluster_timestamp`: start of the ResourceManager in ms since 1970 (0-based small numbers in the
/// simulator).
struct ApplicationId {
  std::int64_t cluster_timestamp = 0;
  std::int32_t id = 0;
  friend auto operator<=>(const ApplicationId&, const ApplicationId&) = default;
};
BOOST_DESCRIBE_STRUCT(ApplicationId, (), (cluster_timestamp, id))

/// One AM process of an application; `attempt` counts from 1.
struct ApplicationAttemptId {
  ApplicationId application;
  std::int32_t attempt = 0;
  friend auto operator<=>(const ApplicationAttemptId&, const ApplicationAttemptId&) = default;
};
BOOST_DESCRIBE_STRUCT(ApplicationAttemptId, (), (application, attempt))

/// `id`: epoch of the RM in the bits from 40 up, counter from 1 below.
struct ContainerId {
  ApplicationAttemptId application_attempt;
  std::int64_t id = 0;
  friend auto operator<=>(const ContainerId&, const ContainerId&) = default;
};
BOOST_DESCRIBE_STRUCT(ContainerId, (), (application_attempt, id))

/// Where the epoch of the RM begins in ContainerId::id.
inline constexpr int kContainerEpochShift = 40;

struct NodeId {
  std::string host;
  std::int32_t port = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};
BOOST_DESCRIBE_STRUCT(NodeId, (), (host, port))

/// One place in the cluster spec, "worker:1"; `index` from 0, never changes.
struct TaskId {
  std::string type;
  std::int32_t index = 0;
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
};
BOOST_DESCRIBE_STRUCT(TaskId, (), (type, index))

/// Text forms: application_<ts>_<id, 4 digits>; appattempt_<ts>_<id>_<attempt, 6 digits>;
/// container_[e<epoch>_]<ts>_<app>_<attempt, 2 digits>_<id, 6 digits>; host:port; type:index.
[[nodiscard]] std::string ToString(const ApplicationId& id);
[[nodiscard]] std::string ToString(const ApplicationAttemptId& id);
[[nodiscard]] std::string ToString(const ContainerId& id);
[[nodiscard]] std::string ToString(const NodeId& id);
[[nodiscard]] std::string ToString(const TaskId& id);

/// Errors: kInvalidArgument when `text` is not of the form above.
[[nodiscard]] Expected<ContainerId> ParseContainerId(std::string_view text);
/// "host:port"; the last colon counts, as Hadoop puts no brackets around IPv6. Errors:
/// kInvalidArgument.
[[nodiscard]] Expected<NodeId> ParseNodeId(std::string_view text);
/// "type:index". Errors: kInvalidArgument.
[[nodiscard]] Expected<TaskId> ParseTaskId(std::string_view text);

}  // namespace tfyarn
