// tfyarn-am: the ApplicationMaster's process. It is started by a NodeManager, or by `tfyarn run` in
// its place, and finds everything in its environment and work directory; people start `tfyarn`.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "apps/yarn/started_containers.h"
#include "core/client/job_client.h"
#include "core/model/launch.h"
#include "core/trace/record.h"
#include "hosts/local/cluster_socket.h"
#include "hosts/local/local_environment.h"
#include "hosts/local/local_storage.h"
#include "hosts/runtime/am_process.h"
#include "hosts/yarn/am_face.h"
#include "hosts/yarn/hdfs_storage.h"
#include "hosts/yarn/yarn_cluster.h"
#include "hosts/yarn/yarn_environment.h"
#include "wire/hadoop/credentials.h"

namespace {

using namespace tfyarn;

/// The end of the socket pair that `tfyarn run` hands down.
constexpr int kClusterDescriptor = 3;

int Fail(const std::string& why) {
  cli::WriteStderr("tfyarn-am: " + why + "\n");
  return 1;
}

hosts::AmProcessOptions Options(const hosts::AmProcessOptions& options, const AmLaunch& launch,
                                const apps::StagedJob& job) {
  hosts::AmProcessOptions all = options;
  all.am.staging_directory = launch.staging_directory;
  all.seed = apps::RandomSeed();
  all.version = TFYARN_VERSION;
  all.job_file = job.text;
  return all;
}

void Note(const std::string& text) {
  cli::WriteStderr(text + "\n");
}

/// What a host adds to a run.
struct Around {
  std::function<void(Instant, const trace::Fact&)> observe;  ///< May be empty.
  /// The machine has ended with this code; calls the other when the process may.
  std::function<void(std::int32_t, std::function<void()>)> finish;
};

/// To the end of the process, in a world of two parts.
int RunIn(boost::asio::io_context& loop, hosts::Cluster& cluster, hosts::Storage& storage,
          const apps::StagedJob& job, const hosts::AmProcessOptions& options, const Around& around,
          int& exit_code) {
  hosts::AmProcess process(job.spec, options,
                           {.loop = loop,
                            .cluster = cluster,
                            .storage = storage,
                            .exit =
                                [&](int code) {
                                  around.finish(code, [&, code] {
                                    exit_code = code;
                                    loop.stop();
                                  });
                                },
                            .observe = around.observe,
                            .note = Note});
  process.Start();
  loop.run();
  return exit_code;
}

int RunHere(const std::map<std::string, std::string>& environment, const AmLaunch& launch,
            const apps::StagedJob& job) {
  const auto local = hosts::LocalEnvironmentFrom(environment);
  if (!local) return Fail(local.error().message);
  boost::asio::io_context loop;
  int exit_code = 1;
  hosts::ClusterSocket cluster(loop, agent_host::UniqueFd(kClusterDescriptor), [&] {
    exit_code = Fail("the process that started this one is gone");
    loop.stop();
  });
  hosts::LocalStorage storage(loop, local->storage, "");
  const std::string attempt = ToString(local->container.application_attempt);
  return RunIn(loop, cluster, storage, job,
               Options({.container = local->container,
                        .host = local->host,
                        .listen_on = local->host,
                        .am = {.rm_heartbeat = local->heartbeat, .nodes_may_come = false},
                        .recording = fmt::format("{}/am-{}.record", local->recordings, attempt)},
                       launch, job),
               {.finish = [](std::int32_t, const std::function<void()>& end) { end(); }},
               exit_code);
}

/// Tells later readers of this log where the other logs are.
void NoteStarts(const trace::Fact& fact) {
  const auto* ordered = std::get_if<trace::AmOrdered>(&fact);
  const auto* call = ordered == nullptr ? nullptr : std::get_if<CallNm>(&ordered->action);
  if (call == nullptr) return;
  const auto* start = std::get_if<yarn::StartContainersRequest>(&call->request);
  if (start == nullptr) return;
  for (const yarn::StartContainerRequest& each : start->containers)
    Note(apps::StartedLine({.container = each.container, .node = call->node}));
}

int RunOnYarn(const std::map<std::string, std::string>& environment, const AmLaunch& launch,
              const apps::StagedJob& job) {
  const auto yarn = hosts::YarnEnvironmentFrom(environment);
  if (!yarn) return Fail(yarn.error().message);
  auto credentials = hadoop::ReadCredentialsFile(yarn->container.credentials);
  if (!credentials) return Fail(credentials.error().message);
  boost::asio::io_context loop;
  int exit_code = 1;
  hosts::HdfsStorage storage(loop, hosts::HdfsOptionsFor(yarn->addresses));
  hosts::AmFace face(loop, job.spec, *yarn,
                     {.version = TFYARN_VERSION,
                      .job_file = job.text,
                      .directory = ".",
                      .staging_directory = launch.staging_directory,
                      .note = Note});
  hosts::YarnCluster cluster(loop, {.schedulers = yarn->addresses.schedulers,
                                    .user = yarn->addresses.user,
                                    .file_system = yarn->addresses.file_system,
                                    .credentials = std::move(*credentials),
                                    .connection = {},
                                    .report_address = [&face] { return face.ReportAddress(); }});
  // A NodeManager that ends this container gives it a moment: 250 ms, unless told otherwise.
  boost::asio::signal_set signals(loop, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int signal) {
    if (error) return;
    face.Finish(signal, [&, signal] {
      exit_code = cli::ToInt(cli::ExitCode::kSignalBase) + signal;
      loop.stop();
    });
  });
  return RunIn(loop, cluster, storage, job,
               Options({.container = yarn->container.container,
                        .host = yarn->container.host,
                        .am = {.tracking_url = face.OpenPage()}},
                       launch, job),
               {.observe =
                    [&](Instant at, const trace::Fact& fact) {
                      NoteStarts(fact);
                      face.Observe(at, fact);
                    },
                .finish = [&](std::int32_t code,
                              std::function<void()> end) { face.Finish(code, std::move(end)); }},
               exit_code);
}

int Main() {
  const auto environment = apps::OwnEnvironment();
  const auto launch = AmLaunchFrom(environment);
  if (!launch) {
    return Fail(launch.error().message +
                "; `tfyarn run` starts this program, and YARN for `tfyarn submit`");
  }
  // Nothing of the user's is in this directory.
  const std::string job_file = client::kJobFileName;
  if (const auto fetched = hosts::FetchJobFile(environment, launch->staging_directory, job_file);
      !fetched)
    return Fail(fetched.error().message);
  const auto job = apps::ReadStagedJob(job_file);
  if (!job) return Fail(job.error().message);
  return hosts::IsOnYarn(environment) ? RunOnYarn(environment, *launch, *job)
                                      : RunHere(environment, *launch, *job);
}

}  // namespace

int main() {
  cli::PrepareStandardStreams();
  apps::ShowAs("tfyarn-am");
  return Main();
}
