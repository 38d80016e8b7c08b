// Parts of SimHost that are templates over what to do with an answer; included by its .cc files
// only.
#pragma once

#include <utility>

#include "sim/calls.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

template <class Answer>
void SimHost::DeliverToRm(RmCallTerms&& terms, yarn::RmRequest&& request, Answer answer) {
  if (rm_actor_.machine == nullptr) {
    if (kernel_.now() + kRefusedRetry >= terms.give_up) {
      return kernel_.After(terms.back, [answer = std::move(answer)]() mutable {
        answer(Refused("the ResourceManager"));
      });
    }
    return kernel_.After(kRefusedRetry,
                         [this, terms = std::move(terms), request = std::move(request),
                          answer = std::move(answer)]() mutable {
                           if (links_.Living(terms.sender) == nullptr) return;
                           DeliverToRm(std::move(terms), std::move(request), std::move(answer));
                         });
  }
  if (rm_actor_.paused) {
    rm_backlog_.push_back(
        kernel_.Hold([this, terms = std::move(terms), request = std::move(request),
                      answer = std::move(answer)]() mutable {
          DeliverToRm(std::move(terms), std::move(request), std::move(answer));
        }));
    return;
  }
  rm_response_.reset();
  // In place: an RmCall of its own would move the whole of it once more.
  fakes::RmEvent event;
  auto& call = event.emplace<fakes::RmCall>();
  call.id = next_rm_call_++;
  call.caller = std::move(terms.caller);
  call.token = std::move(terms.token);
  call.request = std::move(request);
  StepRm(std::move(event));
  TF_CHECK(rm_response_.has_value());
  auto deliver = [answer = std::move(answer), response = std::move(*rm_response_)]() mutable {
    answer(std::move(response));
  };
  // A fault may make the answers to several calls come at one instant.
  if (terms.turn && !setup_.scenario.faults.empty())
    return kernel_.InOrderAtTurnOf(*terms.turn, kernel_.now() + terms.back, std::move(deliver));
  if (terms.turn)
    return kernel_.AtTurnOf(*terms.turn, kernel_.now() + terms.back, std::move(deliver));
  kernel_.After(terms.back, std::move(deliver));
}

template <class Answer>
void SimHost::SendToRm(AnyActor& from, fakes::Caller caller, yarn::Token token,
                       yarn::RmRequest request, bool poll, Answer answer) {
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
  RmCallTerms terms{.caller = std::move(caller),
                    .token = std::move(token),
                    .back = back + answer_fate.delay,
                    .turn = poll ? std::optional(from.id) : std::nullopt,
                    .sender = from.id,
                    .give_up = kernel_.now() + patience};
  auto deliver = [this, terms = std::move(terms), request = std::move(request), answer_lost, beaten,
                  copies = fate.copies, answers = answer_fate.copies,
                  answer = std::move(answer)]() mutable {
    if (beaten) TellRmOfBeats(terms.sender);
    for (int copy = 1; copy < copies; ++copy) {
      DeliverToRm(RmCallTerms(terms), yarn::RmRequest(request), [](const yarn::RmResponse&) {});
    }
    if (answer_lost) {
      DeliverToRm(std::move(terms), std::move(request), [](const yarn::RmResponse&) {});
      return kernel_.After(kRpcTimeout, [answer = std::move(answer)]() mutable {
        answer(NotAnswered("the ResourceManager"));
      });
    }
    DeliverToRm(std::move(terms), std::move(request),
                [answer = std::move(answer), answers](yarn::RmResponse&& response) mutable {
                  for (int copy = 1; copy < answers; ++copy) answer(yarn::RmResponse(response));
                  answer(std::move(response));
                });
  };
  if (there + fate.delay == Duration::zero()) return deliver();
  kernel_.After(there + fate.delay, std::move(deliver));
}

}  // namespace tfyarn::sim
