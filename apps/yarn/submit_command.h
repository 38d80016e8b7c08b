// `tfyarn submit`: runs a job on a YARN cluster.
#pragma once

#include <string>
#include <vector>

#include "core/model/time.h"

namespace tfyarn::apps {

enum class DryRun {
  kNo,
  kJob,      ///< Look at the job and its files, and ask no server.
  kCluster,  ///< Ask the cluster, too, whether it could hold the job.
};

struct SubmitArguments {
  std::string file;
  std::vector<std::string> sets;  ///< path=value
  bool wait = false;              ///< Stay until the job has ended, and end as it did.
  bool json = false;              ///< What came of it as one JSON object on stdout.
  bool quiet = false;             ///< No progress on stderr.
  Duration timeout = 10min;       ///< Longest silence of RM or HDFS until the job is accepted.
  DryRun dry_run = DryRun::kNo;   ///< Not kNo: nothing is submitted.
  bool no_check = false;          ///< Submit what the cluster can never hold, too.
};

/// Prints the application's id on stdout as soon as YARN has taken it, and with `wait` the verdict.
/// A first Ctrl-C kills the job, a second one ends the program. Returns kOk once it is accepted,
/// or with `wait` the job's outcome; kInvalidInput, kCredentials, kCluster. `version`: of the
/// program.
[[nodiscard]] int SubmitCommand(const SubmitArguments& arguments, const std::string& version);

}  // namespace tfyarn::apps
