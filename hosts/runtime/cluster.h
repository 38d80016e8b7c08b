// What a machine's host needs from the cluster that it runs on: a carrier of calls to YARN and a
// store of files. One machine and a real cluster are two implementations.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/model/hdfs.h"
#include "core/model/ids.h"
#include "core/model/yarn.h"

namespace tfyarn::hosts {

/// Calls to the ResourceManager and to NodeManagers. An answer always comes, later, from the event
/// loop and never from inside the call; RpcError kUnavailable when the other side gave none.
class Cluster {
 public:
  using RmAnswer = std::function<void(yarn::RmResponse)>;
  using NmAnswer = std::function<void(yarn::NmResponse)>;
  /// By container: the secret that identifies its agent. It reaches the container in a file that
  /// no other user can read, never in an environment or on a command line.
  using Secrets = std::map<ContainerId, std::string>;

  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  virtual ~Cluster() = default;

  virtual void CallRm(yarn::RmRequest request, RmAnswer answer) = 0;
  virtual void CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
                      Secrets secrets, NmAnswer answer) = 0;
};

/// Files that outlive a process: HDFS, or a directory of this machine. Answers come as those of
/// Cluster do.
class Storage {
 public:
  using Answer = std::function<void(hdfs::HdfsResponse)>;

  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  virtual void Call(hdfs::HdfsRequest request, Answer answer) = 0;
};

}  // namespace tfyarn::hosts
