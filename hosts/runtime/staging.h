// Files of an application's staging directory, and what the client tells the AM beside the job.
#pragma once

#include <string>
#include <string_view>

#include "core/model/client.h"
#include "core/model/describe.h"
#include "core/model/error.h"
#include "core/model/hdfs.h"

namespace tfyarn::hosts {

inline constexpr std::string_view kJournalFile = "journal";
inline constexpr std::string_view kAddressFile = "am-address";  ///< See AmAddress.
inline constexpr std::string_view kFactsFile = "cluster-facts";
/// Certificate authority of the application, with its key: owner only.
inline constexpr std::string_view kAuthorityFile = "authority.pem";

/// In an agent's work directory, where the user's files stand as well, and so below kOwnDirectory.
inline constexpr std::string_view kAgentJobFile = ".tfyarn/job.yaml";
/// On YARN, the TMPDIR of the task's processes.
inline constexpr std::string_view kTemporaryDirectory = ".tfyarn/tmp";
/// The secret by which the agent proves its identity. Owner only.
inline constexpr std::string_view kIdentityFile = ".tfyarn/identity.pem";

/// What the client saw of the cluster before it submitted, and what it put into the staging
/// directory for the agents.
struct StagedFacts {
  ClusterFacts facts;
  WallTime surveyed{};
  yarn::ContainerLaunchContext agent_context;  ///< See am::AmOptions.
};
BOOST_DESCRIBE_STRUCT(StagedFacts, (), (facts, surveyed, agent_context))

/// Whether the same call may succeed later, without a change of the job.
[[nodiscard]] bool MayPass(hdfs::HdfsErrorCode code);

[[nodiscard]] std::string ToBytes(const StagedFacts& facts);
/// Errors: kDataLoss.
[[nodiscard]] Expected<StagedFacts> StagedFactsFrom(std::string_view bytes);

}  // namespace tfyarn::hosts
