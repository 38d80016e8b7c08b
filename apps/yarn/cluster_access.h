// How commands reach the cluster of HADOOP_CONF_DIR.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "config/hadoop_settings.h"
#include "core/model/error.h"
#include "hosts/yarn/hdfs_storage.h"
#include "hosts/yarn/yarn_cluster.h"
#include "wire/hadoop/ipc_error.h"

namespace tfyarn::apps {

/// nullopt: what is wrong was said; the exit code is kInvalidInput.
[[nodiscard]] std::optional<config::HadoopConfiguration> LoadHadoopConfiguration();
/// The same; no server is asked. The error, which was said, is the exit code: kCredentials where
/// they say that the cluster wants Kerberos, else kInvalidInput.
using LoadedSettings = tl::expected<config::HadoopSettings, cli::ExitCode>;
[[nodiscard]] LoadedSettings LoadSettings();
/// The same, of a cluster that takes calls by these settings, as far as it answers.
[[nodiscard]] LoadedSettings LoadClusterSettings();
/// False: the cluster refuses all calls by these settings; that was said, and the exit code is
/// kCredentials.
[[nodiscard]] bool IsOpenTo(const config::HadoopSettings& settings);
/// As a client.
[[nodiscard]] hosts::YarnClusterOptions ClusterOptions(const config::HadoopSettings& settings);
/// One address of each ResourceManager.
[[nodiscard]] std::vector<HostPort> Addresses(
    const std::vector<config::ResourceManagerAddresses>& managers,
    HostPort config::ResourceManagerAddresses::*which);
/// What the job's own processes are told.
[[nodiscard]] hosts::YarnAddresses YarnAddressesOf(const config::HadoopSettings& settings);
/// What is made with them is for its user alone, whatever fs.permissions.umask-mode leaves to
/// others: a staging directory has a job's files in it.
[[nodiscard]] wire::WebHdfsOptions HdfsOptions(const config::HadoopSettings& settings);
/// Everything of ours that a user has in HDFS is below.
[[nodiscard]] std::string HomeInHdfs(const std::string& user);
/// The staging directories of a user's applications are below.
[[nodiscard]] std::string StagingInHdfs(const std::string& user);

/// Questions to the ResourceManager, one after the other.
class ClusterQuestions {
 public:
  explicit ClusterQuestions(const config::HadoopSettings& settings)
      : cluster_(loop_, ClusterOptions(settings)) {}

  /// Waits for the answer: seconds at most, when no ResourceManager gives one.
  [[nodiscard]] tl::expected<std::string, hadoop::IpcError> Ask(const hadoop::EncodedCall& call);

 private:
  boost::asio::io_context loop_;
  hosts::YarnCluster cluster_;
};

}  // namespace tfyarn::apps
