#include "hosts/local/fault_schedule.h"

#include <algorithm>
#include <chrono>

#include "core/model/describe.h"

namespace tfyarn::hosts {
namespace {

Duration LengthOf(const config::Distribution& length) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(length.a));
}

}  // namespace

FaultSchedule::FaultSchedule(const std::vector<config::FaultSpec>& faults, Instant began)
    : faults_(faults) {
  for (std::uint32_t fault = 0; fault < faults.size(); ++fault) {
    if (faults[fault].when.state) {
      waiting_.push_back(fault);
    } else {
      due_.push({.at = began + faults[fault].when.at.value_or(Duration::zero()),
                 .strike = {.fault = fault}});
    }
  }
}

void FaultSchedule::OnJobState(Instant at, JobState state) {
  Reached(at, KebabName(state), nullptr);
}

void FaultSchedule::OnTaskRegistered(Instant at, const TaskId& task) {
  Reached(at, "registered", &task);
}

void FaultSchedule::Reached(Instant at, std::string_view state, const TaskId* task) {
  std::erase_if(waiting_, [&](std::uint32_t fault) {
    const config::FaultWhen& when = faults_[fault].when;
    const bool same_task =
        task == nullptr || when.task == task->type || when.task == ToString(*task);
    if (*when.state != state || !same_task) return false;
    due_.push({.at = at + when.after, .strike = {.fault = fault}});
    return true;
  });
}

std::optional<Instant> FaultSchedule::next_deadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.top().at;
}

std::vector<FaultStrike> FaultSchedule::Take(Instant now) {
  std::vector<FaultStrike> strikes;
  while (!due_.empty() && due_.top().at <= now) {
    const Due due = due_.top();
    due_.pop();
    strikes.push_back(due.strike);
    const auto& length = faults_[due.strike.fault].duration;
    if (!due.strike.begins || !length) continue;
    due_.push(
        {.at = due.at + LengthOf(*length), .strike = {.fault = due.strike.fault, .begins = false}});
  }
  return strikes;
}

}  // namespace tfyarn::hosts
