// Real processes for what a fake NodeManager starts: each in a session of its own, waited for in
// the event loop. Nothing is read from them; where they write is the script's business.
//
// Source: DefaultContainerExecutor.java.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/model/error.h"
#include "core/model/ids.h"

namespace tfyarn::fakes {

class ContainerProcesses {
 public:
  /// The process is gone: 0 to 255, 128 + n for signal n.
  using Ended = std::function<void(const ContainerId&, std::int32_t exit_status)>;

  ContainerProcesses(boost::asio::io_context& io, Ended ended);
  /// Kills what runs.
  ~ContainerProcesses();
  ContainerProcesses(const ContainerProcesses&) = delete;
  ContainerProcesses& operator=(const ContainerProcesses&) = delete;

  /// Runs bash with `script` in `directory`, with an empty environment; what it says before it says
  /// where goes to `output`. Errors: kUnavailable when there can be no process.
  [[nodiscard]] Expected<void> Start(const ContainerId& container, const std::string& script,
                                     const std::string& directory, const std::string& output);
  /// To the process group; nothing when it is gone.
  void Signal(const ContainerId& container, int number);

 private:
  struct Process {
    pid_t pid = 0;
    boost::asio::posix::stream_descriptor watch;  ///< Readable when the process has ended.
  };
  void Wait(const ContainerId& container);
  void Reap(const ContainerId& container);

  boost::asio::io_context& io_;
  const Ended ended_;
  std::map<ContainerId, Process> running_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfyarn::fakes
