#include "core/trace/fault_book.h"

#include <algorithm>
#include <string_view>

namespace tfyarn::trace {
namespace {

/// How the AM of a job stands among the hurt tasks.
const TaskId kAm{.type = "", .index = 0};

/// The names that a target lists: "gpu-1, gpu-4", "r1 | am of a", "gpu-1, gpu-2 and 5 more".
std::vector<std::string> NamesIn(std::string_view target) {
  std::vector<std::string> names;
  target = target.substr(0, target.find(" and "));
  while (!target.empty()) {
    const auto comma = std::min(target.find(", "), target.find(" | "));
    names.emplace_back(target.substr(0, comma));
    if (comma == std::string_view::npos) break;
    target.remove_prefix(comma + (target[comma] == ',' ? 2 : 3));
  }
  return names;
}

}  // namespace

void FaultBook::Began(Instant now, const FaultBegan& fault) {
  if (faults_.size() >= kMaxFaults) {
    ++left_out_;
    return;
  }
  const std::size_t position = faults_.size();
  running_[{fault.fault, fault.instance}] = position;
  faults_.push_back({.index = fault.fault,
                     .instance = fault.instance,
                     .kind = fault.kind,
                     .target = fault.target,
                     .at = now,
                     .ended = {},
                     .detected = {},
                     .recovered = {}});
  for (const std::string& name : NamesIn(fault.target)) {
    std::vector<std::size_t>& positions = by_target_[name];
    std::erase_if(positions, [&](std::size_t p) { return !hurt_.contains(p) && Expired(now, p); });
    positions.push_back(position);
  }
}

void FaultBook::Ended(Instant now, const FaultEnded& fault) {
  const auto entry = running_.find({fault.fault, fault.instance});
  if (entry == running_.end()) return;
  faults_[entry->second].ended = now;
  running_.erase(entry);
}

/// One that lasts is waited for as long as it lasts.
bool FaultBook::Expired(Instant now, std::size_t position) const {
  const FaultResult& fault = faults_[position];
  return fault.recovered || (fault.ended && now > *fault.ended + kPatience);
}

void FaultBook::ProcessFailed(Instant now, JobIndex job, const std::string& job_name,
                              const TaskId& task, const std::string& host) {
  if (faults_.empty()) return;
  Detect(now, host, job, task);
  Detect(now, job_name + " " + ToString(task), job, task);
  Detect(now, job_name, job, task);
}

void FaultBook::AmReplaced(Instant now, JobIndex job, const std::string& job_name,
                           const std::string& host_before) {
  if (faults_.empty()) return;
  Detect(now, "am of " + job_name, job, kAm);
  Detect(now, host_before, job, kAm);
}

void FaultBook::Detect(Instant now, const std::string& target, JobIndex job, const TaskId& task) {
  const auto positions = by_target_.find(target);
  if (positions == by_target_.end()) return;
  for (const std::size_t position : positions->second) {
    if (Expired(now, position)) continue;
    if (!faults_[position].detected) faults_[position].detected = now;
    hurt_[position].emplace(job, task);
    hurt_jobs_[job].insert(position);
  }
}

template <class Predicate>
void FaultBook::Heal(Instant now, JobIndex job, Predicate healed) {
  const auto positions = hurt_jobs_.find(job);
  if (positions == hurt_jobs_.end()) return;
  std::erase_if(positions->second, [&](std::size_t position) {
    auto& hurt = hurt_[position];
    std::erase_if(hurt,
                  [&](const auto& entry) { return entry.first == job && healed(entry.second); });
    const bool still_hurt = std::any_of(hurt.begin(), hurt.end(),
                                        [&](const auto& entry) { return entry.first == job; });
    if (hurt.empty()) {
      faults_[position].recovered = now;
      hurt_.erase(position);
    }
    return !still_hurt;
  });
  if (positions->second.empty()) hurt_jobs_.erase(positions);
}

void FaultBook::ProcessStarted(Instant now, JobIndex job, const TaskId& task, bool progressing) {
  if (progressing) Heal(now, job, [&](const TaskId& hurt) { return hurt == task; });
}

void FaultBook::JobRecovered(Instant now, JobIndex job) {
  Heal(now, job, [](const TaskId&) { return true; });
}

}  // namespace tfyarn::trace
