// What a name in an expectation stands for, and numbers as that name counts them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/decoder.h"
#include "config/metric_names.h"

namespace tfyarn::config {

/// The kind of what `metric` names; nullopt and an error at `at` when it names nothing.
[[nodiscard]] std::optional<MetricKind> KindOf(Decoder& decoder, const Node& at,
                                               std::string_view metric);

/// A number as the metric counts it: seconds may be given as a duration, shares in percent.
/// nullopt with the reason in `problem`.
[[nodiscard]] std::optional<double> NumberFor(std::string_view text, MetricKind kind,
                                              std::string& problem);

}  // namespace tfyarn::config
