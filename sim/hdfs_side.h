// HDFS as a simulated cluster has it: the NameNode, how long calls to it take, and the faults of it
// that are in force.
//
// It uses the kernel, the network and the sabotage desk.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/model/hdfs.h"
#include "core/model/time.h"
#include "fakes/hdfs/name_node.h"
#include "sim/actor.h"
#include "sim/calls.h"
#include "sim/kernel.h"
#include "sim/network.h"
#include "sim/random.h"
#include "sim/run_setup.h"
#include "sim/sabotage_desk.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {

class HdfsSide {
 public:
  /// All must outlive it.
  HdfsSide(Kernel& kernel, const RunSetup& setup, Network& network, const SabotageDesk& sabotage);
  HdfsSide(const HdfsSide&) = delete;
  HdfsSide& operator=(const HdfsSide&) = delete;

  /// `answer(response)` runs when the answer is back at the caller, the actor `sender`.
  template <class Answer>
  void Call(Place from, std::uint32_t sender, hdfs::HdfsRequest request, Answer answer);
  /// Carries out the order of one of the actors, which hears the answer if it lives then.
  template <class Machine>
  void CallFor(const ActorTable<Machine>& actors, const Actor<Machine>& caller, CallHdfs call) {
    Call(caller.place, caller.id, std::move(call.request),
         [&actors, id = caller.id, number = call.call](hdfs::HdfsResponse response) {
           if (Actor<Machine>* same = actors.Living(id))
             same->Step(HdfsReplied{.call = number, .response = std::move(response)});
         });
  }
  /// The same without the way there and back.
  [[nodiscard]] hdfs::HdfsResponse CallAtOnce(const hdfs::HdfsRequest& request) {
    return name_node_.Call(WallAt(kernel_.now()), request);
  }
  /// It refuses connections.
  [[nodiscard]] bool down() const { return name_node_.down(); }
  /// How long what takes so long takes with the faults in force.
  [[nodiscard]] Duration Slowed(Duration time) const;

  // ---- faults, which may overlap; each ends what it began

  void SwitchDown(bool begins);
  void SwitchSafeMode(bool begins);
  /// By that fault; nullopt: not any more.
  void SlowBy(std::uint64_t fault, std::optional<std::int32_t> permille);
  void LimitTo(std::uint64_t fault, std::optional<std::int64_t> bytes);

  /// The seed is another one.
  void DrawAnew();

 private:
  Kernel& kernel_;
  const RunSetup& setup_;
  Network& network_;
  const SabotageDesk& sabotage_;
  fakes::NameNode name_node_;
  Random delays_;
  std::int32_t downs_ = 0;
  std::int32_t safe_modes_ = 0;
  std::map<std::uint64_t, std::int32_t> slowed_by_;  ///< Permille.
  std::map<std::uint64_t, std::int64_t> quotas_;     ///< Bytes.
};

template <class Answer>
void HdfsSide::Call(Place from, std::uint32_t sender, hdfs::HdfsRequest request, Answer answer) {
  Duration time = delays_.DrawDuration(setup_.scenario.hdfs.latency);
  if (const auto* create = std::get_if<hdfs::CreateRequest>(&request)) {
    time += fakes::TransferTime(create->size, setup_.scenario.hdfs.bandwidth_bps);
  }
  time = Slowed(time);
  if (sabotage_.Is(Damage::kFails)) {
    return kernel_.After(time,
                         [answer = std::move(answer), error = sabotage_.HdfsAnswer()]() mutable {
                           answer(hdfs::HdfsResponse(std::move(error)));
                         });
  }
  if (sabotage_.Is(Damage::kUnanswered))
    kernel_.After(time, [this, request] { static_cast<void>(CallAtOnce(request)); });
  if (sabotage_.damage() != nullptr || !network_.Reachable(from, kHdfsPlace) ||
      !network_.Reachable(kHdfsPlace, from) || network_.Lost(from, kHdfsPlace, sender)) {
    return kernel_.After(kRpcTimeout, [answer = std::move(answer)]() mutable {
      answer(hdfs::HdfsResponse(NameNodeSilent()));
    });
  }
  kernel_.After(time, [this, request = std::move(request), answer = std::move(answer)]() mutable {
    answer(CallAtOnce(request));
  });
}

}  // namespace tfyarn::sim
