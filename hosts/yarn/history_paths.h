// Where the history of applications is in HDFS: DIRECTORY/APPLICATION/attempt-N/FILE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/ids.h"

namespace tfyarn::hosts {

inline constexpr const char* kEventsFile = "events.jsonl";
inline constexpr const char* kResultFile = "result.json";
inline constexpr const char* kReportFile = "report.html";
inline constexpr const char* kEffectiveJobFile = "job.yaml";

/// `wanted`: the job's own; "" = below the home of `user`. Without a final slash.
[[nodiscard]] std::string HistoryDirectory(std::string wanted, const std::string& user);
[[nodiscard]] std::string AttemptDirectory(const std::string& history,
                                           const ApplicationAttemptId& attempt);
/// N of a path that ends with attempt-N; nullopt for any other.
[[nodiscard]] std::optional<std::int32_t> AttemptOf(std::string_view path);

}  // namespace tfyarn::hosts
