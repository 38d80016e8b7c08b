// Which names are allowed where: scenarios, jobs, task types, tasks, queues, resource types.
#pragma once

#include <string>
#include <string_view>

#include "config/type.h"

namespace tfyarn::config {

[[nodiscard]] bool IsDigit(char c);
[[nodiscard]] bool IsScenarioName(std::string_view text);  ///< [a-z0-9-]+
[[nodiscard]] bool IsJobName(std::string_view text);       ///< [a-z0-9][a-z0-9._-]{0,99}
[[nodiscard]] bool IsTaskType(std::string_view text);      ///< [a-z][a-z0-9_-]{0,63}
[[nodiscard]] bool IsTaskSelector(std::string_view text);  ///< A task type, or TYPE:INDEX.
[[nodiscard]] bool IsPlainName(
    std::string_view text);  ///< [A-Za-z0-9][A-Za-z0-9._-]*: racks, labels, queues' parts.
[[nodiscard]] bool IsQueuePath(std::string_view text);     ///< Plain names with dots between them.
[[nodiscard]] bool IsResourceType(std::string_view text);  ///< yarn.io/fpga: with a slash.
[[nodiscard]] bool IsEnvironmentName(std::string_view text);
[[nodiscard]] bool IsRelativePath(
    std::string_view text);  ///< Not empty, not absolute, nowhere `..`.

[[nodiscard]] Type<std::string> ScenarioName();
[[nodiscard]] Type<std::string> JobName();
[[nodiscard]] Type<std::string> TaskTypeName();
[[nodiscard]] Type<std::string> TaskSelector();
[[nodiscard]] Type<std::string> PlainName();
[[nodiscard]] Type<std::string> QueueName();
/// Text that is not empty.
[[nodiscard]] Type<std::string> SomeText();

[[nodiscard]] KeyRule TaskTypeKeys();
[[nodiscard]] KeyRule EnvironmentKeys();
[[nodiscard]] KeyRule AnyKeys();

/// "1 instance", "2 instances".
[[nodiscard]] std::string Counted(std::int64_t count, std::string_view what);

/// A type and, with TYPE:INDEX, its index.
struct SelectedTask {
  std::string type;
  std::optional<std::int32_t> index;
};
/// `text` is one that IsTaskSelector accepts.
[[nodiscard]] SelectedTask SplitTask(std::string_view text);

}  // namespace tfyarn::config
