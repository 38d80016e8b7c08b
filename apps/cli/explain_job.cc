#include "apps/cli/explain_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "config/suggest.h"
#include "core/model/describe.h"
#include "core/model/port_use.h"

namespace tfyarn::cli {
namespace {

std::string At(Instant at) {
  return HumanSeconds(SecondsOf(at));
}

/// What there is on one node.
struct NodeBook {
  Resource free;
  bool up = true;
};

struct HeldContainer {
  trace::JobIndex job;
  NodeId node;
  Resource resource;
  bool am = false;
  bool launched = false;
};

/// Follows one job, and the room on the nodes, through the records up to a moment.
class JobWatch {
 public:
  explicit JobWatch(std::string name) : name_(std::move(name)) {}

  void Add(const trace::TraceRecord& record) {
    AddWorld(record.fact);
    if (const auto* created = std::get_if<trace::JobCreated>(&record.fact))
      AddJob(record.at, *created);
    if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
        ordered != nullptr && job_ && ordered->job == *job_) {
      AddAccount(record.at, ordered->action);
    }
    if (const auto* ordered = std::get_if<trace::ClientOrdered>(&record.fact);
        ordered != nullptr && job_ && ordered->job == *job_) {
      if (const auto* ended = std::get_if<JobEnded>(&ordered->action)) {
        end_ = fmt::format("{} since {}: {}", KebabName(ended->status), At(record.at),
                           ended->diagnostics);
      }
    }
  }

  [[nodiscard]] bool exists() const { return job_.has_value(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] std::string Text() const {
    if (!end_.empty()) return "  " + end_ + "\n";
    std::string text = fmt::format("  {} since {}\n  {}\n", KebabName(state_), At(since_), Waits());
    if (state_ == JobState::kSubmitted || state_ == JobState::kAllocating)
      text += "  " + Room() + "\n";
    for (const auto& [fault, what] : faults_) text += "  under way: " + what + "\n";
    for (const std::string& line : last_) text += "  " + line + "\n";
    return text;
  }

 private:
  void AddJob(Instant at, const trace::JobCreated& created) {
    names_.push_back(created.name);
    if (created.name != name_) return;
    job_ = created.job;
    tasks_ = created.tasks;
    queue_ = created.queue;
    since_ = at;
  }

  void AddWorld(const trace::Fact& fact) {
    if (const auto* node = std::get_if<trace::NodeDeclared>(&fact)) {
      NodeBook& book = nodes_[node->node];
      book.free = node->capacity;
      for (const auto& [id, held] : held_) {
        if (held.node == node->node) book.free -= held.resource;
      }
    } else if (const auto* power = std::get_if<trace::NodePower>(&fact)) {
      nodes_[power->node].up = power->up;
    } else if (const auto* granted = std::get_if<trace::ContainerGranted>(&fact)) {
      held_[granted->container] = {.job = granted->job,
                                   .node = granted->node,
                                   .resource = granted->resource,
                                   .am = granted->am};
      nodes_[granted->node].free -= granted->resource;
    } else if (const auto* freed = std::get_if<trace::ContainerFreed>(&fact)) {
      const auto found = held_.find(freed->container);
      if (found == held_.end()) return;
      nodes_[found->second.node].free += found->second.resource;
      held_.erase(found);
    } else if (const auto* launched = std::get_if<trace::ContainerLaunched>(&fact)) {
      const auto found = held_.find(launched->container);
      if (found != held_.end()) found->second.launched = true;
    } else if (const auto* began = std::get_if<trace::FaultBegan>(&fact)) {
      faults_[{began->fault, began->instance}] =
          fmt::format("{} of {}", began->kind, began->target);
    } else if (const auto* ended = std::get_if<trace::FaultEnded>(&fact)) {
      faults_.erase({ended->fault, ended->instance});
    }
  }

  void AddRestart(Instant at, const RestartDecided& restart) {
    ++restarts_;
    Remember(at, fmt::format("restart of the {} as epoch {}: {}", KebabName(restart.unit),
                             restart.epoch.value, KebabName(restart.cause.exit_class)));
  }

  void AddTakenOver(Instant at, const RestartTakenOver& over) {
    if (restarts_ < over.number) AddRestart(at, over.decided);
  }

  void AddAccount(Instant at, const AmAction& action) {
    if (const auto* changed = std::get_if<JobStateChanged>(&action)) {
      state_ = changed->state;
      since_ = at;
    } else if (const auto* nodes = std::get_if<NodesAwaited>(&action)) {
      limit_ = nodes->limit;
    } else if (const auto* released = std::get_if<GangReleased>(&action)) {
      Remember(at,
               fmt::format("an incomplete gang of {} was given back",
                           Plural(static_cast<std::uint64_t>(released->containers), "container")));
    } else if (const auto* restart = std::get_if<RestartDecided>(&action)) {
      AddRestart(at, *restart);
    } else if (const auto* over = std::get_if<RestartTakenOver>(&action)) {
      AddTakenOver(at, *over);
    } else if (const auto* port = std::get_if<PortUseFound>(&action)) {
      Remember(at, PortUseInWords(*port));
    } else if (const auto* started = std::get_if<TaskAttemptStarted>(&action)) {
      running_.insert(started->task);
    } else if (const auto* ended = std::get_if<TaskAttemptEnded>(&action)) {
      running_.erase(ended->task);
      Remember(at, fmt::format("{} ended on {}: {}", ToString(ended->task), ended->node.host,
                               KebabName(ended->exit_class)));
    } else if (const auto* verdict = std::get_if<VerdictReached>(&action)) {
      Remember(at, "verdict " + KebabName(verdict->status) + ": " + verdict->diagnostics);
    }
  }

  void Remember(Instant at, const std::string& what) {
    constexpr std::size_t kLast = 4;
    last_.push_back(fmt::format("at {}: {}", At(at), what));
    if (last_.size() > kLast) last_.erase(last_.begin());
  }

  [[nodiscard]] std::string Waits() const {
    std::int64_t held = 0, launched = 0;
    for (const auto& [id, container] : held_) {
      if (container.job != *job_ || container.am) continue;
      ++held;
      if (container.launched) ++launched;
    }
    switch (state_) {
      case JobState::kSubmitted:
        return fmt::format("waits for its ApplicationMaster to start in queue {}", queue_);
      case JobState::kAllocating:
        if (!limit_.empty()) return fmt::format("waits for nodes, and holds nothing: {}", limit_);
        return fmt::format("waits for containers: it holds {} for its {}", held,
                           Plural(static_cast<std::uint64_t>(tasks_), "task"));
      case JobState::kLaunching:
        return fmt::format("waits for NodeManagers to launch its containers: {} of {} run",
                           launched, held);
      case JobState::kRegistering:
        return fmt::format("waits for its tasks to report their addresses: {} of {} containers run",
                           launched, held);
      case JobState::kRunning:
        return fmt::format("waits for nothing but its training: {} of {} run", running_.size(),
                           Plural(static_cast<std::uint64_t>(tasks_), "task"));
      case JobState::kDraining:
        return fmt::format("waits for its last processes to end: {} left", running_.size());
      case JobState::kFinished:
        return "waits for the ResourceManager and its client to take note of the end";
    }
    return "";
  }

  [[nodiscard]] std::string Room() const {
    Resource free, most;
    std::uint64_t up = 0;
    for (const auto& [id, node] : nodes_) {
      if (!node.up) continue;
      ++up;
      free += node.free;
      const bool larger =
          std::pair(node.free.gpus, node.free.memory_mb) > std::pair(most.gpus, most.memory_mb);
      if (up == 1 || larger) most = node.free;
    }
    return fmt::format("free on {} that are up: {}; on the emptiest of them: {}",
                       Plural(up, "node"), ToString(free), ToString(most));
  }

  std::string name_;
  std::vector<std::string> names_;
  std::optional<trace::JobIndex> job_;
  std::int32_t tasks_ = 0;
  std::string queue_;
  JobState state_ = JobState::kSubmitted;
  Instant since_{};
  std::string limit_;  ///< What the nodes seen so far cannot hold; "" = they are not waited for.
  std::int32_t restarts_ = 0;  ///< That were told of.
  std::string end_;
  std::map<NodeId, NodeBook> nodes_;
  std::map<ContainerId, HeldContainer> held_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> faults_;
  std::set<TaskId> running_;
  std::vector<std::string> last_;
};

/// Names that are not there yet at that moment are names all the same.
std::vector<std::string> NamesOf(const config::Scenario& scenario, const JobWatch& watch) {
  std::vector<std::string> names = watch.names();
  for (const auto& job : scenario.jobs) {
    if (std::find(names.begin(), names.end(), job.spec.name) == names.end())
      names.push_back(job.spec.name);
  }
  return names;
}

}  // namespace

int ExplainJobCommand(const ExplainJobArguments& arguments, const Simulator& simulator) {
  const auto scenario = LoadOrExplain(arguments.input);
  if (!scenario) return ToInt(ExitCode::kInvalidInput);
  JobWatch watch(arguments.job);
  const std::atomic<bool>& interrupted = CatchInterrupts();
  std::atomic<bool> stop{false};
  sim::RunOptions options;
  options.seed = arguments.seed.value_or(scenario->seed);
  options.interrupt = &stop;
  options.sink = [&](const trace::TraceRecord& record) {
    stop = stop || interrupted || record.at.time_since_epoch() > arguments.at;
    if (!stop) watch.Add(record);
  };
  static_cast<void>(simulator.run(*scenario, options));
  if (interrupted) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
  const std::string at = At(Instant(arguments.at));
  if (watch.exists()) {
    const auto written =
        WriteStdout(TerminalText(fmt::format("job {} at {}\n{}", arguments.job, at, watch.Text())));
    if (!written) Complain(written.error().message);
    return ToInt(written ? ExitCode::kOk : ExitCode::kInternal);
  }
  for (const config::JobConfig& job : scenario->jobs) {
    if (job.spec.name != arguments.job) continue;
    Complain(fmt::format("job {} is submitted at {}: it does not exist yet at {}", arguments.job,
                         At(Instant(job.submit)), at));
    return ToInt(ExitCode::kInvalidInput);
  }
  std::string message = fmt::format("no job {} was submitted by {}", arguments.job, at);
  for (const std::string& note : config::NotesForNames(arguments.job, NamesOf(*scenario, watch)))
    message += "\n  " + note;
  Complain(message);
  return ToInt(ExitCode::kInvalidInput);
}

}  // namespace tfyarn::cli
