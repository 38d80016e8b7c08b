#include "config/metric_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/diagnostics.h"
#include "config/quantity.h"
#include "config/scenario_table.h"

namespace tfyarn::config {
namespace {

std::optional<MetricKind> KindIn(Decoder& decoder, const Node& at, std::string_view what,
                                 std::string_view name, const std::vector<MetricName>& known) {
  if (const MetricName* found = FindMetric(known, name)) return found->kind;
  decoder.Unknown(at, what, name, NamesOf(known));
  return std::nullopt;
}

/// Job names have dots too: the field is the longest known one at the end.
std::optional<MetricKind> JobMetricKind(Decoder& decoder, const Node& at, std::string_view name) {
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    if (const MetricName* found = FindMetric(JobMetrics(), name.substr(dot + 1)))
      return found->kind;
  }
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    decoder.Error(at,
                  decoder.Named(fmt::format("job/{} names no field of the job", Printable(name))),
                  {"like job/a.epochs"});
    return std::nullopt;
  }
  return KindIn(decoder, at, "field of a job", name.substr(dot + 1), JobMetrics());
}

}  // namespace

std::optional<MetricKind> KindOf(Decoder& decoder, const Node& at, std::string_view metric) {
  if (metric.starts_with("job/")) return JobMetricKind(decoder, at, metric.substr(4));
  if (metric.starts_with("fault/")) {
    const std::size_t dot = metric.find('.');
    const bool field = dot != std::string_view::npos;
    return KindIn(decoder, at, "field of a fault", field ? metric.substr(dot + 1) : "",
                  FaultMetrics());
  }
  if (metric.starts_with("invariant/")) {
    const std::size_t dot = metric.find('.');
    const std::string name(metric.substr(10, dot == std::string_view::npos ? dot : dot - 10));
    const auto& known = InvariantNames();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      decoder.Unknown(at, "invariant", name, known);
      return std::nullopt;
    }
    const std::string_view field = dot == std::string_view::npos ? "" : metric.substr(dot + 1);
    if (field == "violations" || field == "checked") return MetricKind::kNumber;
    decoder.Unknown(at, "field of an invariant", field, {"violations", "checked"});
    return std::nullopt;
  }
  if (FindMetric(EnsembleMetrics(), metric) != nullptr) return MetricKind::kNumber;
  const std::size_t dot = metric.rfind('.');
  if (dot != std::string_view::npos) {
    const std::vector<std::string> figures = {"count", "mean", "sd", "min", "p50", "p99", "max"};
    if (std::find(figures.begin(), figures.end(), metric.substr(dot + 1)) != figures.end()) {
      metric = metric.substr(0, dot);
    }
  }
  if (const MetricName* found = FindMetric(RunMetrics(), metric)) return found->kind;
  auto known = NamesOf(RunMetrics());
  const auto ensemble = NamesOf(EnsembleMetrics());
  known.insert(known.end(), ensemble.begin(), ensemble.end());
  known.emplace_back("job/NAME.FIELD");
  decoder.Unknown(at, "metric", metric, known);
  return std::nullopt;
}

std::optional<double> NumberFor(std::string_view text, MetricKind kind, std::string& problem) {
  const auto number = ParseNumber(text);
  if (number) return *number;
  problem = number.error().problem;
  if (kind == MetricKind::kSeconds) {
    const auto duration = ParseDuration(text);
    if (duration) return SecondsOf(*duration);
    problem = "is neither seconds nor a duration";
  } else if (text.ends_with('%')) {
    const auto share = ParsePermille(text);
    if (share) return static_cast<double>(*share) / 1000;
    problem = share.error().problem;
  }
  return std::nullopt;
}

}  // namespace tfyarn::config
