#include "hosts/agent/agent_host.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "core/agent/environment.h"
#include "core/model/visit.h"
#include "hosts/agent/listeners.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/journal_file.h"

namespace tfyarn::agent_host {
namespace {

/// How often an idle agent looks whether a process listens on its port.
constexpr Duration kPortWatch = 2s;

void PutFirst(const std::string& directory, std::string& path) {
  path = path.empty() ? directory : directory + ":" + path;
}

/// What tells the AM that a process could not be started. A command that cannot be started here
/// cannot be started elsewhere: it ends as in a shell (POSIX, 2.8.2), and is the user's.
AgentEvent NotStarted(TaskAttempt attempt, const Error& error) {
  if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalidArgument)
    return SpawnFailed{.attempt = attempt, .reason = error.message};
  ProcessExited exited{.attempt = attempt, .exit = {}, .stderr_tail = error.message};
  exited.exit.code = error.code == ErrorCode::kNotFound ? 127 : 126;
  return exited;
}

}  // namespace

AgentHost::AgentHost(std::shared_ptr<const JobSpec> job, AgentHostOptions options,
                     const wire::Identity& identity, Parts parts)
    : job_(std::move(job)),
      options_(std::move(options)),
      parts_(std::move(parts)),
      machine_(job_, options_.seed),
      driver_(parts_.loop, machine_,
              {.told =
                   [this](Instant now, const AgentEvent& event) {
                     parts_.recorder.Write(
                         now, trace::AgentTold{.job = trace::kOnlyJob,
                                               .container = options_.launch.fence.container,
                                               .event = event});
                   },
               .ordered =
                   [this](Instant now, const AgentAction& action) {
                     parts_.recorder.Write(
                         now, trace::AgentOrdered{.job = trace::kOnlyJob,
                                                  .container = options_.launch.fence.container,
                                                  .action = action});
                   },
               .carry_out = [this](AgentAction& action) { CarryOut(action); }}),
      subreaper_(parts_.loop),
      channel_(parts_.loop, wire::ClientOptions{}, identity,
               options_.launch.fence.container.application_attempt.application,
               options_.launch.fence.container,
               {.on_message =
                    [this](AmToAgent message, std::int32_t am_attempt) {
                      driver_.Tell(AmSaid{.message = std::move(message), .am_attempt = am_attempt});
                    },
                .on_lost =
                    [this](wire::ChannelEnd, const std::string& detail) {
                      // Each of its attempts to find an AM that is gone fails.
                      const auto note = losses_.Take(hosts::Now(), "channel to the AM: " + detail);
                      if (note) parts_.note(*note);
                    }}),
      port_watch_(parts_.loop) {
  parts_.note = [note = parts_.note, secrets = options_.secrets](const std::string& text) {
    note(WithoutSecrets(text, secrets));
  };
}

void AgentHost::Start() {
  driver_.Tell(AgentStarted{.fence = options_.launch.fence,
                            .am_attempt = options_.launch.am_attempt,
                            .am_address = options_.launch.am_address,
                            .host = options_.host});
  WatchPort();
}

void AgentHost::CarryOut(AgentAction& action) {
  std::visit(Overloaded{[this](LeasePort&) { TakePort(); },
                        [this](SendToAm& send) {
                          channel_.Send(send.am_address, send.am_attempt, send.message);
                        },
                        [this](SpawnProcess& order) { Spawn(order); },
                        [this](SignalProcess& order) {
                          if (process_) process_->Signal(order.attempt, order.signal);
                        },
                        [this](ReadAmAddress&) { ReadAddress(); },
                        [this](ExitAgent& exit) {
                          driver_.Stop();
                          parts_.exit(exit.code, exit.reason);
                        },
                        [this](DumpStacks& dump) { WriteStacks(dump.attempt); },
                        [this](Note& note) { parts_.note(note.text); }},
             action);
}

// ---------------------------------------------------------------- the port

void AgentHost::TakePort() {
  lease_.reset();
  auto lease = Lease::Take();
  if (!lease) return driver_.Tell(PortLeaseFailed{.reason = lease.error().message});
  lease_.emplace(std::move(*lease));
  driver_.Tell(PortLeased{.port = lease_->port()});
}

// A TensorFlow server binds a port that is held, and so no other process can take it in between.
// Other programs, TensorBoard too, find it taken.
bool AgentHost::HoldsPortWhileRunning(const std::map<std::string, std::string>& rendered) {
  return rendered.contains("TF_CONFIG");
}

void AgentHost::WatchPort() {
  port_watch_.expires_after(kPortWatch);
  port_watch_.async_wait(lifetime_.Guard([this](const boost::system::error_code& error) {
    if (error || driver_.stopped()) return;
    LookAtPort();
    WatchPort();
  }));
}

/// A port that is stolen before the task's process uses it does no harm: the agent takes another.
void AgentHost::LookAtPort() {
  if (!lease_ || process_) return;
  if (WhoListens(lease_->port(), [] { return std::vector<pid_t>{}; }) != Listener::kStranger)
    return;
  driver_.Tell(PortLeaseFailed{.reason = "another process of this machine listens on it"});
}

// ---------------------------------------------------------------- the process

void AgentHost::Spawn(const SpawnProcess& order) {
  const TaskAttempt attempt = order.process.attempt;
  std::map<std::string, std::string> environment = agent::RenderEnvironment(
      *job_, order.task, order.process, *order.spec.get(),
      options_.launch.fence.container.application_attempt.application, order.resume);
  if (lease_ && !HoldsPortWhileRunning(environment)) lease_->Release();
  FillInSecrets(options_.secrets, order.task.type, environment);
  environment.insert(options_.environment.begin(), options_.environment.end());
  const std::string python = agent::PythonDirectory(*job_, order.task.type);
  if (!python.empty()) PutFirst(options_.directory + "/" + python + "/bin", environment["PATH"]);
  const std::string stem = fmt::format("{}/{}-{}.attempt-{}", options_.log_directory,
                                       order.task.type, order.task.index, attempt.value);
  TaskCommand command{.argv = agent::RenderCommand(*job_, order.task, *order.spec.get()),
                      .environment = std::move(environment),
                      .directory = options_.directory,
                      .stdout_path = stem + ".stdout",
                      .stderr_path = stem + ".stderr",
                      .port = lease_ ? lease_->port() : 0,
                      .watch = job_->watch,
                      .listen = {},
                      .stop = job_->deadlines.stop};
  if (order.should_listen) command.listen = job_->deadlines.listen;
  process_ = std::make_unique<TaskProcess>(
      subreaper_, std::move(command),
      TaskProcess::Callbacks{
          .spawned = [this, attempt] { driver_.Tell(ProcessSpawned{.attempt = attempt}); },
          .failed = [this,
                     attempt](const Error& error) { ProcessOver(NotStarted(attempt, error)); },
          .over = [this](ProcessExited exit) { ProcessOver(std::move(exit)); },
          .progress = [this, attempt] { driver_.Tell(ProgressSeen{.attempt = attempt}); },
          .signs =
              [this, attempt](const Signs& signs) {
                driver_.Tell(ProcessSignsSeen{.attempt = attempt,
                                              .standstill = signs.standstill,
                                              .catches_term = signs.catches_term});
              },
          .port_use =
              [this, attempt](const PortUse& use) {
                driver_.Tell(PortUseSeen{.attempt = attempt, .use = use});
              },
          .note = parts_.note},
      attempt);
}

/// What a process said at its end goes into recordings, journal, verdict and history.
void AgentHost::HideSecrets(AgentEvent& end) const {
  const auto hide = [this](std::string& text) {
    text = WithoutSecrets(std::move(text), options_.secrets);
  };
  if (auto* exited = std::get_if<ProcessExited>(&end)) hide(exited->stderr_tail);
  if (auto* failed = std::get_if<SpawnFailed>(&end)) hide(failed->reason);
}

void AgentHost::ProcessOver(AgentEvent end) {
  HideSecrets(end);
  process_.reset();
  std::string lost;
  if (lease_ && !lease_->is_held()) {
    auto again = Lease::TakeAgain(lease_->port());
    if (again) lease_.emplace(std::move(*again));
    if (!again) lost = again.error().message;
  }
  driver_.Tell(std::move(end));
  if (!lost.empty()) driver_.Tell(PortLeaseFailed{.reason = lost});
}

void AgentHost::WriteStacks(TaskAttempt attempt) {
  if (!process_) return;
  const TaskId& task = options_.launch.fence.task;
  const auto dumped = process_->DumpStacksInto(fmt::format(
      "{}/stacks/{}-{}.attempt-{}", options_.log_directory, task.type, task.index, attempt.value));
  parts_.note(dumped ? fmt::format("stacks of {} processes written", dumped->files.size())
                     : dumped.error().message);
}

void AgentHost::ReadAddress() {
  hosts::ReadAmAddressFrom(
      parts_.storage, options_.launch.staging_directory,
      lifetime_.Guard([this](AmAddressRead read) { driver_.Tell(std::move(read)); }));
}

}  // namespace tfyarn::agent_host
