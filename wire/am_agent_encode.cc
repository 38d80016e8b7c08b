// core/model/channel.h to bytes.
#include <string>
#include <string_view>
#include <variant>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "wire/am_agent.pb.h"
#include "wire/am_agent_codec.h"

namespace tfyarn::wire {
namespace {

void Put(const ApplicationId& id, v1::Application& out) {
  out.set_cluster_timestamp(id.cluster_timestamp);
  out.set_id(id.id);
}

void Put(const ContainerId& id, v1::Container& out) {
  Put(id.application_attempt.application, *out.mutable_application());
  out.set_application_attempt(id.application_attempt.attempt);
  out.set_id(id.id);
}

void Put(const AgentFence& fence, v1::Fence& out) {
  Put(fence.container, *out.mutable_container());
  out.mutable_task()->set_type(fence.task.type);
  out.mutable_task()->set_index(fence.task.index);
  out.set_incarnation(fence.incarnation.value);
  out.set_nonce(fence.nonce.value);
}

void Put(const HostPort& address, v1::Address& out) {
  out.set_host(address.host);
  out.set_port(address.port);
}

void Put(const ProcessRef& process, v1::Process& out) {
  out.set_attempt(process.attempt.value);
  out.set_epoch(process.epoch.value);
}

void Put(const ProcessExit& exit, v1::Exit& out) {
  if (exit.code) out.set_code(*exit.code);
  if (exit.signal) out.set_signal(*exit.signal);
  out.set_out_of_memory(exit.out_of_memory);
  out.set_stopped_by_agent(exit.stopped_by_agent);
}

std::string FrontOf(const std::string& text, std::size_t most) {
  return text.substr(0, most);
}

std::string BackOf(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(text.size() - most);
}

v1::Report ReportOf(ReportKind kind) {
  switch (kind) {
    case ReportKind::kProcessRunning:
      return v1::REPORT_PROCESS_RUNNING;
    case ReportKind::kProcessEnded:
      return v1::REPORT_PROCESS_ENDED;
    case ReportKind::kAddressChanged:
      return v1::REPORT_ADDRESS_CHANGED;
    case ReportKind::kProgressStalled:
      return v1::REPORT_PROGRESS_STALLED;
    case ReportKind::kProcessSigns:
      return v1::REPORT_PROCESS_SIGNS;
    case ReportKind::kPortReport:
      return v1::REPORT_PORT_REPORT;
  }
  TF_CHECK(false);
}

v1::Standstill StandstillOf(Standstill standstill) {
  switch (standstill) {
    case Standstill::kNone:
      return v1::STANDSTILL_NONE;
    case Standstill::kStopped:
      return v1::STANDSTILL_STOPPED;
    case Standstill::kUninterruptible:
      return v1::STANDSTILL_UNINTERRUPTIBLE;
  }
  TF_CHECK(false);
}

v1::PortListener PortListenerOf(PortListener listener) {
  switch (listener) {
    case PortListener::kNobody:
      return v1::PORT_LISTENER_NOBODY;
    case PortListener::kOurs:
      return v1::PORT_LISTENER_OURS;
    case PortListener::kStranger:
      return v1::PORT_LISTENER_STRANGER;
  }
  TF_CHECK(false);
}

struct AgentToAmWriter {
  v1::AgentToAm& out;

  void operator()(const RegisterAgent& message) const {
    auto& to = *out.mutable_register_agent();
    Put(message.fence, *to.mutable_fence());
    Put(message.address, *to.mutable_address());
    if (message.running) Put(*message.running, *to.mutable_running());
    if (message.ended) Put(*message.ended, *to.mutable_ended());
    if (message.exit) Put(*message.exit, *to.mutable_exit());
    if (!message.stood) return;
    auto& stood = *to.mutable_stood();
    Put(message.stood->process, *stood.mutable_process());
    stood.set_standstill(StandstillOf(message.stood->standstill));
    if (message.stood->ago) stood.set_ago_ns(message.stood->ago->count());
  }
  void operator()(const AgentHeartbeat& message) const {
    Put(message.fence, *out.mutable_heartbeat()->mutable_fence());
  }
  void operator()(const ProcessRunning& message) const {
    auto& to = *out.mutable_process_running();
    Put(message.fence, *to.mutable_fence());
    Put(message.process, *to.mutable_process());
  }
  void operator()(const ProcessEnded& message) const {
    auto& to = *out.mutable_process_ended();
    Put(message.fence, *to.mutable_fence());
    Put(message.process, *to.mutable_process());
    Put(message.exit, *to.mutable_exit());
    to.set_launch_error(FrontOf(message.launch_error, kMaxReason));
    to.set_port_conflict(message.port_conflict);
    to.set_agent_leaves(message.agent_leaves);
    to.set_stderr_tail(BackOf(message.stderr_tail, kMaxStderrTail));
  }
  void operator()(const AddressChanged& message) const {
    auto& to = *out.mutable_address_changed();
    Put(message.fence, *to.mutable_fence());
    Put(message.address, *to.mutable_address());
    to.set_number(message.number);
  }
  void operator()(const ProgressStalled& message) const {
    auto& to = *out.mutable_progress_stalled();
    Put(message.fence, *to.mutable_fence());
    Put(message.process, *to.mutable_process());
    to.set_silent_ns(message.silent.count());
    to.set_number(message.number);
  }
  void operator()(const ProcessSigns& message) const {
    auto& to = *out.mutable_process_signs();
    Put(message.fence, *to.mutable_fence());
    Put(message.process, *to.mutable_process());
    to.set_standstill(StandstillOf(message.standstill));
    to.set_catches_term(message.catches_term);
    to.set_number(message.number);
  }
  void operator()(const PortReport& message) const {
    auto& to = *out.mutable_port_report();
    Put(message.fence, *to.mutable_fence());
    Put(message.process, *to.mutable_process());
    to.set_listener(PortListenerOf(message.use.listener));
    for (const std::int32_t port : message.use.elsewhere)
      to.add_elsewhere(static_cast<std::uint32_t>(port));
    to.set_after_ns(message.after.count());
    to.set_number(message.number);
  }
};

struct AmToAgentWriter {
  v1::AmToAgent& out;
  SpecEncodings& specs;

  void operator()(const AgentAccepted& message) const {
    Put(message.fence, *out.mutable_accepted()->mutable_fence());
  }
  void operator()(const AgentRefused& message) const {
    auto& to = *out.mutable_refused();
    Put(message.fence, *to.mutable_fence());
    to.set_reason(FrontOf(message.reason, kMaxReason));
  }
  void operator()(const HeartbeatSeen& message) const {
    Put(message.fence, *out.mutable_heartbeat_seen()->mutable_fence());
  }
  void operator()(const ReportSeen& message) const {
    auto& to = *out.mutable_report_seen();
    Put(message.fence, *to.mutable_fence());
    to.set_kind(ReportOf(message.kind));
    to.set_attempt(message.attempt.value);
  }
  void operator()(const StartProcess& message) const {
    auto& to = *out.mutable_start_process();
    Put(message.fence, *to.mutable_fence());
    Put(message.process, *to.mutable_process());
    to.set_spec_id(message.spec.id().value);
    to.set_spec(specs.Of(message.spec));
    to.set_resume(message.resume);
  }
  void operator()(const StopProcess& message) const {
    auto& to = *out.mutable_stop_process();
    Put(message.fence, *to.mutable_fence());
    to.set_attempt(message.attempt.value);
    to.set_grace_ns(message.grace.count());
  }
  void operator()(const WarnProcess& message) const {
    auto& to = *out.mutable_warn_process();
    Put(message.fence, *to.mutable_fence());
    to.set_attempt(message.attempt.value);
  }
  void operator()(const EndAgent& message) const {
    auto& to = *out.mutable_end_agent();
    Put(message.fence, *to.mutable_fence());
    to.set_grace_ns(message.grace.count());
  }
  void operator()(const ShowStacks& message) const {
    auto& to = *out.mutable_show_stacks();
    Put(message.fence, *to.mutable_fence());
    to.set_attempt(message.attempt.value);
  }
  void operator()(const NewsSeen& message) const {
    auto& to = *out.mutable_news_seen();
    Put(message.fence, *to.mutable_fence());
    to.set_number(message.number);
  }
};

}  // namespace

std::string Encode(const Hello& hello) {
  v1::Hello out;
  out.set_oldest_version(hello.oldest_version);
  out.set_newest_version(hello.newest_version);
  Put(hello.application, *out.mutable_application());
  out.set_am_attempt(hello.am_attempt);
  if (hello.container) Put(*hello.container, *out.mutable_container());
  return out.SerializeAsString();
}

std::string Encode(const AgentToAm& message) {
  v1::AgentToAm out;
  std::visit(AgentToAmWriter{out}, message);
  return out.SerializeAsString();
}

std::string Encode(const AmToAgent& message, SpecEncodings& specs) {
  v1::AmToAgent out;
  std::visit(AmToAgentWriter{out, specs}, message);
  return out.SerializeAsString();
}

std::string Encode(const AmToAgent& message) {
  SpecEncodings once;
  return Encode(message, once);
}

}  // namespace tfyarn::wire
