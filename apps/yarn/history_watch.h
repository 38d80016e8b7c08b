// Reads what an ApplicationMaster writes into its job's history while others wait for the job
// (job_news.h): YARN's own report says of it only that it runs. The page tells it too, but a client
// may have no way to the ResourceManager's web server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "apps/yarn/job_news.h"
#include "core/model/ids.h"
#include "wire/webhdfs/webhdfs_client.h"

namespace tfyarn::apps {

class HistoryWatch {
 public:
  /// Between two looks: an AM writes its events every two seconds.
  static constexpr Duration kPause = 3s;

  /// `applications`: the directory of HDFS with the history of them.
  HistoryWatch(wire::WebHdfsClient& hdfs, std::string applications)
      : hdfs_(hdfs), applications_(std::move(applications)) {}

  /// Reads what is new of this attempt, then calls `done`; one at a time. Where HDFS gives no
  /// answer nothing changes.
  void Look(const ApplicationAttemptId& attempt, std::function<void()> done);
  /// The same with the client's own loop, to its end.
  void LookNow(boost::asio::io_context& loop, const ApplicationAttemptId& attempt);

  [[nodiscard]] JobNews& news() { return news_; }

 private:
  void Read(const std::string& path, std::uint64_t size, std::function<void()> done);

  wire::WebHdfsClient& hdfs_;
  std::string applications_;
  ApplicationAttemptId attempt_;
  std::uint64_t next_ = 0;  ///< Byte of the attempt's events behind the last whole line.
  JobNews news_;
};

}  // namespace tfyarn::apps
