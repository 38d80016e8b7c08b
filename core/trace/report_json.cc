// What the report draws and result.json does not have.
#include <algorithm>

#include "core/trace/json.h"
#include "core/trace/json_writer.h"

namespace tfyarn::trace {
namespace {

Json UsageJson(const UsageSeries::Points& usage) {
  Json json;
  json["unit"] = usage.gpus ? "gpus" : "vcores";
  json["bucket_seconds"] = SecondsJson(usage.width);
  json["uses"] = Json::array();
  for (const Use use : {Use::kTraining, Use::kOverhead, Use::kIncomplete, Use::kFree, Use::kDown}) {
    json["uses"].push_back(KebabName(use));
  }
  json["points"] = Json::array();
  const auto count = static_cast<std::int64_t>(usage.buckets.size());
  for (std::int64_t i = 0; i < count; ++i) {
    // The last bucket is averaged over the part of it that the run reached.
    const Instant begin{usage.width * i};
    const Duration covered = std::min<Duration>(usage.width, usage.end - begin);
    Json point = Json::array();
    for (const GpuNanos amount : usage.buckets[static_cast<std::size_t>(i)]) {
      point.push_back(static_cast<double>(amount) / static_cast<double>(covered.count()));
    }
    json["points"].push_back(std::move(point));
  }
  return json;
}

Json HistogramsJson(const std::vector<Histogram>& histograms) {
  Json json = Json::array();
  for (const Histogram& histogram : histograms) {
    json.push_back(
        {{"name", histogram.name}, {"edges", histogram.edges}, {"counts", histogram.counts}});
  }
  return json;
}

Json TimelineJson(const Timeline& timeline) {
  Json nodes = Json::array();
  for (const TimelineNode& node : timeline.nodes) {
    nodes.push_back({node.host, node.rack, node.gpus, node.vcores});
  }
  Json marks = Json::array();
  for (const TimelineMark& mark : timeline.marks) {
    marks.push_back({mark.job.value, SecondsJson(mark.at), mark.phase});
  }
  Json losses = Json::array();
  for (const TimelineLoss& loss : timeline.losses) {
    losses.push_back({loss.job.value, SecondsJson(loss.at), SecondsJson(loss.work)});
  }
  Json bars = Json::array();
  for (const ContainerBar& bar : timeline.bars) {
    bars.push_back({bar.node, ToString(bar.container), bar.job.value, bar.task, bar.gpus,
                    SecondsJson(bar.begin), SecondsJson(bar.end)});
  }
  Json outages = Json::array();
  for (const NodeOutage& outage : timeline.outages) {
    outages.push_back({outage.node, SecondsJson(outage.begin), SecondsJson(outage.end)});
  }
  Json json;
  json["node_fields"] = {"node", "rack", "gpus", "vcores"};
  json["nodes"] = std::move(nodes);
  json["mark_fields"] = {"job", "at", "phase"};
  json["marks"] = std::move(marks);
  json["loss_fields"] = {"job", "at", "work"};
  json["losses"] = std::move(losses);
  json["bar_fields"] = {"node", "container", "job", "task", "gpus", "begin", "end"};
  json["bars"] = std::move(bars);
  json["outage_fields"] = {"node", "begin", "end"};
  json["outages"] = std::move(outages);
  json["left_out"] = timeline.left_out;
  return json;
}

}  // namespace

std::string ReportJson(const Result& result) {
  Json json;
  json["usage"] = UsageJson(result.usage);
  json["histograms"] = HistogramsJson(result.histograms);
  json["timeline"] = TimelineJson(result.timeline);
  json["scenario_yaml"] = result.scenario_yaml;
  return Dump(json);
}

std::string ReportJson(const std::string& scenario_yaml) {
  Json json;
  json["scenario_yaml"] = scenario_yaml;
  return Dump(json);
}

}  // namespace tfyarn::trace
