// Keeps what a process writes down also in HDFS: files that grow are appended to from time to time,
// others are written whole. The job never waits for it, and nothing of it is held in memory: what
// HDFS does not take yet stays in the files of this machine.
//
// Appends may be made twice or in part (WebHDFS tells no difference between an answer that was lost
// and a call that was): after one that failed the next begins a line, so that readers lose no
// other.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/model/hdfs.h"
#include "core/model/time.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/growing_file.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::hosts {

class HistoryWriter {
 public:
  struct Parts {
    boost::asio::io_context& loop;
    Storage& storage;
    std::string directory;  ///< In HDFS, for all that is written here; made when it is not there.
    std::function<void(const std::string&)> note;  ///< When writing fails, and when it works again.
  };

  /// What is new is written so long after it was found, and then together.
  static constexpr Duration kPeriod = 2s;
  /// Pauses after a failure, growing from the one to the other.
  static constexpr Duration kFirstPause = 1s;
  static constexpr Duration kLongestPause = 1min;
  /// Bytes of one append.
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 20;

  explicit HistoryWriter(Parts parts);

  /// From now on `name` has what `grown` has, which outlives this.
  void Follow(const std::string& name, const GrowingFile& grown);
  /// `name` has these bytes; what was there before is replaced.
  void Put(const std::string& name, std::string bytes);
  /// Writes what is there and then calls `done`: at once when nothing is, and after `most` whatever
  /// is left. Nothing more is written then.
  void Finish(Duration most, std::function<void()> done);

 private:
  struct Followed {
    const GrowingFile* grown = nullptr;
    std::uint64_t written = 0;  ///< Bytes of it that HDFS has.
    bool new_line = false;      ///< Begin with one.
  };

  void Tick();
  void Next();
  [[nodiscard]] bool PutNext();
  [[nodiscard]] bool AppendNext();
  void MakeDirectory();
  void Call(hdfs::HdfsRequest request, std::function<void()> written, std::function<void()> failed);
  void Failed(const hdfs::HdfsError& error);
  void Worked();
  void End();

  Parts parts_;
  std::map<std::string, Followed> followed_;
  std::map<std::string, std::string> whole_;  ///< To be written.
  boost::asio::steady_timer tick_;
  boost::asio::steady_timer last_;
  std::function<void()> done_;
  Duration pause_ = kFirstPause;
  bool directory_made_ = false;
  bool busy_ = false;
  bool failing_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
