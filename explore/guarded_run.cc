#include "explore/guarded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/emit.h"
#include "config/load.h"
#include "config/traces.h"
#include "core/model/text.h"

namespace tfyarn::explore {
namespace {

/// All that send messages: nodes, jobs and tasks.
std::uint64_t SizeOf(const config::Scenario& scenario) {
  const auto of_job = [](const config::JobConfig& job) {
    return 1 + static_cast<std::uint64_t>(job.spec.task_count());
  };
  std::uint64_t size = 0;
  for (const config::NodeClass& node_class : scenario.cluster.nodes)
    size += static_cast<std::uint64_t>(node_class.count);
  for (const config::JobConfig& job : scenario.jobs) size += of_job(job);
  for (const config::ArrivalSpec& arrival : scenario.arrivals) {
    const std::uint64_t jobs = arrival.trace_jobs != nullptr
                                   ? arrival.trace_jobs->size()
                                   : static_cast<std::uint64_t>(arrival.count);
    size += jobs * (arrival.job != nullptr ? of_job(*arrival.job) : 1);
  }
  return size;
}

/// Sees a run that goes round in circles: so many events in so little simulated time that more than
/// heartbeats and messages of work must be among them. And one that is only long: a job that starts
/// again and again for days, with a rest before each start.
class LengthWatch {
 public:
  LengthWatch(const config::Scenario& scenario, std::uint64_t most_events)
      : window_(std::max(kLeast, SizeOf(scenario) * kInASecond)),
        usual_(SizeOf(scenario)),
        most_(most_events > 0 ? most_events : kWindows * window_) {}

  /// Whether it is to be cut.
  bool Look(const sim::Progress& progress) {
    too_long_ = progress.events > most_;
    return too_long_ || InCircles(progress);
  }

  /// "" while it goes on.
  [[nodiscard]] const std::string& sentence() const { return sentence_; }
  [[nodiscard]] bool too_long() const { return too_long_; }

 private:
  static constexpr std::uint64_t kLeast = 200'000;
  static constexpr std::uint64_t kWindows = 3;
  /// Of each node, job and task, with every heartbeat. Most have ten.
  static constexpr std::uint64_t kInASecond = 50;

  bool InCircles(const sim::Progress& progress) {
    const std::uint64_t events = progress.events - events_;
    if (events < window_) return false;
    const Duration passed = progress.now - now_;
    const auto allowed = static_cast<std::uint64_t>(passed / 1ms) * usual_ * kInASecond / 1000;
    if (events > allowed) {
      sentence_ = fmt::format("the run goes round in circles: {} events within {}", events,
                              ToString(passed));
      return true;
    }
    events_ = progress.events;
    now_ = progress.now;
    return false;
  }

  const std::uint64_t window_;
  const std::uint64_t usual_;
  const std::uint64_t most_;
  std::uint64_t events_ = 0;
  Instant now_{};
  std::string sentence_;
  bool too_long_ = false;
};

}  // namespace

Loaded Load(const Node& document) {
  auto scenario = config::LoadScenarioText(config::EmitYaml(document), "explored.yaml");
  if (scenario) return {.scenario = std::move(*scenario), .error = ""};
  const config::Diagnostic& first = scenario.error().items.front();
  return {.scenario = std::nullopt,
          .error = fmt::format("{} (line {}: {})", first.message, first.line, first.source_line)};
}

Ran GuardedRun(const config::Scenario& scenario, sim::RunOptions options, const Guard& guard) {
  const std::atomic<bool>* interrupt = guard.interrupt;
  std::atomic<bool> stop = interrupt != nullptr && *interrupt;
  LengthWatch watch(scenario, guard.most_events);
  Ran ran;
  options.reference = true;
  options.interrupt = &stop;
  options.progress = [&](const sim::Progress& progress) {
    stop = watch.Look(progress) || (interrupt != nullptr && *interrupt);
  };
  if (options.tally)
    options.sink = [&](const trace::TraceRecord& record) { ran.record.Observe(record); };
  sim::RunOutcome outcome = guard.simulate(scenario, options);
  ran.record.result = std::move(outcome.result);
  ran.record.tallies = std::move(outcome.tallies);
  ran.circles = watch.sentence();
  ran.too_long = watch.too_long();
  return ran;
}

}  // namespace tfyarn::explore
