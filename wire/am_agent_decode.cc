// Bytes to core/model/channel.h. A Reader converts field by field and keeps the first fault that it
// meets, so that the conversions themselves stay straight.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/check.h"
#include "wire/am_agent.pb.h"
#include "wire/am_agent_codec.h"
#include "wire/names.h"
#include "wire/spec_codec.h"

namespace tfyarn::wire {
namespace {

/// Exit codes have eight bits; the largest signal of Linux is 64.
constexpr std::int32_t kMaxCode = 255;
constexpr std::int32_t kMaxSignal = 64;

class Reader {
 public:
  explicit Reader(std::string_view message) : message_(message) {}

  /// `value` as it was read, or the first fault of any field.
  template <class T>
  Expected<T> Done(T value) {
    if (fault_.empty()) return value;
    return Fail(ErrorCode::kInvalidArgument, fault_);
  }

  void Wrong(std::string_view where, std::string_view what) {
    if (fault_.empty()) fault_ = fmt::format("{}: {} {}", message_, where, what);
  }
  void Need(bool present, std::string_view where) {
    if (!present) Wrong(where, "is missing");
  }

  template <class Number>
  Number AtLeast(Number value, Number least, std::string_view where) {
    if (value < least) Wrong(where, fmt::format("is {}; least is {}", value, least));
    return value;
  }
  Duration NotNegative(std::int64_t nanoseconds, std::string_view where) {
    return Duration(AtLeast<std::int64_t>(nanoseconds, 0, where));
  }
  std::string Text(const std::string& text, std::size_t most, std::string_view where) {
    if (text.size() > most)
      Wrong(where, fmt::format("has {} bytes; most are {}", text.size(), most));
    return text;
  }

  ApplicationId Application(const v1::Application& in) {
    return {.cluster_timestamp =
                AtLeast<std::int64_t>(in.cluster_timestamp(), 0, "application's timestamp"),
            .id = AtLeast(in.id(), 0, "application's id")};
  }
  ContainerId Container(const v1::Container& in) {
    Need(in.has_application(), "container's application");
    return {.application_attempt = {.application = Application(in.application()),
                                    .attempt = AtLeast(in.application_attempt(), 0,
                                                       "container's application attempt")},
            .id = AtLeast<std::int64_t>(in.id(), 0, "container's id")};
  }
  template <class Message>
  AgentFence Fence(const Message& message) {
    Need(message.has_fence(), "fence");
    const v1::Fence& in = message.fence();
    Need(in.has_container(), "fence's container");
    Need(in.has_task(), "fence's task");
    if (const std::string fault = TaskTypeFault(in.task().type()); !fault.empty())
      Wrong("task type", fault);
    return {
        .container = Container(in.container()),
        .task = {.type = in.task().type(), .index = AtLeast(in.task().index(), 0, "task's index")},
        .incarnation = Incarnation(in.incarnation()),
        .nonce = Nonce(in.nonce())};
  }
  template <class Message>
  HostPort Address(const Message& message) {
    Need(message.has_address(), "address");
    const v1::Address& in = message.address();
    if (const std::string fault = AddressFault(in.host(), in.port()); !fault.empty())
      Wrong("address", fault);
    return {.host = in.host(), .port = in.port()};
  }
  static ProcessRef Process(const v1::Process& in) {
    return {.attempt = TaskAttempt(in.attempt()), .epoch = Epoch(in.epoch())};
  }
  template <class Message>
  ProcessRef ProcessOf(const Message& message) {
    Need(message.has_process(), "process");
    return Process(message.process());
  }
  /// `ran`: it has a code or a signal, exactly one; a process that never ran has neither.
  ProcessExit Exit(const v1::Exit& in, bool ran) {
    ProcessExit exit{.code = {},
                     .signal = {},
                     .out_of_memory = in.out_of_memory(),
                     .stopped_by_agent = in.stopped_by_agent()};
    if (in.has_code()) exit.code = in.code();
    if (in.has_signal()) exit.signal = in.signal();
    if (in.code() < 0 || in.code() > kMaxCode)
      Wrong("exit code", fmt::format("is {}; expected 0 to {}", in.code(), kMaxCode));
    if (in.has_signal() && (in.signal() < 1 || in.signal() > kMaxSignal))
      Wrong("exit signal", fmt::format("is {}; expected 1 to {}", in.signal(), kMaxSignal));
    if (exit.code && exit.signal) Wrong("exit", "has both a code and a signal");
    if (ran && !exit.code && !exit.signal) Wrong("exit", "has neither code nor signal");
    return exit;
  }
  ReportKind Report(v1::Report in) {
    switch (in) {
      case v1::REPORT_PROCESS_RUNNING:
        return ReportKind::kProcessRunning;
      case v1::REPORT_PROCESS_ENDED:
        return ReportKind::kProcessEnded;
      case v1::REPORT_ADDRESS_CHANGED:
        return ReportKind::kAddressChanged;
      case v1::REPORT_PROGRESS_STALLED:
        return ReportKind::kProgressStalled;
      case v1::REPORT_PROCESS_SIGNS:
        return ReportKind::kProcessSigns;
      case v1::REPORT_PORT_REPORT:
        return ReportKind::kPortReport;
      default:  // Any number can come over the wire.
        Wrong("kind of report", fmt::format("is {}, which is unknown", static_cast<int>(in)));
        return ReportKind::kProcessRunning;
    }
  }
  tfyarn::Standstill Standstill(v1::Standstill in) {
    switch (in) {
      case v1::STANDSTILL_NONE:
        return tfyarn::Standstill::kNone;
      case v1::STANDSTILL_STOPPED:
        return tfyarn::Standstill::kStopped;
      case v1::STANDSTILL_UNINTERRUPTIBLE:
        return tfyarn::Standstill::kUninterruptible;
      default:  // Any number can come over the wire.
        Wrong("standstill", fmt::format("is {}, which is unknown", static_cast<int>(in)));
        return tfyarn::Standstill::kNone;
    }
  }
  PortUse Use(const v1::PortReport& in) {
    PortUse use;
    switch (in.listener()) {
      case v1::PORT_LISTENER_NOBODY:
        break;
      case v1::PORT_LISTENER_OURS:
        use.listener = PortListener::kOurs;
        break;
      case v1::PORT_LISTENER_STRANGER:
        use.listener = PortListener::kStranger;
        break;
      default:  // Any number can come over the wire.
        Wrong("listener", fmt::format("is {}, which is unknown", static_cast<int>(in.listener())));
    }
    constexpr int kMostPorts = 64;
    if (in.elsewhere_size() > kMostPorts)
      Wrong("elsewhere", fmt::format("has {} ports", in.elsewhere_size()));
    for (const std::uint32_t port : in.elsewhere()) {
      if (port == 0 || port > 65535) Wrong("elsewhere", fmt::format("has port {}", port));
      use.elsewhere.push_back(static_cast<std::int32_t>(port));
    }
    return use;
  }
  SpecRef Spec(const v1::StartProcess& in) {
    auto spec = DecodeSpec(in.spec());
    if (!spec) {
      Wrong("spec", "is wrong: " + spec.error().message);
      return {};
    }
    SpecRef shared = Share(std::move(*spec));
    if (shared.id() != SpecId(in.spec_id())) {
      Wrong("spec", fmt::format("has the content of {:016x} but the id {:016x}", shared.id().value,
                                in.spec_id()));
    }
    return shared;
  }

 private:
  std::string_view message_;
  std::string fault_;
};

template <class Message>
bool Parse(std::string_view bytes, Message& message) {
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Expected<AgentToAm> Convert(const v1::RegisterAgent& in) {
  Reader read("RegisterAgent");
  RegisterAgent message{.fence = read.Fence(in),
                        .address = read.Address(in),
                        .running = {},
                        .ended = {},
                        .exit = {},
                        .stood = {}};
  if (in.has_running()) message.running = Reader::Process(in.running());
  if (in.has_ended()) message.ended = Reader::Process(in.ended());
  if (in.has_exit()) message.exit = read.Exit(in.exit(), true);
  if (in.has_stood()) {
    message.stood = PastStandstill{.process = read.ProcessOf(in.stood()),
                                   .standstill = read.Standstill(in.stood().standstill()),
                                   .ago = {}};
    if (in.stood().has_ago_ns())
      message.stood->ago = read.NotNegative(in.stood().ago_ns(), "time since the standstill");
  }
  if (in.has_ended() != in.has_exit()) read.Wrong("ended", "and exit do not come together");
  return read.Done<AgentToAm>(std::move(message));
}

Expected<AgentToAm> Convert(const v1::AgentHeartbeat& in) {
  Reader read("AgentHeartbeat");
  return read.Done<AgentToAm>(AgentHeartbeat{.fence = read.Fence(in)});
}

Expected<AgentToAm> Convert(const v1::ProcessRunning& in) {
  Reader read("ProcessRunning");
  return read.Done<AgentToAm>(
      ProcessRunning{.fence = read.Fence(in), .process = read.ProcessOf(in)});
}

Expected<AgentToAm> Convert(const v1::ProcessEnded& in) {
  Reader read("ProcessEnded");
  read.Need(in.has_exit(), "exit");
  return read.Done<AgentToAm>(
      ProcessEnded{.fence = read.Fence(in),
                   .process = read.ProcessOf(in),
                   .exit = read.Exit(in.exit(), in.launch_error().empty()),
                   .launch_error = read.Text(in.launch_error(), kMaxReason, "launch error"),
                   .port_conflict = in.port_conflict(),
                   .agent_leaves = in.agent_leaves(),
                   .stderr_tail = read.Text(in.stderr_tail(), kMaxStderrTail, "stderr tail")});
}

Expected<AgentToAm> Convert(const v1::AddressChanged& in) {
  Reader read("AddressChanged");
  return read.Done<AgentToAm>(
      AddressChanged{.fence = read.Fence(in), .address = read.Address(in), .number = in.number()});
}

Expected<AgentToAm> Convert(const v1::ProgressStalled& in) {
  Reader read("ProgressStalled");
  return read.Done<AgentToAm>(ProgressStalled{.fence = read.Fence(in),
                                              .process = read.ProcessOf(in),
                                              .silent = read.NotNegative(in.silent_ns(), "silence"),
                                              .number = in.number()});
}

Expected<AgentToAm> Convert(const v1::ProcessSigns& in) {
  Reader read("ProcessSigns");
  return read.Done<AgentToAm>(ProcessSigns{.fence = read.Fence(in),
                                           .process = read.ProcessOf(in),
                                           .standstill = read.Standstill(in.standstill()),
                                           .catches_term = in.catches_term(),
                                           .number = in.number()});
}

Expected<AgentToAm> Convert(const v1::PortReport& in) {
  Reader read("PortReport");
  return read.Done<AgentToAm>(PortReport{.fence = read.Fence(in),
                                         .process = read.ProcessOf(in),
                                         .use = read.Use(in),
                                         .after = read.NotNegative(in.after_ns(), "time"),
                                         .number = in.number()});
}

Expected<AmToAgent> Convert(const v1::AgentAccepted& in) {
  Reader read("AgentAccepted");
  return read.Done<AmToAgent>(AgentAccepted{.fence = read.Fence(in)});
}

Expected<AmToAgent> Convert(const v1::AgentRefused& in) {
  Reader read("AgentRefused");
  return read.Done<AmToAgent>(AgentRefused{.fence = read.Fence(in),
                                           .reason = read.Text(in.reason(), kMaxReason, "reason")});
}

Expected<AmToAgent> Convert(const v1::HeartbeatSeen& in) {
  Reader read("HeartbeatSeen");
  return read.Done<AmToAgent>(HeartbeatSeen{.fence = read.Fence(in)});
}

Expected<AmToAgent> Convert(const v1::ReportSeen& in) {
  Reader read("ReportSeen");
  return read.Done<AmToAgent>(ReportSeen{.fence = read.Fence(in),
                                         .kind = read.Report(in.kind()),
                                         .attempt = TaskAttempt(in.attempt())});
}

Expected<AmToAgent> Convert(const v1::StartProcess& in) {
  Reader read("StartProcess");
  return read.Done<AmToAgent>(StartProcess{.fence = read.Fence(in),
                                           .process = read.ProcessOf(in),
                                           .spec = read.Spec(in),
                                           .resume = in.resume()});
}

Expected<AmToAgent> Convert(const v1::StopProcess& in) {
  Reader read("StopProcess");
  return read.Done<AmToAgent>(StopProcess{.fence = read.Fence(in),
                                          .attempt = TaskAttempt(in.attempt()),
                                          .grace = read.NotNegative(in.grace_ns(), "grace")});
}

Expected<AmToAgent> Convert(const v1::WarnProcess& in) {
  Reader read("WarnProcess");
  return read.Done<AmToAgent>(
      WarnProcess{.fence = read.Fence(in), .attempt = TaskAttempt(in.attempt())});
}

Expected<AmToAgent> Convert(const v1::ShowStacks& in) {
  Reader read("ShowStacks");
  return read.Done<AmToAgent>(
      ShowStacks{.fence = read.Fence(in), .attempt = TaskAttempt(in.attempt())});
}

Expected<AmToAgent> Convert(const v1::NewsSeen& in) {
  Reader read("NewsSeen");
  return read.Done<AmToAgent>(NewsSeen{.fence = read.Fence(in), .number = in.number()});
}

Expected<AmToAgent> Convert(const v1::EndAgent& in) {
  Reader read("EndAgent");
  return read.Done<AmToAgent>(
      EndAgent{.fence = read.Fence(in), .grace = read.NotNegative(in.grace_ns(), "grace")});
}

tl::unexpected<Error> NotProtobuf(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: not a protobuf message", what));
}

tl::unexpected<Error> UnknownKind(std::string_view what) {
  return Fail(ErrorCode::kNotFound,
              fmt::format("{}: of a kind that this version does not know", what));
}

}  // namespace

std::optional<std::uint32_t> CommonVersion(const Hello& peer) {
  const std::uint32_t newest = std::min(kNewestVersion, peer.newest_version);
  if (newest < std::max(kOldestVersion, peer.oldest_version)) return std::nullopt;
  return newest;
}

Expected<Hello> DecodeHello(std::string_view bytes) {
  v1::Hello in;
  if (!Parse(bytes, in)) return NotProtobuf("Hello");
  Reader read("Hello");
  read.AtLeast(in.oldest_version(), 1U, "oldest version");
  read.AtLeast(in.newest_version(), in.oldest_version(), "newest version");
  read.Need(in.has_application(), "application");
  Hello hello{.oldest_version = in.oldest_version(),
              .newest_version = in.newest_version(),
              .application = read.Application(in.application()),
              .am_attempt = read.AtLeast(in.am_attempt(), 0, "AM attempt"),
              .container = {}};
  if (in.has_container()) hello.container = read.Container(in.container());
  return read.Done(hello);
}

Expected<AgentToAm> DecodeAgentToAm(std::string_view bytes) {
  v1::AgentToAm in;
  if (!Parse(bytes, in)) return NotProtobuf("message of an agent");
  switch (in.kind_case()) {
    case v1::AgentToAm::kRegisterAgent:
      return Convert(in.register_agent());
    case v1::AgentToAm::kHeartbeat:
      return Convert(in.heartbeat());
    case v1::AgentToAm::kProcessRunning:
      return Convert(in.process_running());
    case v1::AgentToAm::kProcessEnded:
      return Convert(in.process_ended());
    case v1::AgentToAm::kAddressChanged:
      return Convert(in.address_changed());
    case v1::AgentToAm::kProgressStalled:
      return Convert(in.progress_stalled());
    case v1::AgentToAm::kProcessSigns:
      return Convert(in.process_signs());
    case v1::AgentToAm::kPortReport:
      return Convert(in.port_report());
    case v1::AgentToAm::KIND_NOT_SET:
      return UnknownKind("message of an agent");
  }
  TF_CHECK(false);
}

Expected<AmToAgent> DecodeAmToAgent(std::string_view bytes) {
  v1::AmToAgent in;
  if (!Parse(bytes, in)) return NotProtobuf("message of the AM");
  switch (in.kind_case()) {
    case v1::AmToAgent::kAccepted:
      return Convert(in.accepted());
    case v1::AmToAgent::kRefused:
      return Convert(in.refused());
    case v1::AmToAgent::kHeartbeatSeen:
      return Convert(in.heartbeat_seen());
    case v1::AmToAgent::kReportSeen:
      return Convert(in.report_seen());
    case v1::AmToAgent::kStartProcess:
      return Convert(in.start_process());
    case v1::AmToAgent::kStopProcess:
      return Convert(in.stop_process());
    case v1::AmToAgent::kWarnProcess:
      return Convert(in.warn_process());
    case v1::AmToAgent::kEndAgent:
      return Convert(in.end_agent());
    case v1::AmToAgent::kShowStacks:
      return Convert(in.show_stacks());
    case v1::AmToAgent::kNewsSeen:
      return Convert(in.news_seen());
    case v1::AmToAgent::KIND_NOT_SET:
      return UnknownKind("message of the AM");
  }
  TF_CHECK(false);
}

}  // namespace tfyarn::wire
