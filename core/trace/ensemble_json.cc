#include <utility>

#include "core/trace/ensemble.h"
#include "core/trace/json.h"
#include "core/trace/json_writer.h"

namespace tfyarn::trace {
namespace {

Json SpreadJson(const Spread& spread) {
  Json json;
  json["count"] = spread.count;
  json["mean"] = spread.mean;
  json["sd"] = spread.sd;
  json["min"] = spread.min;
  json["p50"] = spread.p50;
  json["p99"] = spread.p99;
  json["max"] = spread.max;
  return json;
}

Json SpreadsJson(const Cell& cell) {
  Json json = Json::object();
  for (const auto& [name, spread] : cell.metrics) json[name] = SpreadJson(spread);
  return json;
}

Json FailedJson(const Cell& cell) {
  Json json = Json::array();
  for (const FailedRun& run : cell.failed) {
    Json row;
    row["seed"] = run.seed;
    row["exit_code"] = run.exit_code;
    row["reason"] = run.reason;
    row["replay"] = run.replay;
    json.push_back(std::move(row));
  }
  return json;
}

Json CellJson(const Cell& cell) {
  Json json;
  json["set"] = Json::object();
  for (const auto& [path, value] : cell.set) json["set"][path] = value;
  json["runs"] = cell.runs;
  json["deadlock_rate"] = cell.deadlock_rate;
  json["pass_rate"] = cell.pass_rate;
  json["metrics"] = SpreadsJson(cell);
  json["failed_runs"] = cell.failed_runs;
  json["failed"] = FailedJson(cell);
  json["expectations"] = ExpectationsJson(cell.expectations);
  return json;
}

/// False: no whole number, or none that T has. get<T>() would make some T of any number.
template <class T>
bool ReadWhole(const Json& json, T& value) {
  const auto take = [&](auto number) {
    if (!std::in_range<T>(number)) return false;
    value = static_cast<T>(number);
    return true;
  };
  if (json.is_number_unsigned()) return take(json.get<std::uint64_t>());
  return json.is_number_integer() && take(json.get<std::int64_t>());
}

}  // namespace

std::string EnsembleJson(const Ensemble& ensemble) {
  DocumentWriter out;
  out.Add("schema", "tfsim.ensemble/v1");
  out.Add("scenario", ensemble.scenario);
  out.Add("scenario_digest", HexDigest(ensemble.scenario_digest));
  out.Add("version", ensemble.version);
  out.Add("seeds", {ensemble.first_seed, ensemble.last_seed});
  out.Add("verdict", KebabName(ensemble.verdict));
  out.Add("exit_code", ensemble.exit_code);
  out.Add("reason", ensemble.reason);
  out.Add("wall_seconds", ensemble.wall_seconds);
  out.Add("runs", ensemble.all.runs);
  out.Add("deadlock_rate", ensemble.all.deadlock_rate);
  out.Add("pass_rate", ensemble.all.pass_rate);
  out.Add("metrics", SpreadsJson(ensemble.all));
  out.Add("failed_runs", ensemble.all.failed_runs);
  out.Add("failed", FailedJson(ensemble.all));
  Json expectations = ExpectationsJson(ensemble.all.expectations);
  for (Json& row : ExpectationsJson(ensemble.expectations)) expectations.push_back(std::move(row));
  out.Add("expectations", expectations);
  if (!ensemble.cells.empty()) {
    out.BeginList("cells");
    for (const Cell& cell : ensemble.cells) out.Element(CellJson(cell));
    out.EndList();
  }
  return out.Take();
}

std::string SummaryJson(const RunSummary& summary) {
  Json json;
  json["seed"] = summary.seed;
  json["verdict"] = KebabName(summary.verdict);
  json["exit_code"] = summary.exit_code;
  json["reason"] = summary.reason;
  json["digest"] = summary.digest;
  json["deadlocked"] = summary.deadlocked;
  json["simulated_seconds"] = summary.simulated_seconds;
  json["wall_seconds"] = summary.wall_seconds;
  json["events"] = summary.events;
  json["metrics"] = Json::array();
  for (const Metric& metric : summary.metrics)
    json["metrics"].push_back({metric.name, OrNull(metric.value)});
  json["expectations"] = ExpectationsJson(summary.expectations);
  return Dump(json);
}

std::optional<RunSummary> SummaryFromJson(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    RunSummary summary;
    if (!ReadWhole(json.at("seed"), summary.seed) ||
        !ReadWhole(json.at("events"), summary.events) ||
        !ReadWhole(json.at("exit_code"), summary.exit_code)) {
      return std::nullopt;
    }
    const std::optional<Verdict> verdict =
        EnumeratorFromKebab<Verdict>(json.at("verdict").get<std::string>());
    if (!verdict) return std::nullopt;
    summary.verdict = *verdict;
    summary.reason = json.at("reason").get<std::string>();
    summary.digest = json.at("digest").get<std::string>();
    summary.deadlocked = json.at("deadlocked").get<bool>();
    summary.simulated_seconds = json.at("simulated_seconds").get<double>();
    summary.wall_seconds = json.at("wall_seconds").get<double>();
    for (const Json& row : json.at("metrics")) {
      Metric metric{.name = row.at(0).get<std::string>(), .value = {}};
      if (!row.at(1).is_null()) metric.value = row.at(1).get<double>();
      summary.metrics.push_back(std::move(metric));
    }
    for (const Json& row : json.at("expectations")) {
      summary.expectations.push_back({.text = row.at("text").get<std::string>(),
                                      .passed = row.at("passed").get<bool>(),
                                      .got = row.at("got").get<std::string>()});
    }
    return summary;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tfyarn::trace
