#include "apps/local/local_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "core/client/job_client.h"
#include "core/model/codec.h"
#include "core/model/work_directory.h"
#include "hosts/agent/log_tail.h"
#include "hosts/local/last_watcher.h"
#include "hosts/local/local_environment.h"
#include "hosts/local/unpack.h"
#include "hosts/runtime/staging.h"

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

/// One machine answers at once, so nothing is gained by waiting a second for it.
constexpr Duration kHeartbeat = 100ms;
constexpr Duration kPoll = 100ms;
constexpr Duration kShowPeriod = 100ms;
/// From the end of the job to the end of its processes; then they are killed.
constexpr Duration kLastProcesses = 20s;
/// From the user's second signal to the end, whatever is left of the job's processes.
constexpr Duration kAfterSecondSignal = 3s;
/// How long a reader of the logs may take nothing after the user has sent a signal.
constexpr Duration kReaderPatience = 1s;
/// Bytes of logs that wait for their reader; while there are more no log is read.
constexpr std::size_t kMostWaiting = std::size_t{512} << 10;
/// For what is found left when the job's containers have ended.
constexpr Duration kLeftOvers = 1s;
constexpr std::size_t kShownLog = std::size_t{16} << 10;
constexpr const char* kHost = "127.0.0.1";

}  // namespace

/// What the tasks of a job want together.
Resource WantedBy(const JobSpec& job) {
  Resource wanted;
  for (const TaskTypeSpec& type : job.tasks) wanted += Times(type.resource, type.instances);
  return wanted;
}

LocalRun::LocalRun(const RunArguments& arguments, config::JobDocument job,
                   std::vector<config::FaultSpec> faults, RunDirectory directory,
                   const Admission& admission, const std::string& version)
    : arguments_(arguments),
      job_(std::move(job)),
      spec_(std::make_shared<const JobSpec>(job_.spec)),
      directory_(std::move(directory)),
      version_(version),
      reserve_(directory_.root),
      storage_(loop_, directory_.storage(), directory_.history()),
      cluster_recorder_(Record(hosts::Recorded::kCluster, "cluster", 0, "")),
      cluster_(RmOptions(admission.capacity), NodeOptions(admission.gpus.gpus()),
               {.loop = loop_,
                .recorder = cluster_recorder_,
                .locate = [this](const std::string& path) { return storage_.Locate(path); },
                .idle = [this] { EndIfOver(); },
                .seen =
                    [this](const trace::Fact& fact) {
                      if (std::holds_alternative<trace::ContainerGone>(fact)) LookAtDisk(false);
                      if (faults_) faults_->Seen(fact);
                    },
                .finishing = [this] { LookAtDisk(true); }}),
      records_(directory_.recordings()),
      logs_(directory_.logs(), cli::ColorOn(STDOUT_FILENO)),
      log_writer_(STDOUT_FILENO),
      status_(arguments.quiet || arguments.json),
      signals_(loop_, SIGINT, SIGTERM),
      show_(loop_),
      last_(loop_) {
  MakeClient();
  if (!faults.empty()) MakeFaults(std::move(faults));
}

hosts::LocalRmOptions LocalRun::RmOptions(const Resource& capacity) const {
  return {.node = {.host = kHost, .port = 0},
          .capacity = capacity,
          .cluster_timestamp = hosts::WallNow().time_since_epoch().count()};
}

hosts::LocalNodeOptions LocalRun::NodeOptions(const std::vector<std::string>& gpus) const {
  hosts::LocalNodeOptions options{.node = {.host = kHost, .port = 0},
                                  .directory = directory_.containers(),
                                  .log_directory = directory_.logs(),
                                  .temporary = directory_.temporary,
                                  .environment = apps::OwnEnvironment(),
                                  .gpus = gpus};
  for (auto& [name, value] :
       hosts::ToEnvironment(hosts::LocalEnvironment{.storage = directory_.storage(),
       .recordings = directory_.recordings(),
       .shared = directory_.shared(),
       .heartbeat = kHeartbeat}))
    options.environment[name] = value;
  for (const SecretValue& secret : job_.secrets)
    options.environment[TravelName(secret)] = secret.value;
  return options;
}

hosts::Recorder LocalRun::Record(hosts::Recorded who, const std::string& name, std::uint64_t seed,
                                 std::string options) {
  auto recorder = hosts::Recorder::Open(directory_.recordings() + "/" + name + ".record",
                                        {.version = version_,
                                         .who = who,
                                         .seed = seed,
                                         .job_file = job_.effective_yaml,
                                         .options = std::move(options)});
  if (recorder) return std::move(*recorder);
  // What is not recorded has no result, and the disk has no room for the job either.
  NotStarted(cli::ExitCode::kInternal, recorder.error().message);
  return {};
}

void LocalRun::NotStarted(cli::ExitCode code, const std::string& why) {
  if (!not_started_) cli::Complain(why);
  not_started_ = not_started_.value_or(code);
  loop_.stop();
}

void LocalRun::MakeClient() {
  client::ClientOptions options;
  options.job_file = job_.effective_yaml;
  options.am_command = {apps::OwnDirectory() + "/tfyarn-am"};
  options.poll = kPoll;
  const std::uint64_t seed = apps::RandomSeed();
  std::string bytes;
  Encoder(bytes).Put(options);
  client_recorder_ = Record(hosts::Recorded::kClient, "client", seed, std::move(bytes));
  client_ = std::make_unique<hosts::ClientHost>(
      spec_, std::move(options), seed,
      hosts::ClientHost::Parts{
          .loop = loop_,
          .cluster = cluster_,
          .storage = storage_,
          .recorder = client_recorder_,
          .stage = [this](const std::string& directory,
                          const hosts::ClientHost::StagedAnswer& done) { Stage(directory, done); },
          .seen = {},
          .exit = [this](std::int32_t code) { ClientEnded(code); }});
}

void LocalRun::MakeFaults(std::vector<config::FaultSpec> faults) {
  faults_.emplace(
      job_.spec.name, std::move(faults),
      hosts::FaultDriver::World{
          .loop = loop_,
          .recordings = directory_.recordings(),
          .directory = directory_.root,
          .process_of = [this](const ContainerId& id) { return cluster_.node().ProcessOf(id); },
          .am = [this] { return cluster_.rm().AmContainer(); },
          .preempt = [this](const ContainerId& id,
                            Duration notice) { cluster_.Preempt(id, notice); },
          .kill_job = [this] { client_->Kill("killed by a fault of the file of faults"); },
          .record = [this](trace::Fact fact) { cluster_.Record(std::move(fact)); },
          .complain = [](const std::string& what) { cli::Complain(what); }});
}

// Files are copied once, so that what is edited meanwhile changes no attempt of this run. What
// cannot be staged now cannot be a moment later either.
void LocalRun::Stage(const std::string& application_directory,
                     const hosts::ClientHost::StagedAnswer& done) {
  yarn::ContainerLaunchContext context;
  context.command = {apps::OwnDirectory() + "/tfyarn-agent"};
  context.local_resources[std::string(hosts::kAgentJobFile)] = {.path = application_directory +
                                                                        "/" + client::kJobFileName};
  if (const auto staged = StageFiles(application_directory, context); !staged) {
    status_.Clear();
    const bool full = staged.error().code == ErrorCode::kUnavailable;
    return NotStarted(full ? cli::ExitCode::kInternal : cli::ExitCode::kInvalidInput,
                      staged.error().message);
  }
  done(std::move(context));
}

Expected<void> LocalRun::StageFiles(const std::string& application_directory,
                                    yarn::ContainerLaunchContext& context) const {
  const fs::path here = fs::path(arguments_.file).parent_path();
  for (const std::string& file : job_.spec.files) {
    const fs::path from = here / file;
    const std::string name = NameInWorkDirectory(file);
    const std::string path = application_directory + "/files/" + name;
    std::error_code failed;
    fs::create_directories(fs::path(storage_.Locate(path)).parent_path(), failed);
    fs::copy(from, storage_.Locate(path),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing, failed);
    if (failed) {
      const bool full = failed == std::errc::no_space_on_device;
      return Fail(full ? ErrorCode::kUnavailable : ErrorCode::kNotFound,
                  fmt::format("{}: {}", from.string(), failed.message()));
    }
    context.local_resources[name] = {.path = path};
  }
  for (const ArchiveSpec& archive : job_.spec.archives) {
    const std::string path = application_directory + "/archives/" + archive.as;
    if (auto unpacked = hosts::Unpack((here / archive.path).string(), storage_.Locate(path));
        !unpacked)
      return unpacked;
    context.local_resources[archive.as] = {.path = path, .archive = true};
  }
  return {};
}

// ---------------------------------------------------------------- the run

int LocalRun::Run() {
  if (const auto room = reserve_.Take(); !room && !not_started_)
    NotStarted(cli::ExitCode::kInternal, room.error().message);
  if (not_started_) return CleanUp();
  cluster_recorder_.Write(began_, trace::JobRunStarted{.name = job_.spec.name});
  cluster_recorder_.Write(began_, trace::NodeDeclared{.node = {.host = kHost, .port = 0},
                                                      .rack = "/local",
                                                      .capacity = cluster_.capacity()});
  cluster_recorder_.Write(began_, trace::JobCreated{.job = {},
                                                    .name = job_.spec.name,
                                                    .queue = job_.spec.queue,
                                                    .tasks = job_.spec.task_count(),
                                                    .gpus = WantedBy(job_.spec).gpus});
  WaitForSignals();
  OpenPage();
  if (faults_) faults_->Start(began_);
  client_->Submit({.user = job_.spec.user, .staging_directory = "/staging"});
  ShowAgain();
  loop_.run();
  return not_started_ ? CleanUp() : Finish();
}

void LocalRun::WaitForSignals() {
  // A closed pipe is an error of a write.
  std::signal(SIGPIPE, SIG_IGN);
  // The terminal is closed; nohup has it ignored.
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  boost::system::error_code ignored;
  if (hangup.sa_handler != SIG_IGN) signals_.add(SIGHUP, ignored);
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (!error) Interrupted(signal);
  });
}

void LocalRun::Interrupted(int signal) {
  ++interrupts_;
  status_.Clear();
  if (interrupts_ == 1) {
    cli::TryWriteStderr("ending the job; once more to kill it at once\n");
    client_->Kill(fmt::format("the user sent signal {}", signal));
  } else {
    cluster_.KillAll();
  }
  if (interrupts_ == 2) {
    last_.expires_after(kAfterSecondSignal);
    last_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      if (!exit_code_) exit_code_ = cli::ToInt(cli::ExitCode::kJobKilled);
      loop_.stop();
    });
  }
  signals_.async_wait([this](const boost::system::error_code& error, int next) {
    if (!error) Interrupted(next);
  });
}

void LocalRun::ShowAgain() {
  show_.expires_after(kShowPeriod);
  show_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    LookAtDisk(false);
    ShowNow();
    ShowAgain();
  });
}

void LocalRun::ShowNow() {
  if (page_ || shows_logs()) TakeRecords();
  if (shows_logs()) ShowLogs();
}

void LocalRun::ShowLogs() {
  if (log_writer_.waiting() > kMostWaiting) return;
  const std::string text = logs_.Take();
  if (text.empty()) return;
  status_.Clear();
  log_writer_.Write(text);
}

void LocalRun::TakeRecords() {
  const std::vector<trace::TraceRecord> fresh = records_.Take(true);
  for (const trace::TraceRecord& record : fresh) {
    live_.Observe(record);
    for (const std::string& text : {RestartText(record), ports_.Text(record)}) {
      if (text.empty() || !shows_logs()) continue;
      status_.Clear();
      cli::TryWriteStderr(cli::TerminalText(text) + "\n");
    }
  }
  // A line that is drawn while logs are written would stand among them.
  status_.Show(fresh, hosts::Now() - began_, log_writer_.waiting() == 0);
}

// ---------------------------------------------------------------- the page

void LocalRun::OpenPage() {
  if (!arguments_.page) return;
  page_ = std::make_unique<hosts::StatusPage>(
      loop_,
      hosts::PageContent{.state = [this] { return live_.Json(hosts::Now()); },
                         .report = [this] { return ReportSoFar(Outcome()); },
                         .log = [this](const hosts::LogRequest& asked) { return LogEnd(asked); }});
  const auto address = page_->Listen(kHost, kHost);
  if (!address) return cli::Complain(address.error().message);
  if (!arguments_.quiet) cli::WriteStderr(fmt::format("page: {}\n", *address));
  WriteAddress(*address);
}

/// For those who look at the run from elsewhere; the directory is its owner's only.
void LocalRun::WriteAddress(const std::string& address) {
  const auto written = cli::WriteFile(directory_.root + "/page", address + "\n");
  if (!written) cli::Complain(written.error().message);
}

std::optional<std::string> LocalRun::LogEnd(const hosts::LogRequest& asked) const {
  if (!live_.tasks().contains(asked.task)) return std::nullopt;
  const std::string path = fmt::format("{}/{}-{}.attempt-{}.{}", directory_.logs(), asked.task.type,
                                       asked.task.index, asked.attempt, asked.stream);
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return std::nullopt;
  return agent_host::ReadLogTail(path, 0, kShownLog);
}

RunOutcome LocalRun::Outcome() const {
  return {.directory = directory_,
          .job = job_,
          .version = version_,
          .began = began_,
          .ended = hosts::Now(),
          .exit_code = exit_code_.value_or(0)};
}

// ---------------------------------------------------------------- the end

void LocalRun::ClientEnded(int code) {
  exit_code_ = code;
  if (interrupts_ > 1) return EndIfOver();
  last_.expires_after(kLastProcesses);
  last_.async_wait([this](const boost::system::error_code& error) {
    if (!error) cluster_.KillAll();
  });
  EndIfOver();
}

void LocalRun::EndIfOver() {
  if (!exit_code_ || !cluster_.idle()) return;
  loop_.stop();
}

/// The AM is no process of the user's.
void LocalRun::LookAtDisk(bool finishing) {
  reserve_.Look(hosts::Now(), finishing || cluster_.node().running() <= 1);
}

/// Of a run in which no process was started.
int LocalRun::CleanUp() {
  cli::WriteStderr("nothing was started\n");
  std::error_code ignored;
  fs::remove_all(directory_.root, ignored);
  return cli::ToInt(*not_started_);
}

int LocalRun::Finish() {
  if (faults_) faults_->Finish();
  // What no tree knew for its own: of an agent that was killed before its task's children were
  // seen.
  hosts::EndDescendants({}, kLeftOvers);
  RemoveTemporary(directory_);
  if (shows_logs()) TakeRecords();
  status_.Clear();
  if (const std::string full = reserve_.Account(); !full.empty()) cli::TryWriteStderr(full + "\n");
  reserve_.GiveBack();
  if (shows_logs()) log_writer_.Write(logs_.TakeLast());
  cluster_recorder_.Write(hosts::Now(), trace::RunStopped{});
  return Deliver(Outcome(), {.json = arguments_.json,
                             .propagate_exit = arguments_.propagate_exit,
                             .may_print = [this] { return LogsAreWritten(); }});
}

// All results are in their files. From now on a signal ends this process at once, as it ends any
// other that waits for the reader of its output.
bool LocalRun::LogsAreWritten() {
  boost::system::error_code ignored;
  signals_.clear(ignored);
  while (!log_writer_.Drain(kReaderPatience)) {
    if (interrupts_ == 0) continue;
    cli::TryWriteStderr(
        fmt::format("standard output takes nothing: the end of the logs, in {}, and the "
                    "verdict, in {}/result.json, are not shown\n",
                    directory_.logs(), directory_.root));
    return false;
  }
  return true;
}

}  // namespace tfyarn::local
