// What the events of a job tell those who wait for it, and YARN's own report does not: which nodes
// it waits for (docs/decisions/0002), and which tasks do not listen on their ports. Lines in, news
// out; history_watch.h reads them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/port_news.h"
#include "core/model/ids.h"
#include "core/trace/record.h"

namespace tfyarn::apps {

class JobNews {
 public:
  /// One line of events.jsonl; those of one attempt in order.
  void Take(std::string_view line);
  /// The lines that follow are of the next AM attempt, whose first tell all that is so then.
  void NextAttempt();

  /// What the nodes seen so far cannot hold; "" = none are waited for.
  [[nodiscard]] const std::string& limit() const { return limit_; }
  /// Of ports: what was not told yet. To a client that comes late, nothing that is over.
  [[nodiscard]] std::vector<std::string> PortLines();

 private:
  std::uint64_t seq_ = 0;  ///< Of the last line that was read.
  std::string limit_;
  std::map<TaskId, trace::TraceRecord> ports_;  ///< PortUseFound, the latest that was not told.
  cli::PortNews port_news_;
};

}  // namespace tfyarn::apps
