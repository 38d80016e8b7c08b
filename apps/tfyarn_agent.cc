// tfyarn-agent: the process inside every task's container. It is started by a NodeManager, or by
// `tfyarn run` in its place, and finds everything in its environment and work directory.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "core/model/launch.h"
#include "hosts/agent/agent_host.h"
#include "hosts/local/local_environment.h"
#include "hosts/local/local_storage.h"
#include "hosts/runtime/staging.h"
#include "wire/private_file.h"

namespace {

using namespace tfyarn;

void Note(const std::string& text) {
  cli::WriteStderr(text + "\n");
}

int Fail(const std::string& why) {
  Note("tfyarn-agent: " + why);
  return 1;
}

/// Without what a user's process must not inherit, as it is the agent's own business.
std::map<std::string, std::string> ForTheTask(std::map<std::string, std::string> environment) {
  std::erase_if(environment, [](const auto& entry) {
    return entry.first.starts_with("TFYARN_") && entry.first != hosts::kSharedDirectoryVariable;
  });
  return environment;
}

hosts::Recorder OpenRecorder(const hosts::LocalEnvironment& local, std::uint64_t seed,
                             const std::string& job_file) {
  auto recorder = hosts::Recorder::Open(
      fmt::format("{}/agent-{}.record", local.recordings, ToString(local.container)),
      {.version = TFYARN_VERSION,
       .who = hosts::Recorded::kAgent,
       .seed = seed,
       .job_file = job_file});
  if (recorder) return std::move(*recorder);
  Note(recorder.error().message);
  return {};
}

int Main() {
  const auto environment = apps::OwnEnvironment();
  const auto launch = AgentLaunchFrom(environment);
  if (!launch) return Fail(launch.error().message + "; `tfyarn run` starts this program");
  const auto local = hosts::LocalEnvironmentFrom(environment);
  if (!local) return Fail(local.error().message);
  const auto job = apps::ReadStagedJob();
  if (!job) return Fail(job.error().message);
  const auto pem = wire::ReadPrivateFile(std::string(hosts::kIdentityFile));
  if (!pem) return Fail(pem.error().message);
  const auto identity = wire::IdentityFromPem(*pem);
  if (!identity) return Fail(identity.error().message);

  boost::asio::io_context loop;
  int exit_code = 1;
  hosts::LocalStorage storage(loop, local->storage, "");
  const std::uint64_t seed = apps::RandomSeed();
  hosts::Recorder recorder = OpenRecorder(*local, seed, job->text);
  agent_host::AgentHost host(job->spec,
                             {.launch = *launch,
                              .host = local->host,
                              .directory = std::filesystem::current_path().string(),
                              .log_directory = local->logs,
                              .environment = ForTheTask(environment),
                              .seed = seed},
                             *identity,
                             {.loop = loop,
                              .storage = storage,
                              .recorder = recorder,
                              .exit =
                                  [&](int code, const std::string& reason) {
                                    Note(reason);
                                    exit_code = code;
                                    loop.stop();
                                  },
                              .note = Note});
  boost::asio::signal_set signals(loop, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) host.Terminate();
  });
  host.Start();
  loop.run();
  return exit_code;
}

}  // namespace

int main() {
  cli::PrepareStandardStreams();
  return Main();
}
