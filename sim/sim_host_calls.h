// Parts of SimHost that are templates over what to do with an answer; included by its .cc files
// only.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "sim/sim_host.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {

/// How long a caller waits for a daemon that gives no answer at all before its host reports
/// kUnavailable. Hadoop's own default is longer (ipc.client.rpc-timeout.ms, 120 s) for clients and
/// shorter on cut connections. Assumption.
inline constexpr Duration kRpcTimeout = 20s;

/// Hosts of ours try a refused call again so often, and begin no try after so long, before they say
/// kUnavailable. Source: hosts/yarn/yarn_cluster.cc, wire/hadoop/ipc_client.cc. (A NodeManager goes
/// on with its next heartbeat. Assumption: yarn.resourcemanager.connect.retry-interval.ms is stock
/// at 30 s.)
inline constexpr Duration kRefusedRetry = 500ms;
inline constexpr Duration kRefusedGiveUp = 3s;

[[nodiscard]] inline yarn::RpcError NotAnswered(std::string_view who) {
  return {.code = yarn::RpcErrorCode::kUnavailable,
          .message = fmt::format("{} did not answer within 20s", who)};
}

[[nodiscard]] inline yarn::RpcError Refused(std::string_view who) {
  return {.code = yarn::RpcErrorCode::kUnavailable,
          .message = fmt::format("connection to {} refused", who)};
}

[[nodiscard]] inline hdfs::HdfsError NameNodeSilent() {
  return {.code = hdfs::HdfsErrorCode::kUnavailable,
          .message = "the NameNode did not answer within 20s"};
}

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
  const MessageFate fate = FateOf(from, [&] { return RequestName(request); });
  const MessageFate answer_fate = FateOf(from, [&] { return ResponseName(request); });
  const bool of_nm = caller.kind == fakes::CallerKind::kNm;
  const bool muted = of_nm && cluster_.nodes[from.place].muted > 0;
  if (Damaged(Damage::kFails)) {
    auto fails = [answer = std::move(answer), error = RpcErrorOfDamage()]() mutable {
      answer(std::move(error));
    };
    if (poll) return kernel_.AtTurnOf(from.id, kernel_.now() + there + back, std::move(fails));
    return kernel_.After(there + back, std::move(fails));
  }
  const bool lost = muted || fate.dropped || Damaged(Damage::kLost) ||
                    cluster_.network.Lost(from.place, kRmPlace, from.id) ||
                    !cluster_.network.Reachable(from.place, kRmPlace);
  if (lost) {
    return kernel_.After(kRpcTimeout, [answer = std::move(answer)]() mutable {
      answer(NotAnswered("the ResourceManager"));
    });
  }
  const bool answer_lost = answer_fate.dropped || Damaged(Damage::kUnanswered) ||
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

template <class Answer>
void SimHost::CallNameNode(Place from, std::uint32_t sender, hdfs::HdfsRequest request,
                           Answer answer) {
  Duration time = hdfs_delays_.DrawDuration(setup_.scenario.hdfs.latency);
  if (const auto* create = std::get_if<hdfs::CreateRequest>(&request)) {
    time += fakes::TransferTime(create->size, setup_.scenario.hdfs.bandwidth_bps);
  }
  time = SlowedByHdfs(time);
  if (Damaged(Damage::kFails)) {
    return kernel_.After(time, [answer = std::move(answer), error = HdfsErrorOfDamage()]() mutable {
      answer(hdfs::HdfsResponse(std::move(error)));
    });
  }
  if (Damaged(Damage::kUnanswered))
    kernel_.After(time, [this, request] {
      static_cast<void>(name_node_.Call(WallAt(kernel_.now()), request));
    });
  if (damage_ != nullptr || !cluster_.network.Reachable(from, kHdfsPlace) ||
      !cluster_.network.Reachable(kHdfsPlace, from) ||
      cluster_.network.Lost(from, kHdfsPlace, sender)) {
    return kernel_.After(kRpcTimeout, [answer = std::move(answer)]() mutable {
      answer(hdfs::HdfsResponse(NameNodeSilent()));
    });
  }
  kernel_.After(time, [this, request = std::move(request), answer = std::move(answer)]() mutable {
    answer(name_node_.Call(WallAt(kernel_.now()), request));
  });
}

}  // namespace tfyarn::sim
