#include "core/journal/codec.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include <array>
#include <optional>
#include <utility>

#include "core/journal/journal.pb.h"
#include "core/model/check.h"
#include "core/model/describe.h"

namespace tfyarn::journal {
namespace {

// ---------------------------------------------------------------- to bytes

std::int64_t Nanoseconds(StoredTime at) {
  return at.time_since_epoch().count();
}

void Put(const TaskId& task, v1::Task& out) {
  out.set_type(task.type);
  out.set_index(task.index);
}
void Put(const std::vector<TaskId>& tasks, google::protobuf::RepeatedPtrField<v1::Task>& out) {
  out.Reserve(static_cast<int>(tasks.size()));
  for (const TaskId& task : tasks) Put(task, *out.Add());
}
void Put(const ContainerId& container, v1::Container& out) {
  out.set_cluster_timestamp(container.application_attempt.application.cluster_timestamp);
  out.set_application(container.application_attempt.application.id);
  out.set_application_attempt(container.application_attempt.attempt);
  out.set_id(container.id);
}
void Put(const NodeId& node, v1::Node& out) {
  out.set_host(node.host);
  out.set_port(node.port);
}
void Put(const ProcessRef& process, v1::Process& out) {
  out.set_attempt(process.attempt.value);
  out.set_epoch(process.epoch.value);
}
void Put(const JournaledProcess& process, v1::TaskProcess& out) {
  Put(process.task, *out.mutable_task());
  out.set_attempt(process.attempt.value);
}
void Put(const std::vector<JournaledProcess>& processes,
         google::protobuf::RepeatedPtrField<v1::TaskProcess>& out) {
  out.Reserve(static_cast<int>(processes.size()));
  for (const JournaledProcess& process : processes) Put(process, *out.Add());
}
void Put(const JournaledCause& cause, v1::Cause& out) {
  Put(cause.task, *out.mutable_task());
  if (cause.exit) out.set_exit(*cause.exit);
  out.set_exit_class(KebabName(cause.exit_class));
  out.set_node(cause.node);
  out.set_at_ns(Nanoseconds(cause.at));
  out.set_detail(cause.detail);
}
void Put(const policy::ExitEvidence& evidence, v1::Evidence& out) {
  if (evidence.process) {
    v1::Exit& exit = *out.mutable_process();
    if (evidence.process->code) exit.set_code(*evidence.process->code);
    if (evidence.process->signal) exit.set_signal(*evidence.process->signal);
    exit.set_out_of_memory(evidence.process->out_of_memory);
    exit.set_stopped_by_agent(evidence.process->stopped_by_agent);
  }
  if (evidence.yarn_exit) out.set_yarn_exit(*evidence.yarn_exit);
  out.set_diagnostics(evidence.diagnostics);
  out.set_we_stopped(evidence.we_stopped);
  out.set_node_lost(evidence.node_lost);
  out.set_marked(evidence.marked);
  out.set_silent(evidence.silent);
  out.set_port_conflict(evidence.port_conflict);
  out.set_launch_error(evidence.launch_error);
  out.set_timed_out(evidence.timed_out);
  out.set_am_lost(evidence.am_lost);
}

struct Writer {
  v1::Entry& out;

  void operator()(const AttemptStarted& entry) const {
    auto& to = *out.mutable_attempt_started();
    to.set_am_attempt(entry.am_attempt);
    to.set_at_ns(Nanoseconds(entry.at));
  }
  void operator()(const AgentsLaunched& entry) const {
    auto& to = *out.mutable_agents_launched();
    to.set_at_ns(Nanoseconds(entry.at));
    to.mutable_agents()->Reserve(static_cast<int>(entry.agents.size()));
    for (const JournaledAgent& agent : entry.agents) {
      v1::Agent& one = *to.add_agents();
      Put(agent.task, *one.mutable_task());
      one.set_incarnation(agent.incarnation.value);
      one.set_nonce(agent.nonce.value);
      Put(agent.container, *one.mutable_container());
      Put(agent.node, *one.mutable_node());
    }
  }
  void operator()(const EpochBegan& entry) const {
    auto& to = *out.mutable_epoch_began();
    to.set_at_ns(Nanoseconds(entry.at));
    to.set_epoch(entry.spec.epoch.value);
    for (const auto& [name, addresses] : entry.spec.tasks) {
      v1::TaskType& type = *to.add_spec();
      type.set_name(name);
      type.mutable_addresses()->Reserve(static_cast<int>(addresses.size()));
      for (const HostPort& address : addresses) {
        v1::Node& node = *type.add_addresses();
        node.set_host(address.host);
        node.set_port(address.port);
      }
    }
    Put(entry.processes, *to.mutable_processes());
  }
  void operator()(const ProcessesOrdered& entry) const {
    auto& to = *out.mutable_processes_ordered();
    to.set_at_ns(Nanoseconds(entry.at));
    to.set_epoch(entry.epoch.value);
    Put(entry.processes, *to.mutable_processes());
  }
  void operator()(const AllRunning& entry) const {
    out.mutable_all_running()->set_at_ns(Nanoseconds(entry.at));
  }
  void operator()(const RestartPaid& entry) const {
    auto& to = *out.mutable_restart_paid();
    to.set_budget(KebabName(entry.budget));
    to.set_at_ns(Nanoseconds(entry.at));
    to.set_unit(KebabName(entry.unit));
    Put(entry.tasks, *to.mutable_tasks());
    Put(entry.replaced, *to.mutable_replaced());
    to.set_epoch_rises(entry.epoch_rises);
    to.set_processes(entry.processes);
    Put(entry.cause, *to.mutable_cause());
    to.set_rule(entry.rule);
    to.set_has_victims(entry.has_victims);
    if (entry.excused_by) Put(*entry.excused_by, *to.mutable_excused_by());
  }
  void operator()(const TaskEnded& entry) const {
    auto& to = *out.mutable_task_ended();
    Put(entry.task, *to.mutable_task());
    Put(entry.process, *to.mutable_process());
    if (entry.exit) to.set_exit(*entry.exit);
    to.set_exit_class(KebabName(entry.exit_class));
    to.set_outcome(KebabName(entry.outcome));
    to.set_at_ns(Nanoseconds(entry.at));
    to.set_node(entry.node);
    to.set_detail(entry.detail);
    if (entry.unpaid_by) to.set_unpaid_by(*entry.unpaid_by);
    to.set_restarts(entry.restarts);
  }
  void operator()(const FailureSeen& entry) const {
    auto& to = *out.mutable_failure_seen();
    Put(entry.task, *to.mutable_task());
    Put(entry.process, *to.mutable_process());
    Put(entry.container, *to.mutable_container());
    Put(entry.node, *to.mutable_node());
    Put(entry.evidence, *to.mutable_evidence());
    to.set_detail(entry.detail);
    to.set_blamed(entry.blamed);
    to.set_container_alive(entry.container_alive);
    Put(entry.stopped, *to.mutable_stopped());
    to.set_at_ns(Nanoseconds(entry.at));
  }
  void operator()(const TypeWaived& entry) const {
    out.mutable_type_waived()->set_task_type(entry.task_type);
  }
  void operator()(const MemoryRaised& entry) const {
    auto& to = *out.mutable_memory_raised();
    Put(entry.task, *to.mutable_task());
    to.set_memory_mb(entry.memory_mb);
    to.set_attempt(entry.attempt.value);
  }
  void operator()(const VerdictDecided& entry) const {
    auto& to = *out.mutable_verdict_decided();
    to.set_status(KebabName(entry.status));
    to.set_diagnostics(entry.diagnostics);
    if (entry.cause) Put(*entry.cause, *to.mutable_cause());
    to.set_rule(entry.rule);
    to.set_at_ns(Nanoseconds(entry.at));
  }
  void operator()(const HostsKeptOff& entry) const {
    auto& to = *out.mutable_hosts_kept_off();
    for (const std::string& host : entry.hosts) to.add_hosts(host);
  }
  void operator()(const GaveBack& entry) const {
    auto& to = *out.mutable_gave_back();
    Put(entry.tasks, *to.mutable_tasks());
    to.set_all(entry.all);
  }
  void operator()(const DependencyRan& entry) const {
    auto& to = *out.mutable_dependency_ran();
    to.set_row(entry.row);
    to.set_at_ns(Nanoseconds(entry.at));
  }
};

// ---------------------------------------------------------------- from bytes

/// Converts field by field and keeps the first name that it does not know.
class EntryReader {
 public:
  [[nodiscard]] const std::string& unknown() const { return unknown_; }

  template <class E>
  E Word(const std::string& name) {
    if (const auto value = EnumeratorFromKebab<E>(name)) return *value;
    if (unknown_.empty()) unknown_ = name;
    return E{};
  }

  static StoredTime Time(std::int64_t nanoseconds) { return StoredTime(Duration(nanoseconds)); }
  static TaskId Get(const v1::Task& in) { return {.type = in.type(), .index = in.index()}; }
  static std::vector<TaskId> Get(const google::protobuf::RepeatedPtrField<v1::Task>& in) {
    std::vector<TaskId> tasks;
    tasks.reserve(static_cast<std::size_t>(in.size()));
    for (const v1::Task& task : in) tasks.push_back(Get(task));
    return tasks;
  }
  static ContainerId Get(const v1::Container& in) {
    return {.application_attempt = {.application = {.cluster_timestamp = in.cluster_timestamp(),
                                                    .id = in.application()},
                                    .attempt = in.application_attempt()},
            .id = in.id()};
  }
  static NodeId Get(const v1::Node& in) { return {.host = in.host(), .port = in.port()}; }
  static ProcessRef Get(const v1::Process& in) {
    return {.attempt = TaskAttempt(in.attempt()), .epoch = Epoch(in.epoch())};
  }
  static JournaledProcess Get(const v1::TaskProcess& in) {
    return {.task = Get(in.task()), .attempt = TaskAttempt(in.attempt())};
  }
  static std::vector<JournaledProcess> Get(
      const google::protobuf::RepeatedPtrField<v1::TaskProcess>& in) {
    std::vector<JournaledProcess> processes;
    processes.reserve(static_cast<std::size_t>(in.size()));
    for (const v1::TaskProcess& process : in) processes.push_back(Get(process));
    return processes;
  }
  JournaledCause Get(const v1::Cause& in) {
    JournaledCause cause{.task = Get(in.task()),
                         .exit = {},
                         .exit_class = Word<ExitClass>(in.exit_class()),
                         .node = in.node(),
                         .at = Time(in.at_ns()),
                         .detail = in.detail()};
    if (in.has_exit()) cause.exit = in.exit();
    return cause;
  }
  static policy::ExitEvidence Get(const v1::Evidence& in) {
    policy::ExitEvidence evidence{.diagnostics = in.diagnostics(),
                                  .we_stopped = in.we_stopped(),
                                  .node_lost = in.node_lost(),
                                  .marked = in.marked(),
                                  .silent = in.silent(),
                                  .port_conflict = in.port_conflict(),
                                  .launch_error = in.launch_error(),
                                  .timed_out = in.timed_out(),
                                  .am_lost = in.am_lost()};
    if (in.has_yarn_exit()) evidence.yarn_exit = in.yarn_exit();
    if (!in.has_process()) return evidence;
    ProcessExit& exit = evidence.process.emplace();
    if (in.process().has_code()) exit.code = in.process().code();
    if (in.process().has_signal()) exit.signal = in.process().signal();
    exit.out_of_memory = in.process().out_of_memory();
    exit.stopped_by_agent = in.process().stopped_by_agent();
    return evidence;
  }

  static AttemptStarted Get(const v1::AttemptStarted& in) {
    return {.am_attempt = in.am_attempt(), .at = Time(in.at_ns())};
  }
  static AgentsLaunched Get(const v1::AgentsLaunched& in) {
    AgentsLaunched entry{.at = Time(in.at_ns()), .agents = {}};
    entry.agents.reserve(static_cast<std::size_t>(in.agents_size()));
    for (const v1::Agent& agent : in.agents()) {
      entry.agents.push_back({.task = Get(agent.task()),
                              .incarnation = Incarnation(agent.incarnation()),
                              .nonce = Nonce(agent.nonce()),
                              .container = Get(agent.container()),
                              .node = Get(agent.node())});
    }
    return entry;
  }
  static EpochBegan Get(const v1::EpochBegan& in) {
    EpochBegan entry{.at = Time(in.at_ns()),
                     .spec = {.epoch = Epoch(in.epoch()), .tasks = {}},
                     .processes = Get(in.processes())};
    for (const v1::TaskType& type : in.spec()) {
      std::vector<HostPort>& addresses = entry.spec.tasks[type.name()];
      addresses.reserve(static_cast<std::size_t>(type.addresses_size()));
      for (const v1::Node& node : type.addresses())
        addresses.push_back({.host = node.host(), .port = node.port()});
    }
    return entry;
  }
  static ProcessesOrdered Get(const v1::ProcessesOrdered& in) {
    return {.at = Time(in.at_ns()), .epoch = Epoch(in.epoch()), .processes = Get(in.processes())};
  }
  static AllRunning Get(const v1::AllRunning& in) { return {.at = Time(in.at_ns())}; }
  RestartPaid Get(const v1::RestartPaid& in) {
    RestartPaid entry{.budget = Word<Budget>(in.budget()),
                      .at = Time(in.at_ns()),
                      .unit = Word<RestartUnit>(in.unit()),
                      .tasks = Get(in.tasks()),
                      .replaced = Get(in.replaced()),
                      .epoch_rises = in.epoch_rises(),
                      .processes = in.processes(),
                      .cause = Get(in.cause()),
                      .rule = in.rule(),
                      .has_victims = in.has_victims(),
                      .excused_by = {}};
    if (in.has_excused_by()) entry.excused_by = Get(in.excused_by());
    return entry;
  }
  TaskEnded Get(const v1::TaskEnded& in) {
    TaskEnded entry{.task = Get(in.task()),
                    .process = Get(in.process()),
                    .exit = {},
                    .exit_class = Word<ExitClass>(in.exit_class()),
                    .outcome = Word<policy::Outcome>(in.outcome()),
                    .at = Time(in.at_ns()),
                    .node = in.node(),
                    .detail = in.detail(),
                    .unpaid_by = {},
                    .restarts = in.restarts()};
    if (in.has_exit()) entry.exit = in.exit();
    if (in.has_unpaid_by()) entry.unpaid_by = in.unpaid_by();
    return entry;
  }
  static FailureSeen Get(const v1::FailureSeen& in) {
    return {.task = Get(in.task()),
            .process = Get(in.process()),
            .container = Get(in.container()),
            .node = Get(in.node()),
            .evidence = Get(in.evidence()),
            .detail = in.detail(),
            .blamed = in.blamed(),
            .container_alive = in.container_alive(),
            .stopped = Get(in.stopped()),
            .at = Time(in.at_ns())};
  }
  static TypeWaived Get(const v1::TypeWaived& in) { return {.task_type = in.task_type()}; }
  static MemoryRaised Get(const v1::MemoryRaised& in) {
    return {
        .task = Get(in.task()), .memory_mb = in.memory_mb(), .attempt = TaskAttempt(in.attempt())};
  }
  VerdictDecided Get(const v1::VerdictDecided& in) {
    VerdictDecided entry{.status = Word<JobStatus>(in.status()),
                         .diagnostics = in.diagnostics(),
                         .cause = {},
                         .rule = in.rule(),
                         .at = Time(in.at_ns())};
    if (in.has_cause()) entry.cause = Get(in.cause());
    return entry;
  }
  static HostsKeptOff Get(const v1::HostsKeptOff& in) {
    return {.hosts = {in.hosts().begin(), in.hosts().end()}};
  }
  static GaveBack Get(const v1::GaveBack& in) {
    return {.tasks = Get(in.tasks()), .all = in.all()};
  }
  static DependencyRan Get(const v1::DependencyRan& in) {
    return {.row = in.row(), .at = Time(in.at_ns())};
  }

  /// nullopt: of a kind that is not known here.
  std::optional<JournalEntry> Get(const v1::Entry& in) {
    switch (in.kind_case()) {
      case v1::Entry::kAttemptStarted:
        return Get(in.attempt_started());
      case v1::Entry::kAgentsLaunched:
        return Get(in.agents_launched());
      case v1::Entry::kEpochBegan:
        return Get(in.epoch_began());
      case v1::Entry::kProcessesOrdered:
        return Get(in.processes_ordered());
      case v1::Entry::kAllRunning:
        return Get(in.all_running());
      case v1::Entry::kRestartPaid:
        return Get(in.restart_paid());
      case v1::Entry::kTaskEnded:
        return Get(in.task_ended());
      case v1::Entry::kTypeWaived:
        return Get(in.type_waived());
      case v1::Entry::kMemoryRaised:
        return Get(in.memory_raised());
      case v1::Entry::kVerdictDecided:
        return Get(in.verdict_decided());
      case v1::Entry::kFailureSeen:
        return Get(in.failure_seen());
      case v1::Entry::kHostsKeptOff:
        return Get(in.hosts_kept_off());
      case v1::Entry::kGaveBack:
        return Get(in.gave_back());
      case v1::Entry::kDependencyRan:
        return Get(in.dependency_ran());
      case v1::Entry::KIND_NOT_SET:
        break;
    }
    return std::nullopt;
  }

 private:
  std::string unknown_;
};

}  // namespace

std::string EncodeEntry(const JournalEntry& entry) {
  // Most entries are small: their messages need no heap.
  std::array<char, 2048> block;
  google::protobuf::ArenaOptions options;
  options.initial_block = block.data();
  options.initial_block_size = block.size();
  google::protobuf::Arena arena(options);
  v1::Entry& out = *google::protobuf::Arena::CreateMessage<v1::Entry>(&arena);
  std::visit(Writer{out}, entry);
  return out.SerializeAsString();
}

Expected<JournalEntry> DecodeEntry(std::string_view bytes) {
  v1::Entry in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Fail(ErrorCode::kInvalidArgument, "its bytes are no entry");
  EntryReader reader;
  std::optional<JournalEntry> entry = reader.Get(in);
  if (!entry) return Fail(ErrorCode::kInvalidArgument, "its kind is not known to this version");
  if (!reader.unknown().empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the word '{}' in it is not known to this version", reader.unknown()));
  }
  return *std::move(entry);
}

}  // namespace tfyarn::journal
