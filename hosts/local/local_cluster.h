// One machine as a cluster: its ResourceManager, its node and its files, for a client in this
// process and for the AMs that it starts.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "hosts/local/cluster_socket.h"
#include "hosts/local/local_node.h"
#include "hosts/local/local_rm.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/recording.h"

namespace tfyarn::hosts {

class LocalCluster : public Cluster {
 public:
  struct Parts {
    boost::asio::io_context& loop;
    Recorder& recorder;
    std::function<std::string(const std::string&)> locate;  ///< See LocalNode.
    /// Nothing holds or runs anything any more.
    std::function<void()> idle;
    std::function<void(const trace::Fact&)> seen;  ///< What is recorded, as it is. May be empty.
    /// Before an AM hears that it has unregistered: none of its tasks' processes runs any more. May
    /// be empty.
    std::function<void()> finishing = {};
  };

  LocalCluster(LocalRmOptions rm, LocalNodeOptions node, Parts parts);

  /// As a client.
  void CallRm(yarn::RmRequest request, RmAnswer answer) override;
  /// A client starts no containers: kYarn.
  void CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
              Secrets secrets, NmAnswer answer) override;

  /// Nothing of it is left: no container held, no process alive.
  [[nodiscard]] bool idle() const { return rm_.idle() && node_.running() == 0; }
  void KillAll() { node_.KillAll(); }
  /// Tells the container's AM now, and takes the container after `notice`.
  void Preempt(const ContainerId& container, Duration notice);
  void Record(trace::Fact fact);
  [[nodiscard]] const LocalNode& node() const { return node_; }
  [[nodiscard]] const LocalRm& rm() const { return rm_; }
  [[nodiscard]] const Resource& capacity() const { return rm_.capacity(); }

 private:
  void LaunchAm(const ContainerId& container, const Resource& resource,
                const yarn::ContainerLaunchContext& context);
  void Serve(const ContainerId& container, UniqueFd socket);
  void Received(const ContainerId& container, const std::string& body);
  void ContainerEnded(const ContainerId& container, std::int32_t exit_status,
                      const std::string& why);
  void TellIfIdle();
  void WatchAms();

  Parts parts_;
  LocalNode node_;
  LocalRm rm_;
  std::map<ContainerId, std::shared_ptr<FramedSocket>> masters_;
  boost::asio::steady_timer am_watch_;
  std::map<ContainerId, boost::asio::steady_timer> preemptions_;
};

}  // namespace tfyarn::hosts
