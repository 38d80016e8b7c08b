// tfyarn-am: the ApplicationMaster's process. It is started by a NodeManager, or by `tfyarn run` in
// its place, and finds everything in its environment and work directory; people start `tfyarn`.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "core/model/launch.h"
#include "hosts/local/cluster_socket.h"
#include "hosts/local/local_environment.h"
#include "hosts/local/local_storage.h"
#include "hosts/runtime/am_process.h"

namespace {

using namespace tfyarn;

/// The end of the socket pair that `tfyarn run` hands down.
constexpr int kClusterDescriptor = 3;

int Fail(const std::string& why) {
  cli::WriteStderr("tfyarn-am: " + why + "\n");
  return 1;
}

int Main() {
  const auto environment = apps::OwnEnvironment();
  const auto launch = AmLaunchFrom(environment);
  if (!launch) return Fail(launch.error().message + "; `tfyarn run` starts this program");
  const auto local = hosts::LocalEnvironmentFrom(environment);
  if (!local) return Fail(local.error().message);
  const auto job = apps::ReadStagedJob();
  if (!job) return Fail(job.error().message);

  boost::asio::io_context loop;
  int exit_code = 1;
  const auto stop = [&](int code) {
    exit_code = code;
    loop.stop();
  };
  hosts::ClusterSocket cluster(loop, agent_host::UniqueFd(kClusterDescriptor),
                               [&] { stop(Fail("the process that started this one is gone")); });
  hosts::LocalStorage storage(loop, local->storage, "");
  const ApplicationAttemptId attempt = local->container.application_attempt;
  hosts::AmProcess process(
      job->spec,
      {.container = local->container,
       .host = local->host,
       .listen_on = local->host,
       .am = {.staging_directory = launch->staging_directory,
              .rm_heartbeat = local->heartbeat,
              .nodes_may_come = false},
       .seed = apps::RandomSeed(),
       .version = TFYARN_VERSION,
       .recording = fmt::format("{}/am-{}.record", local->recordings, ToString(attempt)),
       .job_file = job->text},
      {.loop = loop,
       .cluster = cluster,
       .storage = storage,
       .exit = stop,
       .seen = {},
       .note = [](const std::string& note) { cli::WriteStderr(note + "\n"); }});
  process.Start();
  loop.run();
  return exit_code;
}

}  // namespace

int main() {
  cli::PrepareStandardStreams();
  return Main();
}
