// `tfyarn doctor`: what keeps jobs from running on the cluster of HADOOP_CONF_DIR, and what to do.
#pragma once

namespace tfyarn::apps {

struct DoctorArguments {
  bool json = false;
};

/// A line for each thing that was looked at. Returns kOk, also with warnings; kInvalidInput when
/// the configuration cannot be used; kCluster for any other problem.
[[nodiscard]] int DoctorCommand(const DoctorArguments& arguments);

}  // namespace tfyarn::apps
