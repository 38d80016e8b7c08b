// The reference model: how long a process has to end.
#include <algorithm>
#include <set>

#include "core/model/text.h"
#include "oracles/verdict_model.h"

namespace tfyarn::oracles {
namespace {

/// Codes that say that a process has saved: its peers may be saving, too.
bool SaysItSaved(const Account& account) {
  static const std::set<std::int32_t> kSaved = {75, 138, 154, 193, 42, 130, 143};
  return kSaved.count(account.exit) > 0;
}

}  // namespace

/// Of a collective: which member stood still, as the AM surely knew, when another one had failed.
/// That one is the cause at once, and what is left can save nothing together. Empty also where that
/// is open.
std::optional<TaskId> ReferenceVerdict::Model::BrokenBy(const Job& job) const {
  std::optional<TaskId> standing;
  bool failed = false;
  for (const auto& [id, task] : job.tasks) {
    if (!task.in_gang) continue;
    const bool stands = task.stands_still != 0 && task.stands_still < window_ && SeemsToRun(task) &&
                        !task.IsSettled() && AnswersHang(job, task);
    if (stands) standing = id;
    for (const Account& account : task.accounts) {
      if (account.told == 0 || account.spent) continue;
      if (SaysItSaved(account)) return std::nullopt;
    }
    const Account* best = BestOf(job, task);
    failed = failed || (!stands && best != nullptr && (best->classes & ~kFailure) == 0 &&
                        MustAct(job, task, *best));
  }
  return failed ? standing : std::nullopt;
}

void ReferenceVerdict::Model::Judge(Job& job, const SendToAgent& send) {
  const auto* stop = std::get_if<StopProcess>(&send.message);
  const auto task = job.by_container.find(send.container);
  if (stop == nullptr || task == job.by_container.end()) return;
  const JobSpec& spec = *job.spec;
  const bool first = task->second->stop.said == moment_;
  const bool collective = job.policy == Policy::kDefault && spec.on_exit.empty() &&
                          spec.strategy == Strategy::kMultiWorker && task->second->in_gang;
  // Of other frameworks a handler for SIGTERM of its own has the whole time.
  if (!first || !collective || spec.framework != Framework::kTensorflow) return;
  if (job.verdict || job.kill_wanted || job.notice != 0 || job.hidden > 0) return;
  ++judged;
  // Each member of a large collective is told to end: what looks at all of them comes last.
  const bool hurries = stop->grace <= std::min(spec.deadlines.stop, spec.deadlines.stop_broken);
  if (hurries || !job.any_stood_still) return;
  window_ = job.window;
  const std::optional<TaskId> standing = BrokenBy(job);
  if (!standing) return;
  Report(job,
         fmt::format(
             "{} has {} to end, although a member stood still ({}), as its agent had told, and a "
             "peer had failed (How long a process has to end)",
             ToString(task->second->id), ToString(stop->grace), ToString(*standing)));
}

}  // namespace tfyarn::oracles
