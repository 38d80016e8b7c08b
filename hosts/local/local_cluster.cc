#include "hosts/local/local_cluster.h"

#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/model/codec.h"
#include "core/model/exit.h"
#include "hosts/runtime/clock.h"

namespace tfyarn::hosts {
namespace {

constexpr Duration kAmWatchPeriod = 5s;

}  // namespace

LocalCluster::LocalCluster(LocalRmOptions rm, LocalNodeOptions node, Parts parts)
    : parts_(std::move(parts)),
      node_(parts_.loop, std::move(node),
            {.ended = [this](const ContainerId& id, std::int32_t status,
                             const std::string& why) { ContainerEnded(id, status, why); },
             .grant_of = [this](const ContainerId& id) { return rm_.GrantOf(id); },
             .locate = parts_.locate,
             .observe = [this](trace::Fact fact) { Record(std::move(fact)); }}),
      rm_(std::move(rm),
          {.launch_am =
               [this](const ContainerId& id, const Resource& resource,
                      const yarn::ContainerLaunchContext& context) {
                 LaunchAm(id, resource, context);
               },
           .stop = [this](const ContainerId& id, std::int32_t status,
                          const std::string& why) { return node_.Stop(id, status, why); },
           .started = [this](const ContainerId& id) { return node_.Holds(id); },
           .observe = [this](trace::Fact fact) { Record(std::move(fact)); }}),
      am_watch_(parts_.loop) {
  WatchAms();
}

void LocalCluster::CallRm(yarn::RmRequest request, RmAnswer answer) {
  boost::asio::post(parts_.loop, [this, request = std::move(request), answer = std::move(answer)] {
    answer(rm_.Answer(std::nullopt, request, Now()));
    TellIfIdle();
  });
}

void LocalCluster::CallNm(const NodeId&, const yarn::Token&, yarn::NmRequest, Secrets,
                          NmAnswer answer) {
  boost::asio::post(parts_.loop, [answer = std::move(answer)] {
    answer(yarn::RpcError{.code = yarn::RpcErrorCode::kYarn,
                          .message = "a client starts no containers"});
  });
}

// What the process makes of it is heard later: the RM must not be called back from its own order.
void LocalCluster::LaunchAm(const ContainerId& container, const Resource& resource,
                            const yarn::ContainerLaunchContext& context) {
  boost::asio::post(parts_.loop, [this, container, resource, context] {
    if (!rm_.GrantOf(container)) return;  // Killed meanwhile.
    int pair[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      return ContainerEnded(container, container_exit::kInvalid, std::strerror(errno));
    UniqueFd ours(pair[0]);
    const auto launched = node_.Launch(container, resource, context, "", UniqueFd(pair[1]));
    if (!launched)
      return ContainerEnded(container, container_exit::kInvalid, launched.error().message);
    Serve(container, std::move(ours));
  });
}

void LocalCluster::Serve(const ContainerId& container, UniqueFd socket) {
  const auto master = std::make_shared<FramedSocket>(parts_.loop, std::move(socket));
  masters_[container] = master;
  master->Start([this, container](const std::string& body) { Received(container, body); },
                [this, container] { masters_.erase(container); });
}

void LocalCluster::Received(const ContainerId& container, const std::string& body) {
  ClusterCall call;
  Decoder decoder(body);
  decoder.Get(call);
  const auto master = masters_.find(container);
  if (!decoder.at_end() || master == masters_.end()) return;
  ClusterAnswer answer{.id = call.id};
  if (const auto* rm = std::get_if<yarn::RmRequest>(&call.call)) {
    if (parts_.finishing && std::holds_alternative<yarn::FinishApplicationMasterRequest>(*rm))
      parts_.finishing();
    answer.answer = rm_.Answer(container.application_attempt, *rm, Now());
  } else {
    const NodeCall& to_node = std::get<NodeCall>(call.call);
    answer.answer = node_.Answer(to_node.request, to_node.secrets);
  }
  std::string bytes;
  Encoder(bytes).Put(answer);
  master->second->Send(std::move(bytes));
  TellIfIdle();
}

void LocalCluster::ContainerEnded(const ContainerId& container, std::int32_t exit_status,
                                  const std::string& why) {
  const auto master = masters_.find(container);
  if (master != masters_.end()) {
    master->second->Close();
    masters_.erase(master);
  }
  rm_.ContainerEnded(container, exit_status, why, Now());
  TellIfIdle();
}

void LocalCluster::TellIfIdle() {
  if (idle()) parts_.idle();
}

void LocalCluster::WatchAms() {
  const Instant due = Now() + kAmWatchPeriod;
  am_watch_.expires_after(kAmWatchPeriod);
  am_watch_.async_wait([this, due](const boost::system::error_code& error) {
    if (error) return;
    rm_.ExpireAms(Now(), Now() - due);
    WatchAms();
  });
}

void LocalCluster::Preempt(const ContainerId& container, Duration notice) {
  const auto [timer, fresh] = preemptions_.try_emplace(container, parts_.loop);
  if (!fresh) return;
  rm_.AnnouncePreemption(container);
  timer->second.expires_after(notice);
  timer->second.async_wait([this, container](const boost::system::error_code& error) {
    if (error) return;
    rm_.Preempt(container);
    TellIfIdle();
  });
}

void LocalCluster::Record(trace::Fact fact) {
  if (parts_.seen) parts_.seen(fact);
  parts_.recorder.Write(Now(), std::move(fact));
}

}  // namespace tfyarn::hosts
