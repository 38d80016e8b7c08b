#include "config/fault_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/fault_kinds.h"
#include "config/faults/parts.h"
#include "config/merge.h"
#include "config/scenario_table.h"

namespace tfyarn::config {
namespace {

const Record<Scenario>& FaultFileTable() {
  static const Record<Scenario> table = [] {
    Record<Scenario> record("fault file", "What goes wrong while a job runs on this machine.");
    record.Field("faults", &Scenario::faults, ListOf(Fault()), "As in a scenario.",
                 {.required = true});
    return record;
  }();
  return table;
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
}

void CheckTarget(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  if (!fault.target) return;
  if (fault.target->kind == TargetKind::kRandom || fault.target->kind == TargetKind::kFraction)
    OnlySimulated(decoder, node, "target", "random targets are for the simulator; name the tasks");
}

/// In the order of the documentation.
std::vector<std::string> RealFaultKinds() {
  std::vector<std::string> kinds;
  for (const FaultKind& kind : FaultKinds()) {
    if (kind.here.effect != RealEffect::kNone) kinds.push_back(kind.name);
  }
  return kinds;
}

/// Whether the fault can be made real. The decoder is told what keeps it from that.
bool CheckReal(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  const FaultKind* kind = FindFaultKind(fault.kind);
  if (kind == nullptr) return false;  // reported already
  if (kind->here.effect == RealEffect::kNone) {
    decoder.Error(node.Nearest("kind"),
                  fmt::format("faults of kind `{}` cannot be made real on one machine: {}",
                              fault.kind, kind->here.why_not),
                  {fmt::format("allowed: {}", fmt::join(RealFaultKinds(), ", ")),
                   "`tfsim run` simulates the others"});
    return false;
  }
  const std::size_t before = decoder.findings().size();
  CheckTimes(decoder, node, fault);
  CheckTarget(decoder, node, fault);
  if (kind->here.check != nullptr) kind->here.check(decoder, node, fault);
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
