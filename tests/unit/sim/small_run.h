// One run of a small scenario, and what its trace shows, for tests of faults and of heartbeats.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "config/diagnostics.h"
#include "config/load.h"
#include "core/model/agent.h"
#include "core/model/am.h"
#include "core/model/time.h"
#include "core/trace/record.h"
#include "core/trace/result.h"
#include "sim/run.h"

namespace tfyarn::sim {

/// Seconds of simulated time.
using Times = std::vector<double>;

class SmallRun {
 public:
  /// Throws when the text is no scenario.
  explicit SmallRun(const std::string& text, bool elide = true,
                    const config::LoadOptions& load = {},
                    const std::optional<Future>& future = std::nullopt,
                    Coverage* coverage = nullptr) {
    const auto scenario = config::LoadScenarioText(text, "test", load);
    if (!scenario) throw std::runtime_error(config::Render(scenario.error()) + "\n" + text);
    RunOptions options{.seed = scenario->seed, .future = future, .elide = elide};
    options.coverage = coverage;
    options.sink = [this](const trace::TraceRecord& record) { records_.push_back(record); };
    result = RunScenario(*scenario, options).result;
  }

  /// When facts of this kind that fit happened.
  template <class Fact>
  [[nodiscard]] Times When(const std::function<bool(const Fact&)>& fits = {}) const {
    Times times;
    for (const trace::TraceRecord& record : records_) {
      const auto* fact = std::get_if<Fact>(&record.fact);
      if (fact != nullptr && (!fits || fits(*fact))) times.push_back(SecondsOf(record.at));
    }
    return times;
  }
  /// The same for what an AM orders, is told, an agent orders, is told.
  template <class Action>
  [[nodiscard]] Times Ordered(const std::function<bool(const Action&)>& fits = {}) const {
    return When<trace::AmOrdered>([&](const trace::AmOrdered& ordered) {
      const auto* action = std::get_if<Action>(&ordered.action);
      return action != nullptr && (!fits || fits(*action));
    });
  }
  template <class Event>
  [[nodiscard]] Times Told(const std::function<bool(const Event&)>& fits = {}) const {
    return When<trace::AmTold>([&](const trace::AmTold& told) {
      const auto* event = std::get_if<Event>(&told.event);
      return event != nullptr && (!fits || fits(*event));
    });
  }
  template <class Event>
  [[nodiscard]] Times AgentTold(const std::function<bool(const Event&)>& fits = {}) const {
    return When<trace::AgentTold>([&](const trace::AgentTold& told) {
      const auto* event = std::get_if<Event>(&told.event);
      return event != nullptr && (!fits || fits(*event));
    });
  }
  [[nodiscard]] Times Power(const std::string& host, bool up) const {
    return When<trace::NodePower>(
        [&](const trace::NodePower& power) { return power.node.host == host && power.up == up; });
  }
  [[nodiscard]] const trace::JobResult& job(std::size_t index = 0) const {
    return result.jobs.at(index);
  }
  /// From submission to the end; very long when it did not end.
  [[nodiscard]] double Took(std::size_t index = 0) const {
    const auto time = job(index).completion_time();
    return time ? std::chrono::duration<double>(*time).count() : 1e9;
  }
  [[nodiscard]] const std::vector<trace::TraceRecord>& records() const { return records_; }

  trace::Result result;

 private:
  std::vector<trace::TraceRecord> records_;
};

}  // namespace tfyarn::sim
