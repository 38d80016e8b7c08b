// Events and actions of the JobClient: stage, submit, watch, resubmit, kill.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/model/am.h"
#include "core/model/describe.h"
#include "core/model/elision.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn {

/// First event: the user wants the job run.
struct SubmitRequested {
  std::string user;
  std::string
      staging_directory;  ///< HDFS path under which each application gets a directory of its own.
};
BOOST_DESCRIBE_STRUCT(SubmitRequested, (), (user, staging_directory))
/// The user wants the job ended.
struct KillRequested {
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(KillRequested, (), (reason))

/// RmReplied and HdfsReplied (am.h) answer CallRm and CallHdfs.
using ClientEvent = std::variant<SubmitRequested, KillRequested, RmReplied, HdfsReplied,
                                 DeadlineReached, HeartbeatsElided>;

/// The RM took the application. Account only.
struct ApplicationSubmitted {
  ApplicationId application;
  std::int32_t resubmission = 0;  ///< 0 for the first application of the job.
};
BOOST_DESCRIBE_STRUCT(ApplicationSubmitted, (), (application, resubmission))
/// Facts that the client gathered and the AM gets with its launch (it stages them with the job).
struct ClusterFacts {
  SharedList<yarn::NodeReport> nodes;
  yarn::PartitionAmounts queue_maximum;  ///< As AmStarted has it.
  Resource maximum_container;
};
BOOST_DESCRIBE_STRUCT(ClusterFacts, (), (nodes, queue_maximum, maximum_container))
/// The job has ended for its user. Account only.
struct JobEnded {
  JobStatus status = JobStatus::kUnfinished;
  std::string diagnostics;
};
BOOST_DESCRIBE_STRUCT(JobEnded, (), (status, diagnostics))
/// Last action: the client process ends with one of the documented exit codes.
struct ExitClient {
  std::int32_t code = 0;
};
BOOST_DESCRIBE_STRUCT(ExitClient, (), (code))

using ClientAction =
    std::variant<CallRm, CallHdfs, ApplicationSubmitted, ClusterFacts, JobEnded, ExitClient, Note>;

}  // namespace tfyarn
