// What an ApplicationMaster on a cluster shows of its job: the page behind YARN's tracking URL
// while it goes on, and the history in HDFS, which stays.
//
// The page is asked for by YARN's web proxy, which puts /proxy/APPLICATION/ in front; its address
// has a secret in it that only the ResourceManager is told, and with it those who may see the
// application. Logs of tasks are on their nodes: the page leads to where NodeManagers show them.
//
// At its end the AM writes what is still to be written and removes the job's staging directory. It
// is done here and not by the machine: there is nothing to decide, it comes after the history, of
// which the machine knows nothing, and a client that waits does the same.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/job_spec.h"
#include "core/trace/record.h"
#include "hosts/runtime/chronicle.h"
#include "hosts/runtime/history_writer.h"
#include "hosts/runtime/lifetime.h"
#include "hosts/runtime/status_page.h"
#include "hosts/yarn/hdfs_storage.h"
#include "hosts/yarn/history_sweep.h"
#include "hosts/yarn/yarn_environment.h"

namespace tfyarn::hosts {

struct AmFaceOptions {
  std::string version;
  std::string job_file;
  std::string directory;          ///< Of this machine: the container's own.
  std::string staging_directory;  ///< Of the application; removed at its end.
  std::function<void(const std::string&)> note;
};

class AmFace {
 public:
  /// Longest time that the end of the process waits for the history; twice as long for all.
  static constexpr Duration kLongestEnd = 5s;

  AmFace(boost::asio::io_context& loop, std::shared_ptr<const JobSpec> job,
         const YarnEnvironment& environment, AmFaceOptions options);

  /// For the ResourceManager; "" when there can be no page, which is noted.
  [[nodiscard]] std::string OpenPage();
  /// Where the report is once the AM is gone.
  [[nodiscard]] std::string ReportAddress() const;
  void Observe(Instant at, const trace::Fact& fact) { chronicle_.Observe(at, fact); }
  /// The process is to end with `code`, 0 when the application is over; `done` is called when it
  /// may. Once.
  void Finish(std::int32_t code, std::function<void()> done);

 private:
  void ReadEarlier(std::int32_t attempt);
  void WriteDocuments(bool over);
  void WriteAgainAfter(Duration pause);
  void Clean();
  void Sweep();
  void Done();
  /// Not made anew for each who asks: it is made of all that was written down.
  [[nodiscard]] std::string Report();

  YarnEnvironment environment_;
  AmFaceOptions options_;
  Duration keep_;             ///< Histories of this directory.
  std::string applications_;  ///< Directory of HDFS with the history of them.
  std::string history_;       ///< Of this attempt.
  Chronicle chronicle_;
  StatusPage page_;
  HdfsStorage storage_;
  HistoryWriter writer_;
  HistorySweep sweep_;
  boost::asio::steady_timer documents_;
  boost::asio::steady_timer last_;
  std::vector<std::string> earlier_;  ///< Files of this machine: events of earlier attempts.
  std::string report_;
  Instant report_until_{};
  std::function<void()> done_;
  int under_way_ = 0;  ///< What `done_` waits for.
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
