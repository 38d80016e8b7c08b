#include "apps/cli/why_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/process_pool.h"
#include "apps/cli/progress.h"
#include "apps/cli/recorded_run.h"
#include "apps/cli/single_run.h"
#include "apps/cli/why_page.h"
#include "core/trace/sentence.h"

namespace tfyarn::cli {
namespace {

using nlohmann::ordered_json;

/// Moments whose futures are drawn at first, and each time that the turn is looked for more
/// closely.
constexpr std::size_t kAtFirst = 60;
constexpr std::size_t kMoreCloselyEach = 30;
/// Of what happened at one moment a line of the table has so many sentences.
constexpr std::size_t kSentences = 3;

/// An instant at which something happened, and how the futures went from there on.
struct Moment {
  Instant at{};
  std::vector<std::string> events;
  std::uint64_t futures = 0;  ///< 0 = none was drawn.
  std::uint64_t failed = 0;

  [[nodiscard]] bool all_failed() const { return futures > 0 && failed == futures; }
};

/// The moments of one run, the start first.
class Moments {
 public:
  Moments() { list_.push_back({.at = Instant{}, .events = {"the start"}}); }

  void Add(const trace::TraceRecord& record) {
    if (const auto* created = std::get_if<trace::JobCreated>(&record.fact))
      names_[created->job] = created->name;
    if (const auto* began = std::get_if<trace::FaultBegan>(&record.fact))
      faults_[began->fault] = began->kind;
    std::string sentence = trace::SentenceOf(record.fact);
    if (const auto* ended = std::get_if<trace::FaultEnded>(&record.fact))
      sentence = fmt::format("fault {} ends", faults_[ended->fault]);
    if (sentence.empty()) return;
    if (const std::string job = JobOf(record.fact); !job.empty()) sentence = job + ": " + sentence;
    if (record.at > list_.back().at) list_.push_back({.at = record.at});
    list_.back().events.push_back(std::move(sentence));
  }

  [[nodiscard]] std::vector<Moment> Take() { return std::move(list_); }

 private:
  [[nodiscard]] std::string JobOf(const trace::Fact& fact) const {
    trace::JobIndex job;
    if (const auto* told = std::get_if<trace::AmTold>(&fact)) {
      job = told->job;
    } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&fact)) {
      job = ordered->job;
    } else {
      return "";
    }
    const auto found = names_.find(job);
    return found == names_.end() ? "" : found->second;
  }

  std::map<trace::JobIndex, std::string> names_;
  std::map<std::uint32_t, std::string> faults_;  ///< Kinds, by position.
  std::vector<Moment> list_;
};

/// Why a run failed, in a sentence.
std::string FailureOf(const trace::Result& result) {
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations > 0 && invariant.off_because.empty())
      return fmt::format("invariant {} broke: {}", invariant.name, invariant.first_detail);
  }
  for (const trace::ExpectationResult& expectation : result.expectations) {
    if (!expectation.passed)
      return fmt::format("expected {}; got {}", expectation.text, expectation.got);
  }
  for (const trace::JobResult& job : result.jobs) {
    if (job.status != JobStatus::kSucceeded)
      return fmt::format("job {} is {}: {}", job.name, KebabName(job.status), job.diagnostics);
  }
  return "it failed";
}

/// At most `most` of the numbers in [first, last], the ends among them.
std::vector<std::size_t> Evenly(std::size_t first, std::size_t last, std::size_t most) {
  std::vector<std::size_t> numbers;
  const std::size_t count = last - first + 1;
  const std::size_t wanted = std::min(count, most);
  for (std::size_t i = 0; i < wanted; ++i)
    numbers.push_back(wanted == 1 ? first : first + i * (count - 1) / (wanted - 1));
  return numbers;
}

/// Draws futures of one scenario's run.
class Futures {
 public:
  Futures(const WhyArguments& arguments, const config::Scenario& scenario,
          const Simulator& simulator, std::uint64_t seed, const std::atomic<bool>& interrupted)
      : arguments_(arguments),
        scenario_(scenario),
        simulator_(simulator),
        seed_(seed),
        interrupted_(interrupted),
        progress_(arguments.quiet) {}

  /// False: interrupted.
  bool Draw(std::vector<Moment>& moments) {
    Probe(moments, Evenly(0, moments.size() - 1, kAtFirst));
    // Between the last moment that could go well and the first of those that could not.
    while (!interrupted_) {
      const auto [well, lost] = Turn(moments);
      if (!well || !lost || *lost - *well < 2) break;
      Probe(moments, Evenly(*well + 1, *lost - 1, kMoreCloselyEach));
    }
    progress_.Clear();
    return !interrupted_;
  }

  /// Of the moments whose futures were drawn, the last of which some go well, and the next. All
  /// futures of all later ones fail.
  static std::pair<std::optional<std::size_t>, std::optional<std::size_t>> Turn(
      const std::vector<Moment>& moments) {
    std::optional<std::size_t> lost;
    for (std::size_t i = moments.size(); i-- > 0;) {
      if (moments[i].futures == 0) continue;
      if (!moments[i].all_failed()) return {i, lost};
      lost = i;
    }
    return {std::nullopt, lost};
  }

 private:
  void Probe(std::vector<Moment>& moments, const std::vector<std::size_t>& chosen) {
    PoolOptions options{.at_once = ProcessesAtOnce(arguments_.at_once), .interrupt = &interrupted_};
    const std::uint64_t total = drawn_ + chosen.size() * arguments_.futures;
    RunInProcesses(
        chosen.size(), options,
        [&](std::size_t i) { return std::to_string(Failed(moments[chosen[i]].at)); },
        [&](std::size_t i, const ChildOutcome& outcome) {
          Moment& moment = moments[chosen[i]];
          drawn_ += arguments_.futures;
          progress_.Show({.done = drawn_, .total = total, .noun = "future"});
          if (interrupted_) return;
          moment.futures = arguments_.futures;
          const std::string& bytes = outcome.bytes;
          const bool good =
              outcome.crash.empty() &&
              std::from_chars(bytes.data(), bytes.data() + bytes.size(), moment.failed).ec ==
                  std::errc();
          if (good) return;
          moment.failed = moment.futures;
          moment.events.push_back("a future of this moment crashed: " + outcome.crash);
        });
  }

  /// How many futures from `at` on fail.
  std::uint64_t Failed(Instant at) const {
    std::uint64_t failed = 0;
    for (std::uint64_t i = 0; i < arguments_.futures && !interrupted_; ++i) {
      SingleRun run{.seed = seed_, .reference = true, .interrupt = &interrupted_};
      run.future = sim::Future{.from = at, .seed = (seed_ + 1) * 1'000'003 + i};
      failed += RunOnce(scenario_, run, simulator_).verdict == trace::Verdict::kPassed ? 0 : 1;
    }
    return failed;
  }

  const WhyArguments& arguments_;
  const config::Scenario& scenario_;
  const Simulator& simulator_;
  std::uint64_t seed_;
  const std::atomic<bool>& interrupted_;
  ProgressLine progress_;
  std::uint64_t drawn_ = 0;
};

std::string EventsOf(const Moment& moment) {
  std::string text;
  for (std::size_t i = 0; i < std::min(moment.events.size(), kSentences); ++i)
    text += (text.empty() ? "" : "; ") + moment.events[i];
  if (moment.events.size() > kSentences)
    text += fmt::format("; and {} more", moment.events.size() - kSentences);
  return text;
}

/// What the futures say, in one or two sentences.
std::string Answer(const std::vector<Moment>& moments) {
  const auto [well, lost] = Futures::Turn(moments);
  if (!well) {
    return "Every future fails from the start on: chance decides nothing here. What the scenario "
           "fixes does (its programs, its faults, its budgets), or a rule.";
  }
  if (!lost) return "It was never lost: some futures go well even from its last moment on.";
  const Moment& last = moments[*well];
  return fmt::format(
      "It could still go well after {} ({} of {} futures do): {}. It was lost at {}: {}.",
      HumanSeconds(SecondsOf(last.at)), last.futures - last.failed, last.futures, EventsOf(last),
      HumanSeconds(SecondsOf(moments[*lost].at)), EventsOf(moments[*lost]));
}

ordered_json DocumentOf(const config::Scenario& scenario, std::uint64_t seed,
                        const std::string& failure, const std::vector<Moment>& moments) {
  ordered_json document{{"schema", "tfsim.why/v1"},
                        {"scenario", scenario.name},
                        {"seed", seed},
                        {"failure", failure}};
  const auto [well, lost] = Futures::Turn(moments);
  document["answer"] = Answer(moments);
  document["could_go_well_after_seconds"] =
      well ? ordered_json(SecondsOf(moments[*well].at)) : ordered_json();
  document["lost_at_seconds"] = lost ? ordered_json(SecondsOf(moments[*lost].at)) : ordered_json();
  document["moments"] = ordered_json::array();
  for (const Moment& moment : moments) {
    if (moment.futures == 0) continue;
    document["moments"].push_back({{"at_seconds", SecondsOf(moment.at)},
                                   {"futures", moment.futures},
                                   {"failed", moment.failed},
                                   {"events", moment.events}});
  }
  return document;
}

/// One line for each moment after which the chance is another one.
std::string Table(const config::Scenario& scenario, std::uint64_t seed, const std::string& failure,
                  const std::vector<Moment>& moments) {
  std::string text = fmt::format("{}, seed {}: {}\n\n{:>10}  {:>6}  what happened\n", scenario.name,
                                 seed, failure, "after", "fails");
  const auto [well, lost] = Futures::Turn(moments);
  std::optional<std::uint64_t> shown;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const Moment& moment = moments[i];
    if (moment.futures == 0 || (shown == moment.failed && i != well && i != lost)) continue;
    shown = moment.failed;
    const double share = static_cast<double>(moment.failed) / static_cast<double>(moment.futures);
    text += fmt::format("{:>10}  {:>6}  {}\n", HumanSeconds(SecondsOf(moment.at)),
                        HumanPercent(share), EventsOf(moment));
  }
  return text + "\n" + Answer(moments) + "\n";
}

}  // namespace

int WhyCommand(const WhyArguments& given, const Simulator& simulator) {
  WhyArguments arguments = given;
  const auto recorded = SimulatedRunAt(given.input.file);
  if (!recorded) {
    Complain(recorded.error().message);
    return ToInt(ExitCode::kInvalidInput);
  }
  if (*recorded) {
    arguments.input.file = (*recorded)->scenario;
    if (!arguments.seed) arguments.seed = (*recorded)->run.seed;
  }
  const auto scenario = LoadOrExplain(arguments.input);
  if (!scenario) return ToInt(ExitCode::kInvalidInput);
  const std::atomic<bool>& interrupted = CatchInterrupts();
  const std::uint64_t seed = arguments.seed.value_or(scenario->seed);
  Moments collected;
  SingleRun run{.seed = seed, .reference = true, .interrupt = &interrupted};
  run.sink = [&](const trace::TraceRecord& record) { collected.Add(record); };
  const trace::Result result = RunOnce(*scenario, run, simulator);
  if (interrupted) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
  if (*recorded && seed == (*recorded)->run.seed && arguments.input.sets.empty() &&
      result.digest != (*recorded)->run.digest) {
    Complain(fmt::format("it is another run than that of {}, which another version of tfsim made",
                         (*recorded)->result));
  }
  if (result.verdict == trace::Verdict::kPassed) {
    const auto written = WriteStdout(TerminalText(
        fmt::format("{}, seed {}: it passes, nothing was lost; `tfsim run {} --seeds 1..200` finds "
                    "seeds that fail, and --seed takes one\n",
                    scenario->name, seed, arguments.input.file)));
    return ToInt(written ? ExitCode::kOk : ExitCode::kInternal);
  }
  std::vector<Moment> moments = collected.Take();
  if (!Futures(arguments, *scenario, simulator, seed, interrupted).Draw(moments))
    return ToInt(ExitCode::kSignalBase) + InterruptSignal();

  const std::string failure = FailureOf(result);
  const ordered_json document = DocumentOf(*scenario, seed, failure, moments);
  auto written = WriteStdout(
      arguments.json ? document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"
                     : TerminalText(Table(*scenario, seed, failure, moments)));
  if (written && !arguments.html.empty()) written = WriteFile(arguments.html, WhyPage(document));
  if (written) return ToInt(ExitCode::kOk);
  Complain(written.error().message);
  return ToInt(ExitCode::kInternal);
}

}  // namespace tfyarn::cli
