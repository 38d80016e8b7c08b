#include "explore/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <variant>

#include "config/emit.h"
#include "config/load.h"
#include "config/traces.h"
#include "core/model/text.h"

namespace tfyarn::explore {
namespace {

/// Of a broken expectation about a job: why it ended so says which bug it is.
std::string EndOf(const trace::JobResult& job) {
  std::string end(trace::StatusName(job.status));
  if (job.status == JobStatus::kUnfinished)
    return end + " in state " + std::string(KebabName(job.state));
  if (!job.rule.empty()) end += " by " + job.rule;
  if (job.cause) end += " after " + std::string(KebabName(job.cause->exit_class));
  return end;
}

struct Loaded {
  std::optional<config::Scenario> scenario;
  std::string error;
};

Loaded Load(const Node& document) {
  auto scenario = config::LoadScenarioText(config::EmitYaml(document), "explored.yaml");
  if (scenario) return {.scenario = std::move(*scenario), .error = ""};
  const config::Diagnostic& first = scenario.error().items.front();
  return {.scenario = std::nullopt,
          .error = fmt::format("{} (line {}: {})", first.message, first.line, first.source_line)};
}

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

struct Ran {
  trace::Result result;
  std::string circles;  ///< Why it was cut; "" = it was not, or only for its length.
  bool too_long = false;
};

Ran Run(const config::Scenario& scenario, bool elide, std::uint64_t most_events,
        const Simulate& simulate, const std::atomic<bool>* interrupt,
        sim::Coverage* coverage = nullptr) {
  std::atomic<bool> stop = interrupt != nullptr && *interrupt;
  LengthWatch watch(scenario, most_events);
  sim::RunOptions options;
  options.seed = scenario.seed;
  options.elide = elide;
  options.reference = true;
  options.interrupt = &stop;
  options.coverage = coverage;
  options.progress = [&](const sim::Progress& progress) {
    stop = watch.Look(progress) || (interrupt != nullptr && *interrupt);
  };
  trace::Result result = simulate(scenario, options).result;
  return {.result = std::move(result), .circles = watch.sentence(), .too_long = watch.too_long()};
}

// ---------------------------------------------------------------- relations

Node Reversed(Node node, std::string_view key) {
  // The order of task types and of a matrix means something.
  const bool matters = key == "tasks" || key == "matrix";
  if (node.is_map() && !matters) std::reverse(node.entries.begin(), node.entries.end());
  for (config::Entry& entry : node.entries)
    entry.value = Reversed(std::move(entry.value), entry.key);
  for (Node& item : node.items) item = Reversed(std::move(item), "");
  return node;
}

Node WithUnusedNode(Node document) {
  ListAt(MapAt(document, "cluster"), "nodes")
      .items.push_back(
          Map({{"name", Text("unused")},
               {"partition", Text("unused")},
               {"resources", Map({{"memory", Text("64GiB")}, {"vcores", Number(8)}})}}));
  ListAt(document, "faults")
      .items.push_back(Map({{"kind", Text("node_crash")},
                            {"at", Text("40s")},
                            {"target", Map({{"node", Text("unused")}})},
                            {"for", Text("2m")}}));
  return document;
}

/// Which message: one of those that end-to-end repetition must make harmless, by the document.
Node WithRepeatedMessage(Node document) {
  static const std::vector<std::string> kMessages = {
      "RegisterAgent", "ProcessRunning", "ProcessEnded",   "StartProcess",
      "StopProcess",   "ProcessSigns",   "StartContainers"};
  const std::string seed = TextAt(document, "seed");
  std::size_t choice = 0;
  std::from_chars(seed.data(), seed.data() + seed.size(), choice);
  ListAt(document, "faults")
      .items.push_back(Map({{"kind", Text("duplicate")},
                            {"at", Text("0s")},
                            {"message", Text(kMessages[choice % kMessages.size()])}}));
  return document;
}

bool HasRandomTimes(const Node& node) {
  if (node.Find("dist") != nullptr) return true;
  return std::any_of(node.entries.begin(), node.entries.end(),
                     [](const config::Entry& entry) { return HasRandomTimes(entry.value); }) ||
         std::any_of(node.items.begin(), node.items.end(), HasRandomTimes);
}

bool StrikesAnyNode(const Node& document) {
  const Node* faults = document.Find("faults");
  return faults != nullptr &&
         std::any_of(faults->items.begin(), faults->items.end(), [](const Node& fault) {
           const Node* target = fault.Find("target");
           const Node* groups = fault.Find("between");
           const bool by_lot = target != nullptr && (target->Find("random") != nullptr ||
                                                     target->Find("fraction") != nullptr ||
                                                     target->Find("rack") != nullptr);
           return by_lot || groups != nullptr || TextAt(fault, "kind") == "loss";
         });
}

/// A fault waits for a message, or for what some message brings about again: one that comes twice
/// moves it.
bool CountsMessages(const Node& document) {
  const Node* faults = document.Find("faults");
  return faults != nullptr &&
         std::any_of(faults->items.begin(), faults->items.end(), [](const Node& fault) {
           return fault.FindPath("when.message") != nullptr ||
                  fault.FindPath("when.nth") != nullptr;
         });
}

/// The first difference between the outcomes of two runs' jobs; "" when there is none.
std::string Difference(const trace::Result& left, const trace::Result& right) {
  for (std::size_t i = 0; i < left.jobs.size() && i < right.jobs.size(); ++i) {
    const trace::JobResult& a = left.jobs[i];
    const trace::JobResult& b = right.jobs[i];
    const auto say = [&](std::string_view what, const auto& one, const auto& other) {
      return fmt::format("{} of job {} is {} and not {}", what, a.name, other, one);
    };
    if (a.status != b.status)
      return say("the status", trace::StatusName(a.status), trace::StatusName(b.status));
    if (a.restarts.task + a.restarts.gang != b.restarts.task + b.restarts.gang)
      return say("the number of restarts", a.restarts.task + a.restarts.gang,
                 b.restarts.task + b.restarts.gang);
    if (a.epochs != b.epochs) return say("the number of epochs", a.epochs, b.epochs);
  }
  return "";
}

void Compare(const Experiment& experiment, const trace::Result& plain, const Simulate& simulate,
             const std::atomic<bool>* interrupt, Trial& trial) {
  const Node& document = experiment.document;
  const Relation relation = experiment.relation;
  const std::uint64_t most_events = experiment.most_events;
  Node changed = document;
  bool elide = true;
  bool same_digest = true;
  switch (relation) {
    case Relation::kNone:
      return;
    case Relation::kEveryHeartbeat:
      elide = false;
      break;
    case Relation::kKeyOrder:
      changed = Reversed(std::move(changed), "");
      break;
    case Relation::kUnusedNode:
    case Relation::kRepeatedMessage:
      // Another node or message draws its own delays, which may shift others of its sender; and
      // what strikes any node may strike the unused one.
      if (HasRandomTimes(document) || document.FindPath("cluster.network.loss") != nullptr ||
          StrikesAnyNode(document) ||
          (relation == Relation::kRepeatedMessage && CountsMessages(document)))
        return;
      changed = relation == Relation::kUnusedNode ? WithUnusedNode(std::move(changed))
                                                  : WithRepeatedMessage(std::move(changed));
      same_digest = false;
      break;
  }
  const Loaded loaded = Load(changed);
  if (!loaded.scenario) return;
  const Ran run = Run(*loaded.scenario, elide, most_events, simulate, interrupt);
  trial.events += run.result.events;
  if (!run.circles.empty() || run.too_long) return;
  const trace::Result& other = run.result;
  std::string difference = same_digest ? (plain.digest == other.digest ? "" : "another digest")
                                       : Difference(plain, other);
  if (difference.empty()) return;
  const std::string sentence = fmt::format("relation {}: {}", KebabName(relation), difference);
  trial.problems.push_back({.key = Anonymous(sentence), .sentence = sentence, .at = std::nullopt});
}

}  // namespace

std::string Anonymous(std::string_view sentence) {
  std::string key;
  bool in_number = false;
  for (const char c : sentence) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !in_number) key += '#';
    // 1m30.5s and 20s are one kind of thing.
    if (!digit && !(in_number && (c == '.' || c == 'm' || c == 's' || c == 'u'))) key += c;
    in_number = digit || (in_number && (c == '.' || c == 'm' || c == 's' || c == 'u'));
  }
  return key;
}

std::optional<config::Scenario> ScenarioOf(const Node& document) {
  return Load(document).scenario;
}

std::vector<Problem> ProblemsOf(const trace::Result& result) {
  std::vector<Problem> problems;
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations == 0 || !invariant.off_because.empty()) continue;
    std::string sentence = fmt::format("invariant {}: {}", invariant.name, invariant.first_detail);
    problems.push_back(
        {.key = Anonymous(sentence), .sentence = std::move(sentence), .at = invariant.first_at});
  }
  for (const trace::ExpectationResult& expectation : result.expectations) {
    if (expectation.passed) continue;
    std::string end;
    std::optional<Instant> at;
    for (const trace::JobResult& job : result.jobs) {
      if (expectation.text.find("job/" + job.name + ".") == std::string::npos &&
          expectation.text.find("job: " + job.name + ",") == std::string::npos)
        continue;
      end = EndOf(job);
      at = job.finished;
    }
    // How it ended says which bug it is, unless it ended as it should and something else did not.
    const bool of_status = expectation.got.find(".status") != std::string::npos;
    if (!end.empty() && !of_status) end += ", " + expectation.got;
    std::string sentence =
        fmt::format("expected {}; got {}", expectation.text, end.empty() ? expectation.got : end);
    problems.push_back(
        {.key = Anonymous(sentence), .sentence = sentence, .at = at, .expectation = true});
  }
  return problems;
}

Trial Try(const Experiment& experiment, const Laboratory& laboratory,
          const std::atomic<bool>* interrupt, sim::Coverage* coverage) {
  Trial trial;
  const Loaded loaded = Load(experiment.document);
  if (!loaded.scenario && experiment.put_together) return {.valid = false};
  if (!loaded.scenario) {
    const std::string sentence = "not a scenario: " + loaded.error;
    trial.problems.push_back(
        {.key = Anonymous(sentence), .sentence = sentence, .at = std::nullopt});
    trial.valid = false;
    return trial;
  }
  if (laboratory.accepts && !laboratory.accepts(*loaded.scenario)) {
    trial.valid = false;
    return trial;
  }
  const Simulate& simulate = laboratory.simulate;
  const Ran run =
      Run(*loaded.scenario, true, experiment.most_events, simulate, interrupt, coverage);
  const trace::Result& plain = run.result;
  trial.records = plain.records;
  trial.events = plain.events;
  if (!run.circles.empty()) {
    trial.problems.push_back(
        {.key = Anonymous(run.circles), .sentence = run.circles, .at = plain.stopped});
    return trial;
  }
  trial.problems = ProblemsOf(plain);
  if (run.too_long) {
    trial.cut_short = true;
    std::erase_if(trial.problems, [](const Problem& problem) { return problem.expectation; });
    return trial;
  }
  Compare(experiment, plain, simulate, interrupt, trial);
  return trial;
}

}  // namespace tfyarn::explore
