#include "tests/golden/am_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/journal/journal.h"
#include "core/model/check.h"
#include "core/model/text.h"

namespace tfyarn::am {
namespace {

constexpr std::int32_t kHosts = 8;

std::string Short(const ContainerId& id) {
  return fmt::format("c_{}", id.id);
}

template <class T>
std::string JoinedIds(const std::vector<T>& ids) {
  std::string text;
  for (const T& id : ids)
    text += (text.empty() ? "" : ", ") + [&] {
      if constexpr (std::is_same_v<T, ContainerId>)
        return Short(id);
      else
        return ToString(id);
    }();
  return text;
}

std::string CauseText(const Cause& cause) {
  if (cause.task.type.empty()) return KebabName(cause.exit_class);
  return fmt::format("{} {}", ToString(cause.task), KebabName(cause.exit_class));
}

}  // namespace

void AmWorld::Print(std::string line) {
  printed_ += line + "\n";
}

// ---------------------------------------------------------------- the machine

void AmWorld::StartAm() {
  ++am_attempt_;
  journal_altered_ = false;
  shared_job_ = std::make_shared<const JobSpec>(job_);
  am_ = std::make_unique<ApplicationMaster>(
      shared_job_, AmOptions{.staging_directory = "/staging", .tracking_url = "http://am"}, 1);
  Step(AmStarted{
      .attempt = {.application = {.cluster_timestamp = 0, .id = 1}, .attempt = am_attempt_},
      .container = {.application_attempt = {.application = {0, 1}, .attempt = am_attempt_},
                    .id = 0},
      .address = {.host = "am", .port = 1},
      .wall = CalendarAt(now_),
      .nodes = nodes_});
}

void AmWorld::Step(AmEvent event) {
  events_.push_back(std::move(event));
  while (!events_.empty()) {
    const AmEvent next = std::move(events_.front());
    events_.pop_front();
    std::vector<AmAction> actions;
    am_->Step(now_, next, actions);
    for (const AmAction& action : actions) Carry(action);
  }
}

void AmWorld::Advance(Duration time) {
  const Instant target = now_ + time;
  while (true) {
    const auto next = am_->next_deadline();
    if (!next || *next > target) break;
    now_ = std::max(now_, *next);
    Step(DeadlineReached{});
  }
  now_ = target;
}

void AmWorld::NextAllocate() {
  allocated_ = false;
  while (!allocated_) {
    const auto next = am_->next_deadline();
    if (!next) return;
    now_ = std::max(now_, *next);
    Step(DeadlineReached{});
  }
}

bool AmWorld::FoldsToItsLedger() const {
  if (am_ == nullptr || over_ || journal_altered_ || am_->snapshot().state == JobState::kSubmitted)
    return true;
  return am_->FoldsToItsLedger(journal_);
}

void AmWorld::Say(AgentToAm message) {
  Step(AgentSaid{.message = std::move(message)});
}

// ---------------------------------------------------------------- its orders

void AmWorld::Carry(const AmAction& action) {
  if (std::holds_alternative<ReadJournal>(action)) {
    // Its reader has it.
    if (std::exchange(journal_taken_, false)) journal_on_ = true;
    events_.push_back(JournalRead{.bytes = journal_});
  } else if (const auto* append = std::get_if<AppendJournal>(&action)) {
    CarryAppend(*append);
  } else if (const auto* rm = std::get_if<CallRm>(&action)) {
    CarryRm(*rm);
  } else if (const auto* nm = std::get_if<CallNm>(&action)) {
    CarryNm(*nm);
  } else if (const auto* hdfs = std::get_if<CallHdfs>(&action)) {
    Print(fmt::format("CallHdfs {}", ToText(hdfs->request)));
    if (hdfs_answers_)
      events_.push_back(HdfsReplied{.call = hdfs->call, .response = hdfs::FileStatus{}});
  } else if (const auto* send = std::get_if<SendToAgent>(&action)) {
    CarryToAgent(*send);
  } else {
    over_ = over_ || std::holds_alternative<ExitAm>(action);
    PrintAccount(action);
  }
}

bool AmWorld::runs(const TaskId& task) const {
  const auto agent = agents_.find(task);
  return agent != agents_.end() && agent->second.running && !agent->second.stop_ordered;
}

void AmWorld::PrintAccount(const AmAction& action) {
  if (const auto* ended = std::get_if<TaskAttemptEnded>(&action)) {
    Print(fmt::format("TaskAttemptEnded {} attempt {} {} {}{}", ToString(ended->task),
                      ended->process.attempt.value,
                      ended->exit ? fmt::format("exit {}", *ended->exit) : "exit unknown",
                      KebabName(ended->exit_class),
                      ended->diagnostics.empty() ? "" : fmt::format(" ({})", ended->diagnostics)));
  } else if (const auto* started = std::get_if<TaskAttemptStarted>(&action)) {
    Print(fmt::format("TaskAttemptStarted {} attempt {} epoch {} in {} on {}",
                      ToString(started->task), started->process.attempt.value,
                      started->process.epoch.value, Short(started->container), started->node.host));
  } else if (const auto* restart = std::get_if<RestartDecided>(&action)) {
    Print(fmt::format("RestartDecided {} paid={} epoch={} cause=({}) tasks=[{}]",
                      KebabName(restart->unit), KebabName(restart->paid), restart->epoch.value,
                      CauseText(restart->cause), JoinedIds(restart->tasks)));
  } else if (const auto* verdict = std::get_if<VerdictReached>(&action)) {
    Print(fmt::format("VerdictReached {} by {}", KebabName(verdict->status), verdict->rule));
    Print(fmt::format("  {}", verdict->diagnostics));
  } else if (const auto* spec = std::get_if<SpecAssembled>(&action)) {
    std::string text;
    for (const auto& [type, addresses] : spec->spec.get()->tasks) {
      for (const HostPort& address : addresses)
        text += fmt::format(" {}={}:{}", type, address.host, address.port);
    }
    Print(fmt::format("SpecAssembled epoch {}:{}", spec->epoch.value, text));
  } else if (const auto* state = std::get_if<JobStateChanged>(&action)) {
    Print(fmt::format("JobStateChanged {}", KebabName(state->state)));
  } else if (const auto* note = std::get_if<tfyarn::Note>(&action)) {
    Print(fmt::format("Note: {}", note->text));
  } else {
    std::visit([&](const auto& other) { Print(ToText(other)); }, action);
  }
}

void AmWorld::CarryAppend(const AppendJournal& append) {
  if (!journal_on_) {
    Print(fmt::format("AppendJournal up to {}: refused", append.seq.value));
    hdfs::HdfsError error{.message = "HDFS is away"};
    if (journal_taken_) error = {.code = hdfs::HdfsErrorCode::kLeaseLost, .message = "taken"};
    events_.push_back(JournalFailed{.seq = append.seq, .error = std::move(error)});
    return;
  }
  journal_ += append.bytes;
  const journal::JournalReading reading = journal::ReadJournalBytes(journal_);
  for (std::size_t i = journal_entries_; i < reading.entries.size(); ++i) {
    std::visit(
        [&](const auto& entry) {
          Print(fmt::format("AppendJournal {} {}", reading.entries[i].seq.value,
                            TypeName<std::decay_t<decltype(entry)>>()));
        },
        reading.entries[i].entry);
  }
  journal_entries_ = reading.entries.size();
  events_.push_back(JournalAppended{.seq = append.seq});
}

void AmWorld::CarryRm(const CallRm& call) {
  yarn::RmResponse response =
      yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable, .message = "the RM is away"};
  if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&call.request)) {
    allocated_ = true;
    if (rm_on_) response = Allocate(*allocate);
  } else if (const auto* registration =
                 std::get_if<yarn::RegisterApplicationMasterRequest>(&call.request)) {
    Print(fmt::format("RegisterApplicationMaster {}", registration->tracking_url));
    if (rm_on_) {
      yarn::RegisterApplicationMasterResponse registered{
          .maximum_capability = {.memory_mb = 1 << 20, .vcores = 64}};
      if (!rm_forgot_) {
        for (const auto& [id, container] : alive_) {
          registered.containers_from_previous_attempts.push_back(container);
          registered.nm_tokens_from_previous_attempts.push_back(
              {.node = container.node, .token = {.serial = 1}});
        }
      }
      rm_forgot_ = false;
      response = registered;
    }
  } else if (const auto* finish =
                 std::get_if<yarn::FinishApplicationMasterRequest>(&call.request)) {
    Print(fmt::format("FinishApplicationMaster {}", KebabName(finish->final_status)));
    if (rm_on_) response = yarn::FinishApplicationMasterResponse{.is_unregistered = true};
  }
  events_.push_back(RmReplied{.call = call.call, .response = std::move(response)});
}

yarn::RmResponse AmWorld::Allocate(const yarn::AllocateRequest& request) {
  if (rm_forgot_) {
    return yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationMasterNotRegistered,
                          .message = "register first"};
  }
  std::string asks;
  for (const yarn::ResourceRequest& row : request.ask) {
    if (row.resource_name != "*") continue;
    asks += fmt::format("{}{} x{}", asks.empty() ? "" : ", ", TypeOf(row), row.num_containers);
    asks_[{row.priority.value_or(0), row.allocation_request_id}] = row;
  }
  for (const ContainerId& id : request.release) {
    if (alive_.erase(id) == 0) continue;
    next_response_.completed_containers.push_back(
        {.id = id,
         .state = yarn::ContainerState::kComplete,
         .exit_status = container_exit::kAborted,
         .diagnostics = "Container released by application"});
  }
  if (!yarn::IsIdle(request)) {
    std::string line = "Allocate";
    if (!asks.empty()) line += fmt::format(" asks=[{}]", asks);
    if (!request.release.empty()) line += fmt::format(" releases=[{}]", JoinedIds(request.release));
    for (const std::string& host : request.blacklist_additions) line += " exclude=" + host;
    for (const std::string& host : request.blacklist_removals) line += " readmit=" + host;
    Print(line);
  }
  yarn::AllocateResponse response = std::exchange(next_response_, {});
  response.response_id = request.response_id + 1;
  response.num_cluster_nodes = kHosts;
  return response;
}

void AmWorld::CarryNm(const CallNm& call) {
  const auto error = nm_errors_.find(call.node.host);
  if (const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request)) {
    const yarn::StartContainerRequest& one = start->containers.front();
    const Expected<AgentLaunch> launch = AgentLaunchFrom(one.context.environment);
    TF_CHECK(launch.has_value());
    Print(fmt::format("StartContainer {} on {} ({} incarnation {})", Short(one.container),
                      call.node.host, ToString(launch->fence.task),
                      launch->fence.incarnation.value));
    if (error == nm_errors_.end()) {
      Agent& agent = agents_[launch->fence.task];
      if (agent.fence.container != launch->fence.container)
        former_agents_[launch->fence.task] = agent;
      agent = {.fence = launch->fence,
               .node = call.node,
               .address = {.host = call.node.host, .port = next_port_++}};
      events_.push_back(
          NmReplied{.call = call.call,
                    .node = call.node,
                    .response = yarn::StartContainersResponse{.succeeded = {one.container}}});
      return;
    }
  } else if (const auto* stop = std::get_if<yarn::StopContainersRequest>(&call.request)) {
    Print(fmt::format("StopContainer {} on {}", Short(stop->containers.front()), call.node.host));
    if (error == nm_errors_.end()) {
      events_.push_back(
          NmReplied{.call = call.call,
                    .node = call.node,
                    .response = yarn::StopContainersResponse{.succeeded = stop->containers}});
      return;
    }
  }
  events_.push_back(NmReplied{.call = call.call, .node = call.node, .response = error->second});
}

void AmWorld::CarryToAgent(const SendToAgent& send) {
  const AgentFence& fence = FenceOf(send.message);
  const auto entry = agents_.find(fence.task);
  Agent* agent = entry != agents_.end() && entry->second.fence == fence ? &entry->second : nullptr;
  std::string text;
  bool dull = IsIdle(send.message);
  if (const auto* start = std::get_if<StartProcess>(&send.message)) {
    text = fmt::format("StartProcess attempt {} epoch {}{}", start->process.attempt.value,
                       start->process.epoch.value, start->resume ? " resume" : "");
    if (agent != nullptr) agent->ordered = start->process;
  } else if (const auto* stop = std::get_if<StopProcess>(&send.message)) {
    text = fmt::format("StopProcess attempt {}", stop->attempt.value);
    if (stop->grace != job_.deadlines.stop) text += " within " + ToString(stop->grace);
    if (agent != nullptr) agent->stop_ordered = true;
  } else if (std::holds_alternative<EndAgent>(send.message)) {
    text = "EndAgent";
    if (agent != nullptr) agent->end_ordered = true;
  } else if (const auto* warn = std::get_if<WarnProcess>(&send.message)) {
    text = fmt::format("WarnProcess attempt {}", warn->attempt.value);
  } else if (const auto* stacks = std::get_if<ShowStacks>(&send.message)) {
    text = fmt::format("ShowStacks attempt {}", stacks->attempt.value);
  } else if (const auto* refused = std::get_if<AgentRefused>(&send.message)) {
    text = fmt::format("AgentRefused ({})", refused->reason);
  } else if (std::holds_alternative<AgentAccepted>(send.message)) {
    text = "AgentAccepted";
    dull = true;
    events_.push_back(
        PeerVouched{.task = fence.task, .incarnation = fence.incarnation, .vouched = true});
  } else if (const auto* news = std::get_if<NewsSeen>(&send.message)) {
    text = fmt::format("NewsSeen {}", news->number);
    dull = true;
  } else if (const auto* seen = std::get_if<ReportSeen>(&send.message)) {
    text = fmt::format("ReportSeen {} attempt {}", KebabName(seen->kind), seen->attempt.value);
    dull = true;
    if (agent != nullptr && seen->kind == ReportKind::kProcessEnded) agent->unseen_end.reset();
  }
  if (dull && !verbose_) return;
  Print(fmt::format("{} {} <- {}", ToString(fence.task), Short(send.container), text));
}

}  // namespace tfyarn::am
