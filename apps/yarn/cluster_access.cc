#include "apps/yarn/cluster_access.h"

#include <fmt/format.h>

#include <utility>

#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/yarn/cluster_security.h"
#include "apps/yarn/hadoop_environment.h"
#include "config/diagnostics.h"

namespace tfyarn::apps {

std::optional<config::HadoopConfiguration> LoadHadoopConfiguration() {
  const auto directory = HadoopConfigurationDirectory();
  if (!directory) {
    cli::Complain(directory.error().message);
    return std::nullopt;
  }
  auto loaded = config::HadoopConfiguration::Load(*directory, OwnHadoopSurroundings());
  if (loaded) return std::move(*loaded);
  cli::Explain(loaded.error());
  return std::nullopt;
}

LoadedSettings LoadSettings() {
  const auto loaded = LoadHadoopConfiguration();
  if (!loaded) return tl::unexpected(cli::ExitCode::kInvalidInput);
  auto settings = config::ReadHadoopSettings(*loaded);
  if (!settings) {
    cli::Explain(settings.error());
    return tl::unexpected(cli::ExitCode::kInvalidInput);
  }
  if (!settings->kerberos && !settings->hdfs_https) return std::move(*settings);
  cli::Complain(fmt::format("{}: {} is not supported yet", *HadoopConfigurationDirectory(),
                            settings->kerberos ? "hadoop.security.authentication=kerberos"
                                               : "dfs.http.policy=HTTPS_ONLY"));
  return tl::unexpected(settings->kerberos ? cli::ExitCode::kCredentials
                                           : cli::ExitCode::kInvalidInput);
}

bool IsOpenTo(const config::HadoopSettings& settings) {
  const std::string why = KerberosIsWanted(settings);
  if (!why.empty()) cli::Complain(fmt::format("{}: {}", *HadoopConfigurationDirectory(), why));
  return why.empty();
}

LoadedSettings LoadClusterSettings() {
  auto settings = LoadSettings();
  if (settings && !IsOpenTo(*settings)) return tl::unexpected(cli::ExitCode::kCredentials);
  return settings;
}

std::vector<HostPort> Addresses(const std::vector<config::ResourceManagerAddresses>& managers,
                                HostPort config::ResourceManagerAddresses::*which) {
  std::vector<HostPort> addresses;
  for (const auto& manager : managers) addresses.push_back(manager.*which);
  return addresses;
}

hosts::YarnClusterOptions ClusterOptions(const config::HadoopSettings& settings) {
  return {
      .clients = Addresses(settings.resource_managers, &config::ResourceManagerAddresses::client),
      .user = settings.user,
      .file_system = settings.hdfs.authority,
      .connection = {.connect = settings.connect_timeout,
                     .call = settings.rpc_timeout,
                     .ping = settings.ping_interval,
                     .idle = settings.idle_connection}};
}

hosts::YarnAddresses YarnAddressesOf(const config::HadoopSettings& settings) {
  hosts::YarnAddresses addresses{
      .schedulers =
          Addresses(settings.resource_managers, &config::ResourceManagerAddresses::scheduler),
      .file_system = settings.hdfs.authority,
      .user = settings.user};
  for (const config::NameNodeAddresses& name_node : settings.hdfs.name_nodes)
    addresses.name_nodes.push_back(name_node.web);
  return addresses;
}

wire::WebHdfsOptions HdfsOptions(const config::HadoopSettings& settings) {
  wire::WebHdfsOptions options = hosts::HdfsOptionsFor(YarnAddressesOf(settings));
  options.umask |= settings.umask;
  return options;
}

std::string HomeInHdfs(const std::string& user) {
  return fmt::format("/user/{}/.tfyarn", user);
}

std::string StagingInHdfs(const std::string& user) {
  return HomeInHdfs(user) + "/staging";
}

tl::expected<std::string, hadoop::IpcError> ClusterQuestions::Ask(const hadoop::EncodedCall& call) {
  std::optional<tl::expected<std::string, hadoop::IpcError>> answer;
  cluster_.client().Call(call.method, call.body, hadoop::Repeatable::kAlways,
                         [&](tl::expected<std::string, hadoop::IpcError> result) {
                           answer = std::move(result);
                           loop_.stop();
                         });
  loop_.restart();
  loop_.run();
  return std::move(*answer);
}

}  // namespace tfyarn::apps
