// The commands of golden scripts for the AM; see tests/golden/am/README.md for what each does.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/journal/journal.h"
#include "core/model/check.h"
#include "core/model/text.h"
#include "tests/golden/am_world.h"

namespace tfyarn::am {
namespace {

[[noreturn]] void Wrong(const std::string& what) {
  throw std::invalid_argument(what);
}

std::int64_t NumberOf(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    Wrong(fmt::format("'{}' is no number", text));
  return value;
}

Duration DurationOf(std::string_view text) {
  for (const auto& [unit, length] :
       {std::pair<std::string_view, Duration>{"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}}) {
    if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) continue;
    const std::string_view number = text.substr(0, text.size() - unit.size());
    if (number.find_first_not_of("0123456789") != std::string_view::npos) continue;
    return length * NumberOf(number);
  }
  Wrong(fmt::format("'{}' is no duration", text));
}

template <DescribedEnum E>
E EnumOf(const std::string& name) {
  const auto value = EnumeratorFromKebab<E>(name);
  if (!value) Wrong(fmt::format("'{}' is not known", name));
  return *value;
}

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

TaskId TaskOf(const std::string& text) {
  const Expected<TaskId> task = ParseTaskId(text);
  if (!task) Wrong(fmt::format("'{}' is no task", text));
  return *task;
}

}  // namespace

AmWorld::AmWorld() = default;

std::string AmWorld::Do(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  printed_.clear();
  const std::string& name = words.front();
  using Command = std::function<void(const Words&)>;
  const std::map<std::string, Command> commands = {
      {"submit", [this](const Words& w) { Submit(w); }},
      {"advance", [this](const Words& w) { Advance(DurationOf(w.at(1))); }},
      {"grant", [this](const Words& w) { Grant(w); }},
      {"extra", [this](const Words& w) { Extra(w); }},
      {"register", [this](const Words& w) { Register(w); }},
      {"running", [this](const Words& w) { Running(w); }},
      {"exit", [this](const Words& w) { Exit(w); }},
      {"stopped", [this](const Words& w) { Stopped(w); }},
      {"killed", [this](const Words& w) { Stopped(w); }},
      {"ended", [this](const Words& w) { Ended(w); }},
      {"complete", [this](const Words& w) { Complete(w); }},
      {"node", [this](const Words& w) { Node(w); }},
      {"nm", [this](const Words& w) { Nm(w); }},
      {"rm", [this](const Words& w) { Rm(w); }},
      {"journal", [this](const Words& w) { JournalCommand(w); }},
      {"hdfs", [this](const Words& w) { hdfs_answers_ = w.at(1) == "on"; }},
      {"am-restart", [this](const Words& w) { RestartAm(w); }},
      {"silence", [this](const Words& w) { Silence(w); }},
      {"stale", [this](const Words& w) { Stale(w); }},
      {"address", [this](const Words& w) { Address(w); }},
      {"stalled", [this](const Words& w) { Stalled(w); }},
      {"signs", [this](const Words& w) { Signs(w); }},
      {"preempt", [this](const Words& w) { Preempt(w); }},
      {"state", [this](const Words&) { State(); }},
      {"verbose", [this](const Words& w) { verbose_ = w.at(1) == "on"; }},
  };
  const auto command = commands.find(name);
  if (command == commands.end()) Wrong(fmt::format("unknown command '{}'", name));
  command->second(words);
  return printed_;
}

// ---------------------------------------------------------------- the job

void AmWorld::Submit(const Words& words) {
  *this = AmWorld();
  job_.name = "golden";
  bool has_ps = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) Wrong("submit wants key=value");
    const std::string key = words[i].substr(0, equals);
    const std::string value = words[i].substr(equals + 1);
    const bool is_type = value.find_first_not_of("0123456789") == std::string::npos &&
                         key.find('.') == std::string::npos;
    if (!is_type) {
      SetJob(key, value);
      continue;
    }
    TaskTypeSpec type{.name = key, .instances = static_cast<std::int32_t>(NumberOf(value))};
    type.resource = {.memory_mb = 1024 * static_cast<std::int64_t>(job_.tasks.size() + 1),
                     .vcores = 1};
    job_.tasks.push_back(type);
    has_ps = has_ps || key == "ps";
  }
  if (has_ps && job_.strategy == Strategy::kMultiWorker) job_.strategy = Strategy::kParameterServer;
  if (job_.finish.drain.empty()) job_.finish.drain = {{"evaluator", 10min}, {"worker", 10s}};
  StartAm();
}

void AmWorld::SetJob(const std::string& key, const std::string& value) {
  if (key == "strategy")
    job_.strategy = EnumOf<Strategy>(value);
  else if (key == "gang")
    job_.gang.policy = EnumOf<GangPolicy>(value);
  else if (key == "gang.deadline")
    job_.gang.deadline = DurationOf(value);
  else if (key == "gang.hold")
    job_.gang.hold = DurationOf(value);
  else if (key == "policy")
    job_.policy.name = value;
  else if (key.starts_with("policy."))
    job_.policy.options[key.substr(7)] = value;
  else if (key == "retries.user")
    job_.retries.user = static_cast<std::int32_t>(NumberOf(value));
  else if (key == "retries.infrastructure")
    job_.retries.infrastructure = static_cast<std::int32_t>(NumberOf(value));
  else if (key == "retries.window")
    job_.retries.window = DurationOf(value);
  else if (key == "deadlines.registration")
    job_.deadlines.registration = DurationOf(value);
  else if (key == "deadlines.start")
    job_.deadlines.start = DurationOf(value);
  else if (key == "deadlines.run")
    job_.deadlines.run = DurationOf(value);
  else if (key == "deadlines.blame")
    job_.deadlines.blame = DurationOf(value);
  else if (key == "deadlines.stop")
    job_.deadlines.stop = DurationOf(value);
  else if (key == "drain.none")
    job_.finish.drain = {{"", Duration::zero()}};
  else if (key == "require.path")
    job_.finish.require_paths.push_back(value);
  else if (key == "depends.on") {
    // TASK/AFTER/STATE[/WITHIN/DO]
    const auto parts = SplitAt(value, '/');
    Dependency row{
        .task = parts.at(0), .after = parts.at(1), .state = EnumOf<DependencyState>(parts.at(2))};
    if (parts.size() > 3) row.within = DurationOf(parts[3]);
    if (parts.size() > 4) row.action = EnumOf<DependencyAction>(parts[4]);
    job_.depends.push_back(row);
  } else if (key == "on-exit.row") {
    // TYPE/CLASS/ACTION
    const auto parts = SplitAt(value, '/');
    job_.on_exit.push_back({.task_type = parts.at(0),
                            .classes = {EnumOf<ExitClass>(parts.at(1))},
                            .action = EnumOf<ExitAction>(parts.at(2))});
  } else if (key == "watch.do") {
    job_.watch = WatchSpec{.progress = "step", .action = EnumOf<ExitAction>(value)};
  } else {
    Wrong(fmt::format("unknown setting '{}'", key));
  }
}

// ---------------------------------------------------------------- the RM

/// Each type asks for memory of its own size.
std::string AmWorld::TypeOf(const yarn::ResourceRequest& row) const {
  for (const TaskTypeSpec& type : job_.tasks) {
    if (type.resource == row.capability) return type.name;
  }
  return ToString(row.capability);
}

yarn::Container AmWorld::MakeContainer(const yarn::ResourceRequest& row, const std::string& host) {
  yarn::Container container{
      .id = {.application_attempt = {.application = {0, 1}, .attempt = am_attempt_},
             .id = next_container_++},
      .node = {.host = host, .port = 8041},
      .resource = row.capability,
      .priority = row.priority.value_or(0),
      .allocation_request_id = row.allocation_request_id};
  alive_[container.id] = container;
  next_response_.allocated_containers.push_back(container);
  if (gives_tokens_)
    next_response_.nm_tokens.push_back({.node = container.node, .token = {.serial = 1}});
  return container;
}

/// grant [TYPE] [COUNT] [without-token] [on HOST...]: grants outstanding asks, all of them unless
/// told otherwise.
void AmWorld::Grant(const Words& words) {
  std::string type;
  std::int64_t left = INT32_MAX;
  std::vector<std::string> hosts;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "on") {
      hosts.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (words[i] == "without-token")
      gives_tokens_ = false;
    else if (words[i].find_first_not_of("0123456789") == std::string::npos)
      left = NumberOf(words[i]);
    else
      type = words[i];
  }
  NextAllocate();  // What is wanted now has been said after this.
  for (auto& [key, row] : asks_) {
    if (!type.empty() && TypeOf(row) != type) continue;
    for (; row.num_containers > 0 && left > 0; --row.num_containers, --left) {
      std::string host = fmt::format("n{}", next_host_++ % 8 + 1);
      if (!hosts.empty()) {
        host = hosts.front();
        if (hosts.size() > 1) hosts.erase(hosts.begin());
      }
      (void)MakeContainer(row, host);
    }
  }
  gives_tokens_ = true;
  NextAllocate();
}

/// extra TYPE: a container more than was asked for.
void AmWorld::Extra(const Words& words) {
  for (const auto& [key, row] : asks_) {
    if (TypeOf(row) == words.at(1)) {
      (void)MakeContainer(row, "n8");
      return NextAllocate();
    }
  }
  Wrong("that type was never asked for");
}

ContainerId AmWorld::ContainerOf(const TaskId& task) const {
  if (const auto agent = agents_.find(task); agent != agents_.end())
    return agent->second.fence.container;
  return FindTask(am_->snapshot(), task)->container;
}

/// complete TASK STATUS [TEXT...]: the RM reports the end of the task's container.
void AmWorld::Complete(const Words& words) {
  const bool again = words.at(1) == "again";
  const TaskId task = TaskOf(words.at(again ? 2 : 1));
  const std::size_t at = again ? 3 : 2;
  std::string text;
  for (std::size_t i = at + 1; i < words.size(); ++i) text += (text.empty() ? "" : " ") + words[i];
  const ContainerId id = ContainerOf(task);
  alive_.erase(id);
  next_response_.completed_containers.push_back(
      {.id = id,
       .state = yarn::ContainerState::kComplete,
       .exit_status = static_cast<std::int32_t>(NumberOf(words.at(at))),
       .diagnostics = text});
  NextAllocate();
}

/// node HOST STATE: the RM reports a node's state.
void AmWorld::Node(const Words& words) {
  next_response_.updated_nodes.push_back(
      {.node = {.host = words.at(1), .port = 8041}, .state = EnumOf<yarn::NodeState>(words.at(2))});
  NextAllocate();
}

/// preempt TASK [by-policy]: the RM announces that it takes the task's container; `by-policy`: as
/// the CapacityScheduler does, in a contract.
void AmWorld::Preempt(const Words& words) {
  auto& notices = words.size() > 2 && words[2] == "by-policy" ? next_response_.preempt_contract
                                                              : next_response_.preempt_strict;
  notices.push_back(ContainerOf(TaskOf(words.at(1))));
  NextAllocate();
}

/// rm away | back | restart: no answer; answers again; answers, but knows nothing of this attempt.
void AmWorld::Rm(const Words& words) {
  if (words.at(1) == "away")
    rm_on_ = false;
  else if (words.at(1) == "back")
    rm_on_ = true;
  else if (words.at(1) == "restart") {
    rm_forgot_ = true;
    asks_.clear();
    NextAllocate();
    NextAllocate();
  } else
    Wrong("rm away | back | restart");
}

/// nm HOST ok | CODE [TEXT...]: how the host's NM answers every call.
void AmWorld::Nm(const Words& words) {
  nm_errors_.erase(words.at(1));
  if (words.at(2) == "ok") return;
  std::string text;
  for (std::size_t i = 3; i < words.size(); ++i) text += (text.empty() ? "" : " ") + words[i];
  nm_errors_[words[1]] = {.code = EnumOf<yarn::RpcErrorCode>(words[2]), .message = text};
}

// ---------------------------------------------------------------- agents

std::vector<TaskId> AmWorld::TasksOf(const Words& words, std::size_t from) const {
  std::vector<TaskId> tasks;
  for (std::size_t i = from; i < words.size(); ++i) {
    if (words[i] == "all") {
      for (const TaskSnapshot& task : am_->snapshot().tasks) {
        if (agents_.contains(task.task)) tasks.push_back(task.task);
      }
    } else {
      tasks.push_back(TaskOf(words[i]));
    }
  }
  return tasks;
}

void AmWorld::Register(const Words& words) {
  for (const TaskId& task : TasksOf(words, 1)) {
    const Agent& agent = agents_.at(task);
    RegisterAgent message{.fence = agent.fence, .address = agent.address, .running = agent.running};
    if (agent.unseen_end) {
      message.ended = agent.unseen_end->process;
      message.exit = agent.unseen_end->exit;
    }
    Say(message);
  }
}

void AmWorld::Running(const Words& words) {
  for (const TaskId& task : TasksOf(words, 1)) {
    Agent& agent = agents_.at(task);
    if (!agent.ordered) continue;
    agent.running = std::exchange(agent.ordered, std::nullopt);
    Say(ProcessRunning{.fence = agent.fence, .process = *agent.running});
  }
}

/// exit TASK CODE [oom] [port-conflict] [TEXT...] | exit TASK signal NUMBER: the task's process
/// ends.
void AmWorld::Exit(const Words& words) {
  Agent& agent = agents_.at(TaskOf(words.at(1)));
  const auto process = agent.running ? agent.running : agent.ordered;
  if (!process) Wrong("it has no process");
  ProcessEnded report{.fence = agent.fence, .process = *process};
  std::size_t at = 3;
  if (words.at(2) == "signal") {
    report.exit.signal = static_cast<std::int32_t>(NumberOf(words.at(3)));
    at = 4;
  } else if (words.at(2) == "launch-error") {
    report.exit.code = 127;
    report.launch_error = "no such program";
  } else {
    report.exit.code = static_cast<std::int32_t>(NumberOf(words.at(2)));
  }
  for (; at < words.size(); ++at) {
    if (words[at] == "oom")
      report.exit.out_of_memory = true;
    else if (words[at] == "port-conflict")
      report.port_conflict = true;
    else
      report.stderr_tail += (report.stderr_tail.empty() ? "" : " ") + words[at];
  }
  // A line ends with a bar in a script.
  std::replace(report.stderr_tail.begin(), report.stderr_tail.end(), '|', '\n');
  agent.running.reset();
  agent.ordered.reset();
  agent.unseen_end = report;
  Say(report);
}

/// stopped TASK...: processes that were ordered to stop have stopped. killed TASK...: they had to
/// be killed.
void AmWorld::Stopped(const Words& words) {
  const std::int32_t signal = words.front() == "killed" ? 9 : 15;
  for (const TaskId& task : TasksOf(words, 1)) {
    Agent& agent = agents_.at(task);
    const auto process = agent.running ? agent.running : agent.ordered;
    if (!std::exchange(agent.stop_ordered, false) || !process) continue;
    agent.running.reset();
    agent.ordered.reset();
    ProcessEnded report{.fence = agent.fence, .process = *process};
    report.exit = {.signal = signal, .stopped_by_agent = true};
    agent.unseen_end = report;
    Say(report);
  }
}

/// ended TASK...: agents that were told to end have ended, and the RM reports their containers.
void AmWorld::Ended(const Words& words) {
  bool any = false;
  for (const TaskId& task : TasksOf(words, 1)) {
    Agent& agent = agents_.at(task);
    if (!std::exchange(agent.end_ordered, false)) continue;
    any = true;
    alive_.erase(agent.fence.container);
    next_response_.completed_containers.push_back(
        {.id = agent.fence.container, .state = yarn::ContainerState::kComplete, .exit_status = 0});
  }
  if (any) NextAllocate();
}

void AmWorld::Silence(const Words& words) {
  for (const TaskId& task : TasksOf(words, 1)) {
    Step(PeerVouched{.task = task,
                     .incarnation = agents_.at(task).fence.incarnation,
                     .vouched = false,
                     .last = now_});
  }
}

/// stale TASK: the agent that the task had before says something.
void AmWorld::Stale(const Words& words) {
  const Agent& agent = former_agents_.at(TaskOf(words.at(1)));
  Say(RegisterAgent{.fence = agent.fence, .address = agent.address});
}

/// address TASK PORT: the agent leased another port.
void AmWorld::Address(const Words& words) {
  Agent& agent = agents_.at(TaskOf(words.at(1)));
  agent.address.port = static_cast<std::int32_t>(NumberOf(words.at(2)));
  Say(AddressChanged{.fence = agent.fence, .address = agent.address});
}

void AmWorld::Stalled(const Words& words) {
  const Agent& agent = agents_.at(TaskOf(words.at(1)));
  if (!agent.running) Wrong("it has no process");
  Say(ProgressStalled{.fence = agent.fence, .process = *agent.running, .silent = 10min});
}

/// signs TASK none|stopped|uninterruptible [catches-term]
void AmWorld::Signs(const Words& words) {
  const Agent& agent = agents_.at(TaskOf(words.at(1)));
  if (!agent.running) Wrong("it has no process");
  Say(ProcessSigns{.fence = agent.fence,
                   .process = *agent.running,
                   .standstill = EnumOf<Standstill>(words.at(2)),
                   .catches_term = words.size() > 3 && words[3] == "catches-term"});
}

// ---------------------------------------------------------------- AM and journal

/// journal off | on: whether appends succeed. journal taken [ATTEMPT [decides]]: another attempt
/// has read it, has written that it starts, and more. journal cut BYTES: the last bytes were never
/// written.
void AmWorld::JournalCommand(const Words& words) {
  journal_altered_ = journal_altered_ || words.at(1) == "cut" || words.size() > 2;
  if (words.at(1) == "cut") {
    const auto bytes = static_cast<std::size_t>(NumberOf(words.at(2)));
    journal_.resize(journal_.size() > bytes ? journal_.size() - bytes : 0);
    return;
  }
  journal_on_ = words.at(1) == "on";
  journal_taken_ = words.at(1) == "taken";
  if (!journal_taken_ || words.size() < 3) return;
  const auto attempt = static_cast<std::int32_t>(NumberOf(words.at(2)));
  std::vector<journal::JournalEntry> entries = {journal::AttemptStarted{.am_attempt = attempt}};
  if (words.size() > 3) entries.emplace_back(journal::TypeWaived{.task_type = "worker"});
  for (const journal::JournalEntry& entry : entries) {
    const JournalSeq next = journal::ReadJournalBytes(journal_).next_seq();
    journal_ +=
        journal::EncodeJournalFrame({.am_attempt = attempt, .heard = {}}, next, entry, false);
  }
}

/// am-restart: the AM's process is gone, and another attempt starts.
void AmWorld::RestartAm(const Words&) {
  events_.clear();
  asks_.clear();
  next_response_ = {};
  journal_entries_ = journal::ReadJournalBytes(journal_).entries.size();
  StartAm();
  NextAllocate();
}

void AmWorld::State() {
  const AmSnapshot& snapshot = am_->snapshot();
  Print(fmt::format("{} epoch {}{}", KebabName(snapshot.state), snapshot.epoch.value,
                    snapshot.waiting_for.empty() ? "" : ", waits for " + snapshot.waiting_for));
  for (const TaskSnapshot& task : snapshot.tasks) {
    Print(fmt::format(
        "  {} {} attempt {} incarnation {} restarts {}{}", ToString(task.task),
        KebabName(task.state), task.attempt.value, task.incarnation.value, task.restarts,
        task.has_container ? fmt::format(" c_{} on {}", task.container.id, task.node.host) : ""));
  }
}

}  // namespace tfyarn::am
