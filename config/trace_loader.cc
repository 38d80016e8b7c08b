#include "config/trace_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "config/fault_kinds.h"
#include "config/merge.h"
#include "config/scenario_table.h"
#include "config/traces.h"

namespace tfyarn::config {
namespace {

constexpr std::string_view kSetName = "--set";

std::vector<std::string> Candidates(const std::string& from, const std::string& written,
                                    const std::string& directory) {
  std::vector<std::string> paths = {ResolvePath(from, written)};
  const std::filesystem::path path(written);
  if (!directory.empty() && path.is_relative()) {
    const std::filesystem::path base(directory);
    paths.push_back((base / path).lexically_normal().string());
    paths.push_back((base / path.filename()).lexically_normal().string());
  }
  const std::size_t plain = paths.size();
  for (std::size_t i = 0; i < plain; ++i) {
    if (!paths[i].ends_with(".xz")) paths.push_back(paths[i] + ".xz");
  }
  std::vector<std::string> unique;
  for (std::string& candidate : paths) {
    if (std::find(unique.begin(), unique.end(), candidate) == unique.end())
      unique.push_back(std::move(candidate));
  }
  return unique;
}

/// The first of the places where the trace may be that has it; nullopt and a finding when none has.
std::optional<std::string> Locate(const Sources& sources, const Node& file,
                                  const LoadOptions& options, std::vector<Finding>& findings) {
  const std::string& name = sources.name(file.place.file);
  const std::string& from = name == kSetName ? sources.name(0) : name;
  const std::vector<std::string> candidates = Candidates(from, file.text, options.trace_directory);
  std::vector<std::string> notes;
  for (const std::string& candidate : candidates) {
    const auto opened = options.open(candidate);
    if (opened) return candidate;
    const bool absent = opened.error().code == ErrorCode::kNotFound;
    notes.push_back("not at " + Printable(candidate, 200) +
                    (absent ? "" : ": " + opened.error().message));
  }
  if (!options.read_traces) return candidates[0];
  notes.emplace_back(
      "put it there, or name the directory that holds it in the environment variable TFSIM_TRACES");
  findings.push_back(
      {.place = file.place,
       .width = file.width(),
       .message = fmt::format("`file`: there is no trace `{}`", Printable(file.text)),
       .notes = std::move(notes)});
  return std::nullopt;
}

void DealQueues(const std::vector<PhillyJob>& rows, ArrivalSpec& arrival) {
  if (arrival.queues.empty()) return;
  std::map<std::string, std::int64_t> jobs;
  for (const PhillyJob& row : rows) ++jobs[row.cluster];
  std::vector<std::pair<std::string, std::int64_t>> clusters(jobs.begin(), jobs.end());
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    arrival.queue_of_cluster[clusters[i].first] = arrival.queues[i % arrival.queues.size()];
  }
}

void ReportUnreadable(const Node& file, const Error& error, std::vector<Finding>& findings) {
  findings.push_back({.place = file.place,
                      .width = file.width(),
                      .message = fmt::format("`file`: {}", Printable(error.message, 400))});
}

void LoadJobs(const Sources& sources, const Node& node, const LoadOptions& options,
              ArrivalSpec& arrival, std::vector<Finding>& findings) {
  const Node& file = node.Nearest("trace.file");
  const auto path = Locate(sources, file, options, findings);
  if (!path) return;
  arrival.trace_file = *path;
  if (!options.read_traces) return;
  auto rows = ReadPhilly(*path, arrival.limit, options.open);
  if (!rows) return ReportUnreadable(file, rows.error(), findings);
  DealQueues(*rows, arrival);
  arrival.trace_jobs = std::make_shared<const std::vector<PhillyJob>>(std::move(*rows));
}

void LoadOutages(const Sources& sources, const Node& node, const LoadOptions& options,
                 std::int64_t nodes, FaultSpec& fault, std::vector<Finding>& findings) {
  const Node& file = node.Nearest("file");
  const auto path = Locate(sources, file, options, findings);
  if (!path) return;
  fault.trace_file = *path;
  if (!options.read_traces) return;
  const auto outages = ReadLanl(*path, fault.trace_system, options.open);
  if (!outages) return ReportUnreadable(file, outages.error(), findings);
  fault.outages = std::make_shared<const std::vector<NodeOutage>>(FoldOutages(*outages, nodes));
}

}  // namespace

void LoadTraces(const Sources& sources, const Node& root, const LoadOptions& options,
                Scenario& scenario, std::vector<Finding>& findings) {
  const Node& arrivals = root.Nearest("arrivals");
  for (std::size_t i = 0; i < scenario.arrivals.size(); ++i) {
    if (scenario.arrivals[i].trace_file.empty()) continue;
    LoadJobs(sources, arrivals.items[i], options, scenario.arrivals[i], findings);
  }
  std::int64_t nodes = 0;
  for (const NodeClass& node_class : scenario.cluster.nodes) nodes += node_class.count;
  const Node& faults = root.Nearest("faults");
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultKind* kind = FindFaultKind(scenario.faults[i].kind);
    if (kind == nullptr || kind->target != FaultTarget::kRecorded) continue;
    LoadOutages(sources, faults.items[i], options, nodes, scenario.faults[i], findings);
  }
}

}  // namespace tfyarn::config
