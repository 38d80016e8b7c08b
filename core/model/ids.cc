#include "core/model/ids.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "core/model/parse_number.h"

namespace tfyarn {
namespace {

constexpr std::int64_t kCounterMask = (std::int64_t{1} << kContainerEpochShift) - 1;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

std::string ToString(const ApplicationId& id) {
  return fmt::format("application_{}_{:04}", id.cluster_timestamp, id.id);
}

std::string ToString(const ApplicationAttemptId& id) {
  return fmt::format("appattempt_{}_{:04}_{:06}", id.application.cluster_timestamp,
                     id.application.id, id.attempt);
}

std::string ToString(const ContainerId& id) {
  const ApplicationAttemptId& attempt = id.application_attempt;
  const std::int64_t epoch = id.id >> kContainerEpochShift;
  const std::string prefix = epoch > 0 ? fmt::format("e{:02}_", epoch) : std::string();
  return fmt::format("container_{}{}_{:04}_{:02}_{:06}", prefix,
                     attempt.application.cluster_timestamp, attempt.application.id, attempt.attempt,
                     id.id & kCounterMask);
}

std::string ToString(const NodeId& id) {
  return fmt::format("{}:{}", id.host, id.port);
}

std::string ToString(const TaskId& id) {
  return fmt::format("{}:{}", id.type, id.index);
}

Expected<ContainerId> ParseContainerId(std::string_view text) {
  const auto fail = [&] {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a container id: expected "
                            "container_[e<epoch>_]<time>_<application>_<attempt>_<number>",
                            text));
  };
  std::vector<std::string_view> parts = Split(text, '_');
  if (parts.size() < 5 || parts[0] != "container") return fail();
  std::int64_t epoch = 0;
  if (parts.size() == 6) {
    if (parts[1].empty() || parts[1][0] != 'e') return fail();
    const auto value = ParseNumber<std::int64_t>(parts[1].substr(1));
    if (!value || *value < 0 || *value > 0x7fffff) return fail();
    epoch = *value;
    parts.erase(parts.begin() + 1);
  }
  if (parts.size() != 5) return fail();
  const auto timestamp = ParseNumber<std::int64_t>(parts[1]);
  const auto application = ParseNumber<std::int32_t>(parts[2]);
  const auto attempt = ParseNumber<std::int32_t>(parts[3]);
  const auto number = ParseNumber<std::int64_t>(parts[4]);
  if (!timestamp || !application || !attempt || !number || *number > kCounterMask) return fail();
  if (*timestamp < 0 || *application < 0 || *attempt < 0 || *number < 0) return fail();
  return ContainerId{
      .application_attempt = {.application = {*timestamp, *application}, .attempt = *attempt},
      .id = (epoch << kContainerEpochShift) | *number};
}

Expected<NodeId> ParseNodeId(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    if (const auto port = ParseNumber<std::int32_t>(text.substr(colon + 1)))
      return NodeId{.host = std::string(text.substr(0, colon)), .port = *port};
  }
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not a node: expected HOST:PORT", text));
}

Expected<TaskId> ParseTaskId(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a task: expected TYPE:INDEX, e.g. worker:0", text));
  }
  const auto index = ParseNumber<std::int32_t>(text.substr(colon + 1));
  if (!index || *index < 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a task: expected TYPE:INDEX, e.g. worker:0", text));
  }
  return TaskId{.type = std::string(text.substr(0, colon)), .index = *index};
}

}  // namespace tfyarn
