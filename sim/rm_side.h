// The ResourceManager as a simulated cluster has it: its process, calls to it and their answers,
// and what it tells others.
//
// It owns the process, which may be down or stand still, what survives it, the calls that wait for
// it, and which containers it has granted, as the trace has it. It uses the kernel, links, the
// cluster's records, message faults, the trace and the sabotage desk. That a job is over it tells
// through JobEnds.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/resource_manager.h"
#include "sim/actors.h"
#include "sim/calls.h"
#include "sim/cluster.h"
#include "sim/sabotage_desk.h"
#include "sim/trace_tap.h"

namespace tfyarn::sim {

/// Hears of jobs that are over.
class JobEnds {
 public:
  /// As the user or, without a client, the ResourceManager sees it; it may come more than once.
  virtual void EndSeen(JobRecord& job) = 0;

 protected:
  ~JobEnds() = default;
};

class RmSide : private Driver<fakes::ResourceManager> {
 public:
  /// All must outlive it.
  RmSide(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
         MessageFaults& message_faults, TraceTap& trace, const SabotageDesk& sabotage);

  /// Before the first event. `ends` must outlive it.
  void SetJobEnds(JobEnds& ends) { ends_ = &ends; }
  /// Sets its timer, as it may need it earlier now.
  void Reschedule() { links_.Reschedule(actor_); }

  [[nodiscard]] const RmActor& actor() const { return actor_; }
  /// nullptr: it is down.
  [[nodiscard]] const fakes::ResourceManager* process() const { return actor_.machine.get(); }
  /// It is up and does not stand still.
  [[nodiscard]] bool answers() const { return process() != nullptr && !actor_.paused; }
  /// The same for all ResourceManagers of the cluster.
  [[nodiscard]] const std::shared_ptr<const fakes::TokenBook>& tokens() const { return tokens_; }
  /// As the trace has it; outlives a ResourceManager's process.
  [[nodiscard]] bool HasGranted(const ContainerId& container) const {
    return granted_.contains(container);
  }
  /// The trace, and the container's agent, hear that it has the container no more.
  void Free(const ContainerId& container, std::int32_t exit_status);

  /// What no caller says, and a network cannot delay. Harmless while it is down.
  void Tell(fakes::RmEvent&& event) {
    if (process() != nullptr) actor_.StepNow(std::move(event));
  }
  /// `answer(response)` runs when the answer is back at the caller. `poll`: an actor's beat.
  template <class Answer>
  void Call(AnyActor& from, fakes::Caller caller, yarn::Token token, yarn::RmRequest request,
            bool poll, Answer answer);

  // ---- faults, which may overlap; each ends what it began

  [[nodiscard]] std::int32_t downs() const { return downs_; }
  [[nodiscard]] std::int32_t pauses() const { return pauses_; }
  /// True: it was up until now.
  [[nodiscard]] bool BeginDown() { return downs_++ == 0; }
  /// True: nothing keeps it down any more.
  [[nodiscard]] bool EndDown() { return --downs_ == 0; }
  [[nodiscard]] bool BeginPause() { return pauses_++ == 0; }
  [[nodiscard]] bool EndPause() { return --pauses_ == 0; }
  /// The administrator's list has the node on it, or not: what is to happen to it. One that is
  /// down reads the list when it starts.
  void Exclude(std::int32_t node);
  /// Its process ends. What it has stored is kept.
  void Stop();
  /// Another starts from that store; `entity` keys its draws.
  void Restart(std::uint64_t entity);
  void Pause() { actor_.paused = true; }
  /// It serves the calls that came while it stood still.
  void GoOn();

 private:
  /// A call's way to the RM and back.
  struct Terms {
    fakes::Caller caller;
    yarn::Token token;
    Duration back{};                    ///< Of the answer.
    std::optional<std::uint32_t> turn;  ///< Set: the answer comes in that actor's turn.
    std::uint32_t sender = 0;           ///< Actor.
    Instant give_up{};                  ///< Until then a refused call is tried again.
  };
  /// Delivers a call now; `answer(response)` runs when the answer arrives back at the caller.
  template <class Answer>
  void Deliver(Terms&& terms, yarn::RmRequest&& request, Answer answer);
  [[nodiscard]] yarn::RmResponse Serve(Terms&& terms, yarn::RmRequest&& request);

  void Carry(RmActor& rm, fakes::RmAction& action) override;
  void End(RmActor& /*rm*/) override { Stop(); }
  [[nodiscard]] Party PartyOf(const RmActor& rm) const override;
  [[nodiscard]] bool HasQuietLink(const RmActor& /*rm*/) const override { return false; }
  void SendIdleBeat(RmActor& /*rm*/, Instant /*at*/, Instant /*answered*/) override {}
  void Vouch(RmActor& /*rm*/, bool /*vouched*/, Instant /*last*/) override {}

  void TellGranted(fakes::Granted&& granted);
  void TellEnded(const fakes::ApplicationEnded& ended);
  void CallNode(fakes::RmCallNm call);
  /// What the AM skipped so far the RM has heard before a call of it that comes late.
  void HearBeatsOf(std::uint32_t am);

  Cluster& cluster_;
  MessageFaults& message_faults_;
  TraceTap& trace_;
  const SabotageDesk& sabotage_;
  JobEnds* ends_ = nullptr;  ///< Set by SetJobEnds.
  RmActor actor_;
  std::shared_ptr<const fakes::TokenBook> tokens_;
  std::optional<fakes::RmStateStore> store_;  ///< While it is down.
  boost::unordered_flat_set<ContainerId> granted_;
  std::vector<std::uint32_t> backlog_;  ///< Calls that the kernel holds while it stands still.
  std::int32_t downs_ = 0;              ///< Faults that keep it down.
  std::int32_t pauses_ = 0;             ///< Faults that make it stand still.
};

template <class Answer>
void RmSide::Deliver(Terms&& terms, yarn::RmRequest&& request, Answer answer) {
  if (process() == nullptr) {
    if (kernel_.now() + kRefusedRetry >= terms.give_up) {
      return kernel_.After(terms.back, [answer = std::move(answer)]() mutable {
        answer(Refused("the ResourceManager"));
      });
    }
    return kernel_.After(kRefusedRetry,
                         [this, terms = std::move(terms), request = std::move(request),
                          answer = std::move(answer)]() mutable {
                           if (links_.Living(terms.sender) == nullptr) return;
                           Deliver(std::move(terms), std::move(request), std::move(answer));
                         });
  }
  if (actor_.paused) {
    backlog_.push_back(kernel_.Hold([this, terms = std::move(terms), request = std::move(request),
                                     answer = std::move(answer)]() mutable {
      Deliver(std::move(terms), std::move(request), std::move(answer));
    }));
    return;
  }
  const Duration back = terms.back;
  const std::optional<std::uint32_t> turn = terms.turn;
  auto deliver = [answer = std::move(answer),
                  response = Serve(std::move(terms), std::move(request))]() mutable {
    answer(std::move(response));
  };
  // A fault may make the answers to several calls come at one instant.
  if (turn && !setup_.scenario.faults.empty())
    return kernel_.InOrderAtTurnOf(*turn, kernel_.now() + back, std::move(deliver));
  if (turn) return kernel_.AtTurnOf(*turn, kernel_.now() + back, std::move(deliver));
  kernel_.After(back, std::move(deliver));
}

template <class Answer>
void RmSide::Call(AnyActor& from, fakes::Caller caller, yarn::Token token, yarn::RmRequest request,
                  bool poll, Answer answer) {
  const Duration there =
      poll ? Duration::zero() : cluster_.network.Latency(from.place, kRmPlace, from.id);
  const Duration back = poll && cluster_.network.Undisturbed(from.place, kRmPlace)
                            ? from.beat.round_trip
                            : cluster_.network.Latency(kRmPlace, from.place, from.id) +
                                  (poll ? there : Duration::zero());
  const MessageFate fate = message_faults_.FateOf(from, [&] { return RequestName(request); });
  const MessageFate answer_fate =
      message_faults_.FateOf(from, [&] { return ResponseName(request); });
  const bool of_nm = caller.kind == fakes::CallerKind::kNm;
  const bool muted = of_nm && cluster_.nodes[from.place].muted > 0;
  if (sabotage_.Is(Damage::kFails)) {
    auto fails = [answer = std::move(answer), error = sabotage_.RpcAnswer()]() mutable {
      answer(std::move(error));
    };
    if (poll) return kernel_.AtTurnOf(from.id, kernel_.now() + there + back, std::move(fails));
    return kernel_.After(there + back, std::move(fails));
  }
  const bool lost = muted || fate.dropped || sabotage_.Is(Damage::kLost) ||
                    cluster_.network.Lost(from.place, kRmPlace, from.id) ||
                    !cluster_.network.Reachable(from.place, kRmPlace);
  if (lost) {
    return kernel_.After(kRpcTimeout, [answer = std::move(answer)]() mutable {
      answer(NotAnswered("the ResourceManager"));
    });
  }
  const bool answer_lost = answer_fate.dropped || sabotage_.Is(Damage::kUnanswered) ||
                           cluster_.network.Lost(kRmPlace, from.place, from.id) ||
                           !cluster_.network.Reachable(kRmPlace, from.place);
  const Duration patience = of_nm ? Duration::zero() : there + fate.delay + kRefusedGiveUp;
  const bool beaten =
      poll && caller.kind == fakes::CallerKind::kAm && fate.delay > Duration::zero();
  // Not const: a lambda that holds a constant is copied where it could be moved.
  Terms terms{.caller = std::move(caller),
              .token = std::move(token),
              .back = back + answer_fate.delay,
              .turn = poll ? std::optional(from.id) : std::nullopt,
              .sender = from.id,
              .give_up = kernel_.now() + patience};
  auto deliver = [this, terms = std::move(terms), request = std::move(request), answer_lost, beaten,
                  copies = fate.copies, answers = answer_fate.copies,
                  answer = std::move(answer)]() mutable {
    if (beaten) HearBeatsOf(terms.sender);
    for (int copy = 1; copy < copies; ++copy) {
      Deliver(Terms(terms), yarn::RmRequest(request), [](const yarn::RmResponse&) {});
    }
    if (answer_lost) {
      Deliver(std::move(terms), std::move(request), [](const yarn::RmResponse&) {});
      return kernel_.After(kRpcTimeout, [answer = std::move(answer)]() mutable {
        answer(NotAnswered("the ResourceManager"));
      });
    }
    Deliver(std::move(terms), std::move(request),
            [answer = std::move(answer), answers](yarn::RmResponse&& response) mutable {
              for (int copy = 1; copy < answers; ++copy) answer(yarn::RmResponse(response));
              answer(std::move(response));
            });
  };
  if (there + fate.delay == Duration::zero()) return deliver();
  kernel_.After(there + fate.delay, std::move(deliver));
}

}  // namespace tfyarn::sim
