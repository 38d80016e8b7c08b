// `tfyarn history` and `events`: what is kept of a cluster's jobs in HDFS, while they run and
// after.
#pragma once

#include <string>

namespace tfyarn::apps {

struct HistoryArguments {
  std::string application;  ///< "": list them.
  std::string user;         ///< Whose; "" = the caller's.
  std::string directory;    ///< `history.dir` of their jobs; "" = the default.
  std::string status;       ///< Only these; "" = any.
  std::string name;         ///< Part of a job's name.
  double days = 0;          ///< Only those begun since so many; 0 = any.
  bool all = false;         ///< More than the newest 20.
  bool json = false;
  bool open = false;  ///< Show the report in a browser.
  std::string out;    ///< Directory of this machine for all files; "" = none.
};

struct EventsArguments {
  std::string application;
  std::string user;
  std::string directory;
  bool follow = false;  ///< Stay until the application has ended.
  bool json = false;    ///< Every record, as it is in events.jsonl.
};

/// Returns kOk, kInvalidInput (no such application, or nothing that the caller may read), kCluster,
/// kInternal (a file could not be written).
[[nodiscard]] int HistoryCommand(const HistoryArguments& arguments, const std::string& version);
[[nodiscard]] int EventsCommand(const EventsArguments& arguments);

}  // namespace tfyarn::apps
