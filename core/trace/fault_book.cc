#include "core/trace/fault_book.h"

#include <algorithm>

namespace tfyarn::trace {
namespace {

/// How the AM of a job stands among the hurt tasks.
const TaskId kAm{.type = "", .index = 0};

}  // namespace

void FaultBook::Began(Instant now, const FaultBegan& fault) {
  if (faults_.size() >= kMaxFaults) {
    ++left_out_;
    return;
  }
  running_[{fault.fault, fault.instance}] = faults_.size();
  std::vector<Open>& open = open_[fault.target];
  std::erase_if(open, [&](const Open& o) { return o.hurt.empty() && Expired(now, faults_[o.position]); });
  open.push_back({.position = faults_.size(), .hurt = {}});
  faults_.push_back({.index = fault.fault,
                     .instance = fault.instance,
                     .kind = fault.kind,
                     .target = fault.target,
                     .at = now,
                     .ended = {},
                     .detected = {},
                     .recovered = {}});
}

void FaultBook::Ended(Instant now, const FaultEnded& fault) {
  const auto entry = running_.find({fault.fault, fault.instance});
  if (entry == running_.end()) return;
  faults_[entry->second].ended = now;
  running_.erase(entry);
}

bool FaultBook::Expired(Instant now, const FaultResult& fault) const {
  return now > fault.at + kPatience && (!fault.ended || now > *fault.ended + kPatience) &&
         !running_.contains({fault.index, fault.instance});
}

void FaultBook::ProcessFailed(Instant now, JobIndex job, const std::string& job_name, const TaskId& task,
                              const std::string& host) {
  if (faults_.empty()) return;
  Detect(now, host, job, task);
  Detect(now, job_name + "/" + ToString(task), job, task);
  Detect(now, job_name, job, task);
}

void FaultBook::AmReplaced(Instant now, JobIndex job, const std::string& job_name) {
  if (faults_.empty()) return;
  Detect(now, "am:" + job_name, job, kAm);
  Detect(now, job_name + "/am", job, kAm);
}

void FaultBook::Detect(Instant now, const std::string& target, JobIndex job, const TaskId& task) {
  const auto open = open_.find(target);
  if (open == open_.end()) return;
  for (Open& candidate : open->second) {
    FaultResult& fault = faults_[candidate.position];
    if (fault.recovered || Expired(now, fault)) continue;
    if (!fault.detected) fault.detected = now;
    candidate.hurt.emplace(job, task);
    hurt_jobs_[job].insert(target);
  }
}

template <class Predicate>
void FaultBook::Heal(Instant now, JobIndex job, Predicate healed) {
  const auto targets = hurt_jobs_.find(job);
  if (targets == hurt_jobs_.end()) return;
  std::erase_if(targets->second, [&](const std::string& target) {
    bool still_hurt = false;
    for (Open& open : open_[target]) {
      if (open.hurt.empty()) continue;
      std::erase_if(open.hurt, [&](const auto& hurt) { return hurt.first == job && healed(hurt.second); });
      if (open.hurt.empty()) faults_[open.position].recovered = now;
      still_hurt = still_hurt || std::any_of(open.hurt.begin(), open.hurt.end(),
                                             [&](const auto& hurt) { return hurt.first == job; });
    }
    return !still_hurt;
  });
  if (targets->second.empty()) hurt_jobs_.erase(targets);
}

void FaultBook::ProcessStarted(Instant now, JobIndex job, const TaskId& task, bool progressing) {
  if (progressing) Heal(now, job, [&](const TaskId& hurt) { return hurt == task; });
}

void FaultBook::JobRecovered(Instant now, JobIndex job) {
  Heal(now, job, [](const TaskId&) { return true; });
}

}  // namespace tfyarn::trace
