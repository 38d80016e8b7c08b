// Which tasks do not listen on their ports, and that they do at last, in lines for the user who
// waits for the job.
#pragma once

#include <set>
#include <string>

#include "core/model/ids.h"
#include "core/trace/record.h"

namespace tfyarn::cli {

/// The first few in full, as a job of hundreds may have none that listens.
class PortNews {
 public:
  /// "" for what is not worth a line.
  [[nodiscard]] std::string Text(const trace::TraceRecord& record);

 private:
  std::set<TaskId> silent_;
  int told_ = 0;
};

}  // namespace tfyarn::cli
