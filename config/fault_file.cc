#include "config/fault_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/merge.h"
#include "config/names.h"
#include "config/scenario_table.h"

namespace tfyarn::config {
namespace {

/// What SIGKILL leaves as the exit status of a container whose agent it ended.
constexpr double kAgentKilled = 137;

const Record<Scenario>& FaultFileTable() {
  static const Record<Scenario> table = [] {
    Record<Scenario> record("fault file", "What goes wrong while a job runs on this machine.");
    record.Field("faults", &Scenario::faults, ListOf(Fault()), "As in a scenario.",
                 {.required = true});
    return record;
  }();
  return table;
}

bool IsReal(const std::string& kind) {
  const auto& kinds = RealFaultKinds();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// "... is for the simulator", where `name` of the fault stands.
void OnlySimulated(Decoder& decoder, const Node& node, std::string_view name,
                   std::string_view instead) {
  const Node* at = node.Find(name);
  if (at == nullptr) return;
  decoder.Error(*at, fmt::format("`{}`: {}", name, instead),
                {"`tfsim run` knows what this machine cannot do"});
}

void CheckTimes(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  OnlySimulated(decoder, node, "every", "for the simulator; here a fault strikes once");
  if (fault.when.every == std::nullopt)
    OnlySimulated(decoder, node, "per", "for the simulator; here a fault strikes once");
  for (const std::string_view moment : {"append", "message", "fault", "nth"}) {
    const Node* when = node.Find("when");
    if (when != nullptr && when->Find(moment) != nullptr)
      OnlySimulated(decoder, *when, moment, "such a moment is for the simulator; name a state");
  }
  if (!fault.when.task.empty() && fault.when.state && *fault.when.state != "registered")
    OnlySimulated(decoder, node.Nearest("when"), "state",
                  "of a task, `registered` is the only state that is seen here");
  if (fault.duration && !fault.duration->is_constant())
    OnlySimulated(decoder, node, "for", "a random length is for the simulator");
  if (fault.kind != "port_in_use") return;
  constexpr std::string_view kFirstOnly =
      "for the simulator; here the first start of a task finds its port taken";
  OnlySimulated(decoder, node, "when", kFirstOnly);
  if (fault.when.at && *fault.when.at != Duration::zero())
    OnlySimulated(decoder, node, "at", kFirstOnly);
  if (fault.numbers.at("count") != 1) OnlySimulated(decoder, node, "count", kFirstOnly);
}

void CheckTarget(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (!fault.target) return;
  if (fault.target->kind == TargetKind::kRandom || fault.target->kind == TargetKind::kFraction)
    OnlySimulated(decoder, node, "target", "random targets are for the simulator; name the tasks");
  // It is armed before any task holds a container, and a whole type is those that do.
  if (fault.kind == "port_in_use" && !SplitTask(fault.target->task).index)
    decoder.Error(node.Nearest("target"), "`target`: port_in_use happens to one task, TYPE:INDEX");
}

void CheckExit(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (fault.kind != "container_lost" || fault.numbers.at("exit") == kAgentKilled) return;
  decoder.Error(node.Nearest("exit"),
                "`exit`: a container that is lost here ends with 137, as its agent is killed",
                {"say `exit: 137`", "`tfsim run` knows what this machine cannot do"});
}

void CheckState(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (fault.kind != "hang" || fault.words.at("state") == "stopped") return;
  decoder.Error(node.Nearest("state"), "`state`: a process that hangs here is stopped by SIGSTOP",
                {"say `state: stopped`", "`tfsim run` knows what this machine cannot do"});
}

/// Whether the fault can be made real. The decoder is told what keeps it from that.
bool CheckReal(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (!IsReal(fault.kind)) {
    decoder.Error(node.Nearest("kind"),
                  fmt::format("faults of kind `{}` cannot be made real on one machine", fault.kind),
                  {fmt::format("allowed: {}", fmt::join(RealFaultKinds(), ", ")),
                   "`tfsim run` simulates the others"});
    return false;
  }
  const std::size_t before = decoder.findings().size();
  CheckTimes(decoder, node, fault);
  CheckTarget(decoder, node, fault);
  CheckExit(decoder, node, fault);
  CheckState(decoder, node, fault);
  return decoder.findings().size() == before;
}

/// `file` has been read into `draft`; the job's name and tasks are what targets may name.
void CheckFaults(Decoder& decoder, const Node& file, Scenario draft, const JobSpec& job) {
  const Node& list = file.Nearest("faults");
  for (std::size_t i = 0; i < draft.faults.size() && i < list.items.size(); ++i) {
    if (decoder.BrokenItem("faults", i)) continue;
    FaultSpec& fault = draft.faults[i];
    if (CheckReal(decoder, list.items[i], fault)) continue;
    fault.target.reset();
    fault.between.clear();
    fault.when = {};
  }
  draft.jobs.push_back({.spec = job});
  CheckTargets(decoder, file, draft);
}

}  // namespace

const std::vector<std::string>& RealFaultKinds() {
  static const std::vector<std::string> kinds = {
      "am_crash", "am_pause",    "container_signal", "container_lost", "preempt",
      "hang",     "port_in_use", "client_kill",      "hdfs_quota"};
  return kinds;
}

tl::expected<std::vector<FaultSpec>, Diagnostics> LoadRealFaults(const std::string& path,
                                                                 const JobSpec& job,
                                                                 const LoadOptions& options) {
  Sources sources;
  std::vector<Finding> findings;
  FileLoader loader(sources, options.open, findings);
  const std::optional<Node> file = loader.LoadFile(path);
  if (!file) return tl::unexpected(sources.Finish(std::move(findings)));
  Decoder decoder;
  Scenario draft;
  FaultFileTable().Read(decoder, *file, draft);
  CheckFaults(decoder, *file, draft, job);
  findings.insert(findings.end(), decoder.findings().begin(), decoder.findings().end());
  if (!findings.empty()) return tl::unexpected(sources.Finish(std::move(findings)));
  return std::move(draft.faults);
}

}  // namespace tfyarn::config
