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
#include <utility>
#include <vector>

#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "core/model/job_secrets.h"
#include "core/model/launch.h"
#include "hosts/agent/agent_host.h"
#include "hosts/agent/temporary_directory.h"
#include "hosts/local/local_environment.h"
#include "hosts/local/local_storage.h"
#include "hosts/runtime/staging.h"
#include "hosts/yarn/hdfs_storage.h"
#include "hosts/yarn/yarn_environment.h"
#include "wire/hadoop/credentials.h"
#include "wire/private_file.h"

namespace {

using namespace tfyarn;
using Environment = std::map<std::string, std::string>;

void Note(const std::string& text) {
  cli::WriteStderr(text + "\n");
}

int Fail(const std::string& why) {
  Note("tfyarn-agent: " + why);
  return 1;
}

/// Without what a user's process must not inherit, as it is the agent's own business. On YARN with
/// a place for its temporary files; on this machine there is one already.
Environment ForTheTask(Environment environment) {
  if (hosts::IsOnYarn(environment)) {
    const auto own = agent_host::MakeTemporaryDirectory(std::string(hosts::kTemporaryDirectory));
    if (own) environment["TMPDIR"] = *own;
    if (!own) Note(own.error().message);
  }
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

/// Those of the job, among pairs of name and value.
template <class Pairs>
std::vector<SecretValue> SecretsAmong(const Pairs& pairs) {
  std::vector<SecretValue> secrets;
  for (const auto& [name, value] : pairs) {
    if (auto secret = SecretFrom(name, value)) secrets.push_back(std::move(*secret));
  }
  return secrets;
}

/// Where the agent is, as the NodeManager or `tfyarn` that started it says.
struct Place {
  std::string host;
  std::string logs;
  std::string identity;  ///< PEM.
  std::vector<SecretValue> secrets;
  hosts::Recorder recorder;
  std::unique_ptr<hosts::Storage> storage;
};

Expected<Place> PlaceHere(const Environment& environment, boost::asio::io_context& loop,
                          std::uint64_t seed, const std::string& job_file) {
  const auto local = hosts::LocalEnvironmentFrom(environment);
  if (!local) return tl::unexpected<Error>(local.error());
  auto pem = wire::ReadPrivateFile(std::string(hosts::kIdentityFile));
  if (!pem) return tl::unexpected<Error>(pem.error());
  return Place{.host = local->host,
               .logs = local->logs,
               .identity = std::move(*pem),
               .secrets = SecretsAmong(environment),
               .recorder = OpenRecorder(*local, seed, job_file),
               .storage = std::make_unique<hosts::LocalStorage>(loop, local->storage, "")};
}

Expected<Place> PlaceOnYarn(const Environment& environment, boost::asio::io_context& loop) {
  const auto yarn = hosts::YarnEnvironmentFrom(environment);
  if (!yarn) return tl::unexpected<Error>(yarn.error());
  const auto credentials = hadoop::ReadCredentialsFile(yarn->container.credentials);
  if (!credentials) return tl::unexpected<Error>(credentials.error());
  const std::string* pem = credentials->FindSecret(hosts::kIdentitySecret);
  if (pem == nullptr) {
    return tfyarn::Fail(ErrorCode::kNotFound, fmt::format("{} has no identity for this agent",
                                                          yarn->container.credentials));
  }
  return Place{.host = yarn->container.host,
               .logs = yarn->container.logs,
               .identity = *pem,
               .secrets = SecretsAmong(credentials->secrets),
               .recorder = {},
               .storage = std::make_unique<hosts::HdfsStorage>(
                   loop, hosts::HdfsOptionsFor(yarn->addresses))};
}

int Main() {
  const Environment environment = apps::OwnEnvironment();
  const auto launch = AgentLaunchFrom(environment);
  if (!launch) {
    return Fail(launch.error().message +
                "; `tfyarn run` starts this program, and YARN for `tfyarn submit`");
  }
  const std::string job_file{hosts::kAgentJobFile};
  if (const auto fetched = hosts::FetchJobFile(environment, launch->staging_directory, job_file);
      !fetched)
    return Fail(fetched.error().message);
  const auto job = apps::ReadStagedJob(job_file);
  if (!job) return Fail(job.error().message);
  boost::asio::io_context loop;
  const std::uint64_t seed = apps::RandomSeed();
  auto place = hosts::IsOnYarn(environment) ? PlaceOnYarn(environment, loop)
                                            : PlaceHere(environment, loop, seed, job->text);
  if (!place) return Fail(place.error().message);
  const auto identity = wire::IdentityFromPem(place->identity);
  if (!identity) return Fail(identity.error().message);

  int exit_code = 1;
  agent_host::AgentHost host(job->spec,
                             {.launch = *launch,
                              .host = place->host,
                              .directory = std::filesystem::current_path().string(),
                              .log_directory = place->logs,
                              .environment = ForTheTask(environment),
                              .secrets = std::move(place->secrets),
                              .seed = seed},
                             *identity,
                             {.loop = loop,
                              .storage = *place->storage,
                              .recorder = place->recorder,
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
  apps::ShowAs("tfyarn-agent");
  return Main();
}
