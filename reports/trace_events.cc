#include "reports/trace_events.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace tfyarn::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kJobs = 1;
constexpr int kNodes = 2;
constexpr int kFaults = 3;

/// Microseconds, as the format wants them.
double Micros(Instant at) {
  return static_cast<double>(at.time_since_epoch().count()) / 1e3;
}

class Writer {
 public:
  void Name(const char* what, int process, std::int64_t thread, const std::string& name) {
    Add({{"ph", "M"},
         {"name", what},
         {"pid", process},
         {"tid", thread},
         {"args", {{"name", name}}}});
  }
  void Span(int process, std::int64_t thread, const std::string& name, Instant begin, Instant end,
            Json args) {
    Add({{"ph", "X"},
         {"name", name},
         {"pid", process},
         {"tid", thread},
         {"ts", Micros(begin)},
         {"dur", Micros(end) - Micros(begin)},
         {"args", std::move(args)}});
  }
  void Mark(int process, const std::string& name, Instant at) {
    Add({{"ph", "i"},
         {"s", "g"},
         {"name", name},
         {"pid", process},
         {"tid", 0},
         {"ts", Micros(at)}});
  }
  [[nodiscard]] std::string Take() {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + std::move(out_) + "\n]}\n";
  }

 private:
  void Add(const Json& event) {
    out_ += out_.empty() ? "\n" : ",\n";
    out_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string out_;
};

void WriteJobs(Writer& out, const trace::Result& result) {
  struct Phase {
    std::string name;
    Instant since{};
  };
  std::map<trace::JobIndex, Phase> open;
  for (const trace::TimelineMark& mark : result.timeline.marks) {
    const auto [entry, is_new] =
        open.try_emplace(mark.job, Phase{.name = mark.phase, .since = mark.at});
    if (is_new) {
      out.Name("thread_name", kJobs, mark.job.value, result.jobs.at(mark.job.value).name);
      continue;
    }
    out.Span(kJobs, mark.job.value, entry->second.name, entry->second.since, mark.at,
             Json::object());
    entry->second = {.name = mark.phase, .since = mark.at};
  }
  for (const auto& [job, phase] : open) {
    if (phase.name != "ended")
      out.Span(kJobs, job.value, phase.name, phase.since, result.stopped, Json::object());
  }
}

/// Containers of a node overlap, and spans of one track must not: each goes to the first lane that
/// is free.
void WriteNodes(Writer& out, const trace::Result& result) {
  std::map<std::string, std::vector<const trace::ContainerBar*>> by_node;
  for (const trace::ContainerBar& bar : result.timeline.bars) by_node[bar.node].push_back(&bar);
  std::int64_t next_thread = 1;
  for (auto& [node, bars] : by_node) {
    std::stable_sort(bars.begin(), bars.end(),
                     [](const auto* a, const auto* b) { return a->begin < b->begin; });
    std::vector<std::pair<Instant, std::int64_t>> lanes;
    for (const trace::ContainerBar* bar : bars) {
      auto lane = std::find_if(lanes.begin(), lanes.end(),
                               [&](const auto& l) { return l.first <= bar->begin; });
      if (lane == lanes.end()) {
        lanes.emplace_back(Instant{}, next_thread);
        lane = lanes.end() - 1;
        out.Name("thread_name", kNodes, next_thread++, node);
      }
      lane->first = bar->end;
      const std::string& job = result.jobs.at(bar->job.value).name;
      out.Span(kNodes, lane->second, job + " " + bar->task, bar->begin, bar->end,
               {{"container", ToString(bar->container)}, {"gpus", bar->gpus}});
    }
  }
  // Nodes are down at the same time, too.
  std::map<std::string, std::int64_t> outage_threads;
  for (const trace::NodeOutage& outage : result.timeline.outages) {
    const auto [entry, is_new] = outage_threads.try_emplace(outage.node, next_thread);
    if (is_new) out.Name("thread_name", kNodes, next_thread++, outage.node + " outages");
    out.Span(kNodes, entry->second, outage.node + " down", outage.begin, outage.end,
             Json::object());
  }
}

}  // namespace

std::string TraceEventsJson(const trace::Result& result) {
  Writer out;
  out.Name("process_name", kJobs, 0, "jobs");
  out.Name("process_name", kNodes, 0, "nodes");
  out.Name("process_name", kFaults, 0, "faults");
  WriteJobs(out, result);
  WriteNodes(out, result);
  for (const trace::FaultResult& fault : result.faults)
    out.Mark(kFaults, fault.kind + " " + fault.target, fault.at);
  return out.Take();
}

}  // namespace tfyarn::reports
