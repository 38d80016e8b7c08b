#include "hosts/runtime/live_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/model/port_use.h"
#include "core/model/text.h"
#include "core/model/visit.h"
#include "core/trace/sentence.h"

namespace tfyarn::hosts {
namespace {

using nlohmann::ordered_json;

std::string Text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

LiveState::LiveState(const JobSpec& job, Instant began, LogAddress logs)
    : name_(job.name), began_(began), logs_(std::move(logs)) {
  for (const TaskTypeSpec& type : job.tasks) {
    for (std::int32_t i = 0; i < type.instances; ++i) tasks_[{.type = type.name, .index = i}] = {};
  }
}

double LiveState::Seconds(Instant at) const {
  return std::chrono::duration<double>(at - began_).count();
}

void LiveState::Say(Instant at, std::string text) {
  said_ = text;
  events_.push_back({.at = at, .text = std::move(text)});
  if (events_.size() > kMostEvents) events_.pop_front();
}

std::string LiveState::Observe(const trace::TraceRecord& record) {
  said_.clear();
  if (const auto* told = std::get_if<trace::AmTold>(&record.fact)) {
    Told(record.at, told->event);
  } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
    Ordered(record.at, ordered->action);
  } else if (std::holds_alternative<trace::FaultBegan>(record.fact)) {
    Say(record.at, trace::SentenceOf(record.fact));
  }
  return std::move(said_);
}

void LiveState::Told(Instant at, const AmEvent& event) {
  if (const auto* started = std::get_if<AmStarted>(&event)) {
    am_attempt_ = started->attempt.attempt;
    Say(at, fmt::format("AM attempt {} starts", am_attempt_));
  }
  const auto* said = std::get_if<AgentSaid>(&event);
  if (said == nullptr) return;
  const auto task = tasks_.find(FenceOf(said->message).task);
  if (task == tasks_.end()) return;
  task->second.heard = at;
  if (const auto* registered = std::get_if<RegisterAgent>(&said->message)) {
    task->second.address = ToString(registered->address);
    task->second.container = ToString(registered->fence.container);
    if (task->second.state == "waiting") task->second.state = "registered";
  } else if (const auto* changed = std::get_if<AddressChanged>(&said->message)) {
    task->second.address = ToString(changed->address);
  }
}

void LiveState::Ordered(Instant at, const AmAction& action) {
  if (std::string sentence = trace::SentenceOf(action); !sentence.empty())
    Say(at, std::move(sentence));
  std::visit(
      Overloaded{
          IgnoreAll<AmOrders>{}, Ignore<GangCompleted, GangReleased, Note>{},
          [&](const JobStateChanged& changed) { state_ = KebabName(changed.state); },
          [&](const SpecAssembled& spec) { epoch_ = spec.epoch.value; },
          [&](const TaskAttemptStarted& started) {
            LiveTask& task = tasks_[started.task];
            task.state = "running";
            task.attempt = started.process.attempt.value;
            task.epoch = started.process.epoch.value;
            task.node = started.node.host;
            task.started = at;
            task.exit.reset();
            task.exit_class.clear();
            task.port.clear();
          },
          [&](const TaskAttemptEnded& ended) {
            LiveTask& task = tasks_[ended.task];
            task.state = "ended";
            task.port.clear();
            task.attempt = ended.process.attempt.value;
            task.exit = ended.exit;
            task.exit_class = KebabName(ended.exit_class);
          },
          [&](const RestartDecided& decided) {
            ++restarts_;
            for (const TaskId& id : decided.tasks) tasks_[id].state = "restarting";
          },
          [&](const RestartTakenOver& over) { restarts_ = std::max(restarts_, over.number); },
          [&](const VerdictReached& verdict) {
            status_ = KebabName(verdict.status);
            waits_for_.clear();
            diagnostics_ = verdict.diagnostics;
          },
          [&](const NodesAwaited& nodes) {
            waits_for_ = nodes.limit.empty() ? "" : "nodes: " + nodes.limit;
          },
          [&](const PortUseFound& found) {
            tasks_[found.task].port = PortUseInBrief(found.task, found.use, found.address.port);
          }},
      action);
}

std::string LiveState::Json(Instant now) const {
  ordered_json state;
  state["name"] = name_;
  state["state"] = state_;
  state["waits_for"] = waits_for_;
  state["status"] = status_;
  state["diagnostics"] = diagnostics_;
  state["epoch"] = epoch_;
  state["restarts"] = restarts_;
  state["am_attempt"] = am_attempt_;
  state["seconds"] = Seconds(now);
  state["logs_elsewhere"] = static_cast<bool>(logs_);
  state["tasks"] = ordered_json::array();
  for (const auto& [id, task] : tasks_) {
    ordered_json row{{"task", ToString(id)},    {"state", task.state},
                     {"address", task.address}, {"container", task.container},
                     {"epoch", task.epoch},     {"exit_class", task.exit_class},
                     {"port", task.port}};
    row["attempt"] = task.attempt ? ordered_json(*task.attempt) : ordered_json();
    row["exit"] = task.exit ? ordered_json(*task.exit) : ordered_json();
    row["started"] = task.started ? ordered_json(Seconds(*task.started)) : ordered_json();
    row["heard"] = task.heard
                       ? ordered_json(std::chrono::duration<double>(now - *task.heard).count())
                       : ordered_json();
    if (logs_) row["logs"] = logs_(task);
    state["tasks"].push_back(std::move(row));
  }
  state["events"] = ordered_json::array();
  for (const LiveEvent& event : events_)
    state["events"].push_back({{"at", Seconds(event.at)}, {"text", event.text}});
  return Text(state);
}

}  // namespace tfyarn::hosts
