// The AM's journal and address in its staging directory: what AppendJournal, ReadJournal and
// PublishAddress mean on a real host, and what agents read.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <string>

#include "core/model/agent.h"
#include "core/model/am.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::hosts {

class JournalFile {
 public:
  /// `tell` gets the answers: JournalRead, JournalAppended, JournalFailed. `storage` must outlive
  /// this.
  JournalFile(boost::asio::io_context& loop, Storage& storage, std::string staging_directory,
              const ApplicationAttemptId& attempt, std::function<void(AmEvent)> tell);

  /// Takes the journal from earlier attempts.
  void Read();
  /// One at a time, in order.
  void Append(AppendJournal append);
  /// Repeated each second until it is written.
  void Publish(const PublishAddress& publish);

 private:
  void AppendNext();

  Storage& storage_;
  std::string directory_;
  std::string writer_;
  std::function<void(AmEvent)> tell_;
  std::deque<AppendJournal> appends_;
  boost::asio::steady_timer publish_again_;
  Lifetime lifetime_;
};

/// Asks for the newest AM address beside the journal.
void ReadAmAddressFrom(Storage& storage, const std::string& staging_directory,
                       std::function<void(AmAddressRead)> answer);

}  // namespace tfyarn::hosts
