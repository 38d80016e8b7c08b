#include "core/allocation/rm_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::allocation::rm_session_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Instant kStart{};
const Resource kSize{.memory_mb = 1024, .vcores = 1};

ContainerId Id(std::int64_t id) {
  return {.application_attempt = {.application = {.id = 1}, .attempt = 1}, .id = id};
}

Ask Anywhere(std::int32_t count) {
  return {.key = {1, 0}, .capability = kSize, .count = count};
}

/// A session with the calls it sent.
class Bench {
 public:
  RmSession session;
  Instant now = kStart;

  /// The calls that the session sends when time comes to `at`.
  std::vector<CallRm> At(Instant at) {
    now = at;
    std::vector<AmAction> actions;
    session.OnTime(now, actions);
    std::vector<CallRm> calls;
    for (AmAction& action : actions) calls.push_back(std::get<CallRm>(std::move(action)));
    return calls;
  }
  CallRm OneAt(Instant at) {
    std::vector<CallRm> calls = At(at);
    EXPECT_EQ(calls.size(), 1U);
    return calls.empty() ? CallRm{} : calls.front();
  }
  yarn::AllocateRequest AllocateAt(Instant at) {
    last = OneAt(at);
    const auto* request = std::get_if<yarn::AllocateRequest>(&last.request);
    EXPECT_NE(request, nullptr);
    return request == nullptr ? yarn::AllocateRequest{} : *request;
  }
  RmNews Reply(CallId call, yarn::RmResponse response) {
    return session.OnReplied(now, {call, std::move(response)});
  }
  RmNews Error(CallId call, yarn::RpcErrorCode code, std::string message = "") {
    return Reply(call, yarn::RpcError{.code = code, .message = std::move(message)});
  }
  /// Registers and answers the first allocate, both at once.
  void Begin() {
    session.Register({.host = "am", .rpc_port = 1});
    Reply(OneAt(now).call, yarn::RegisterApplicationMasterResponse{.queue = "root.default"});
    Answer(AllocateAt(now));
  }
  RmNews Answer(const yarn::AllocateRequest& request, yarn::AllocateResponse response = {}) {
    response.response_id = request.response_id + 1;
    return Reply(last.call, std::move(response));
  }
  CallRm last;
};

// ---------------------------------------------------------------- registration

TEST(RmSessionTest, NothingHappensBeforeRegistration) {
  Bench bench;
  EXPECT_EQ(bench.session.next_deadline(), std::nullopt);
  EXPECT_THAT(bench.At(kStart + 1h), IsEmpty());
}

TEST(RmSessionTest, AfterRegistrationTheFirstAllocateFollowsAtOnceWithResponseIdZero) {
  Bench bench;
  bench.session.Register({.host = "am", .rpc_port = 7});
  const CallRm call = bench.OneAt(kStart);
  EXPECT_EQ(std::get<yarn::RegisterApplicationMasterRequest>(call.request).rpc_port, 7);
  const RmNews news =
      bench.Reply(call.call, yarn::RegisterApplicationMasterResponse{.queue = "root.q"});
  ASSERT_TRUE(news.registered.has_value());
  EXPECT_EQ(news.registered->queue, "root.q");
  EXPECT_FALSE(news.resynced);
  bench.session.SetAsks({Anywhere(2)});
  const yarn::AllocateRequest request = bench.AllocateAt(kStart);
  EXPECT_EQ(request.response_id, 0);
  EXPECT_THAT(request.ask, SizeIs(1));
}

TEST(RmSessionTest, RegistrationIsRepeatedWithGrowingPauses) {
  Bench bench;
  bench.session.Register({});
  std::vector<Duration> pauses;
  Instant sent = kStart;
  for (int i = 0; i < 6; ++i) {
    const CallRm call = bench.OneAt(sent);
    bench.Error(call.call, yarn::RpcErrorCode::kUnavailable);
    pauses.push_back(*bench.session.next_deadline() - sent);
    sent = *bench.session.next_deadline();
  }
  EXPECT_THAT(pauses, ElementsAre(1s, 2s, 4s, 8s, 10s, 10s));
}

TEST(RmSessionTest, WhyARegistrationIsRefusedIsHandedOnAndItIsRepeated) {
  for (const auto code : {yarn::RpcErrorCode::kYarn, yarn::RpcErrorCode::kUnavailable}) {
    Bench bench;
    bench.session.Register({});
    const RmNews news = bench.Error(bench.OneAt(kStart).call, code, "why");
    EXPECT_EQ(news.rejected.has_value(), code == yarn::RpcErrorCode::kYarn);
    EXPECT_EQ(bench.session.next_deadline(), kStart + 1s);
  }
}

// Where all answers come late, this one holds all the same: nothing else ever ends the AM.
TEST(RmSessionTest, ThatTheAttemptIsOverHoldsHoweverLateItIsHeard) {
  for (const bool finishes : {false, true}) {
    Bench bench;
    bench.Begin();
    const Instant first = *bench.session.next_deadline();
    bench.AllocateAt(first);
    const CallId old = bench.last.call;
    const Instant again = *bench.session.next_deadline();
    bench.AllocateAt(again);
    EXPECT_NE(bench.last.call, old);
    if (finishes) {
      bench.session.Finish({});
      bench.At(again);
    }
    const RmNews news = bench.Error(old, yarn::RpcErrorCode::kApplicationAttemptNotFound);
    // What finishes may have been taken meanwhile.
    EXPECT_EQ(news.must_stop.has_value(), !finishes);
    EXPECT_EQ(news.ignored.has_value(), finishes);
  }
}

TEST(RmSessionTest, WhatTheNextRmListsIsHandedOut) {
  Bench bench;
  bench.Begin();
  bench.AllocateAt(*bench.session.next_deadline());
  bench.Error(bench.last.call, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  const CallRm again = bench.OneAt(*bench.session.next_deadline());
  const yarn::Container listed{.id = {.id = 7}};
  const RmNews news = bench.Reply(again.call, yarn::RegisterApplicationMasterResponse{
                                                  .containers_from_previous_attempts = {listed}});
  EXPECT_TRUE(news.resynced);
  ASSERT_EQ(news.listed.size(), 1u);
  EXPECT_EQ(news.listed.front().id, listed.id);
}

// The RM says it of a registration in other words than of an allocate.
TEST(RmSessionTest, ARegistrationsLateAnswerEndsWhatAllocatesByNow) {
  Bench bench;
  bench.session.Register({});
  const CallRm first = bench.OneAt(kStart);
  const CallRm second = bench.OneAt(kStart + 10s);
  static_cast<void>(bench.Reply(first.call, yarn::RegisterApplicationMasterResponse{}));
  const RmNews news = bench.Error(second.call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest,
                                  "Application doesn't exist in cache appattempt_0_0001_000002");
  EXPECT_TRUE(news.must_stop.has_value());
}

// The RM registered us, but its answer was lost: the repeated call is refused.
TEST(RmSessionTest, BeingRegisteredAlreadyIsBeingRegistered) {
  Bench bench;
  bench.session.Register({});
  static_cast<void>(bench.OneAt(kStart));
  const CallRm again = bench.OneAt(kStart + 10s);
  const RmNews news = bench.Error(again.call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
  EXPECT_TRUE(news.registered.has_value());
  EXPECT_TRUE(news.registered_blindly);
  EXPECT_TRUE(bench.session.registered());
}

// Its answers always take longer than the AM waits: each is to a call that has been repeated.
TEST(RmSessionTest, BeingRegisteredAlreadyIsBelievedOfAnEarlierCall) {
  Bench bench;
  bench.session.Register({});
  static_cast<void>(bench.OneAt(kStart));
  const CallRm second = bench.OneAt(kStart + 10s);
  static_cast<void>(bench.OneAt(kStart + 20s));
  EXPECT_TRUE(bench.Error(second.call, yarn::RpcErrorCode::kUnavailable).ignored.has_value());
  const RmNews news =
      bench.Error(second.call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
  EXPECT_TRUE(news.registered_blindly);
  EXPECT_TRUE(bench.session.registered());
}

TEST(RmSessionTest, ALateAnswerToTheFirstRegistrationStillCounts) {
  Bench bench;
  bench.session.Register({});
  const CallRm first = bench.OneAt(kStart);
  const CallRm second = bench.OneAt(kStart + 10s);
  EXPECT_TRUE(
      bench.Reply(first.call, yarn::RegisterApplicationMasterResponse{}).registered.has_value());
  const RmNews late =
      bench.Error(second.call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
  EXPECT_FALSE(late.registered.has_value());
  EXPECT_TRUE(late.ignored.has_value());
}

// An RM gives the token of a node once.
TEST(RmSessionTest, TokensInALateAnswerAreKeptWhereThereAreNone) {
  const auto token = [](const char* host, std::uint64_t serial) {
    return yarn::NmToken{.node = {.host = host, .port = 8041}, .token = {.serial = serial}};
  };
  Bench bench;
  bench.session.Register({});
  const CallRm first = bench.OneAt(kStart);
  const CallRm second = bench.OneAt(kStart + 10s);
  static_cast<void>(
      bench.Reply(first.call, yarn::RegisterApplicationMasterResponse{
                                  .nm_tokens_from_previous_attempts = {token("a", 1)}}));
  const RmNews late = bench.Reply(
      second.call, yarn::RegisterApplicationMasterResponse{
                       .nm_tokens_from_previous_attempts = {token("a", 2), token("b", 3)}});
  EXPECT_TRUE(late.ignored.has_value());
  ASSERT_NE(bench.session.NmToken(token("b", 0).node), nullptr);
  EXPECT_EQ(bench.session.NmToken(token("b", 0).node)->serial, 3U);
  EXPECT_EQ(bench.session.NmToken(token("a", 0).node)->serial, 1U);
}

TEST(RmSessionTest, AnAttemptThatTheRmDoesNotKnowMustStop) {
  for (const auto code :
       {yarn::RpcErrorCode::kApplicationAttemptNotFound, yarn::RpcErrorCode::kInvalidToken}) {
    Bench bench;
    bench.session.Register({});
    EXPECT_TRUE(bench.Error(bench.OneAt(kStart).call, code, "gone").must_stop.has_value());
    EXPECT_EQ(bench.session.next_deadline(), std::nullopt);
  }
}

// ---------------------------------------------------------------- the heartbeat

TEST(RmSessionTest, HeartbeatsAreDueOnePeriodAfterTheLastOneWasSent) {
  Bench bench;
  bench.Begin();
  EXPECT_EQ(bench.session.next_deadline(), kStart + 1s);
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 1s);
  EXPECT_EQ(request.response_id, 1);
  bench.now = kStart + 1300ms;
  bench.Answer(request);
  EXPECT_EQ(bench.session.next_deadline(), kStart + 2s);
}

TEST(RmSessionTest, AnOverdueHeartbeatGoesAsSoonAsTheSlowAnswerIsHere) {
  Bench bench;
  bench.Begin();
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 1s);
  EXPECT_THAT(bench.At(kStart + 3s), IsEmpty()) << "one call at a time";
  bench.Answer(request);
  EXPECT_THAT(bench.At(kStart + 3s), SizeIs(1));
}

TEST(RmSessionTest, ChangesWaitForTheNextHeartbeatAndMakeItADecision) {
  Bench bench;
  bench.Begin();
  EXPECT_EQ(bench.session.next_decision(), std::nullopt);
  bench.session.SetAsks({Anywhere(3)});
  bench.session.Release(Id(7));
  bench.session.SetBlacklist({"bad"});
  EXPECT_FALSE(bench.session.everything_told());
  EXPECT_THAT(bench.At(kStart + 500ms), IsEmpty());
  EXPECT_EQ(bench.session.next_decision(), kStart + 1s);

  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 1s);
  EXPECT_THAT(request.ask, SizeIs(1));
  EXPECT_THAT(request.release, ElementsAre(Id(7)));
  EXPECT_THAT(request.blacklist_additions, ElementsAre("bad"));
  EXPECT_FALSE(bench.session.everything_told()) << "not before it is answered";
  bench.Answer(request);
  EXPECT_TRUE(bench.session.everything_told());

  bench.session.SetBlacklist({"worse"});
  const yarn::AllocateRequest next = bench.AllocateAt(kStart + 2s);
  EXPECT_THAT(next.ask, IsEmpty());
  EXPECT_THAT(next.release, IsEmpty());
  EXPECT_THAT(next.blacklist_additions, ElementsAre("worse"));
  EXPECT_THAT(next.blacklist_removals, ElementsAre("bad"));
}

TEST(RmSessionTest, AContainerIsReleasedOnce) {
  Bench bench;
  bench.Begin();
  bench.session.Release(Id(1));
  bench.Answer(bench.AllocateAt(kStart + 1s));
  bench.session.Release(Id(1));
  EXPECT_THAT(bench.AllocateAt(kStart + 2s).release, IsEmpty());
}

TEST(RmSessionTest, WhatEndedByItselfIsNotReleasedAnyMore) {
  Bench bench;
  bench.Begin();
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 1s);
  bench.session.Release(Id(1));
  bench.Answer(request, {.completed_containers = {{.id = Id(1)}}});
  EXPECT_THAT(bench.AllocateAt(kStart + 2s).release, IsEmpty());
}

TEST(RmSessionTest, IdleAnswersAreNoNews) {
  Bench bench;
  bench.Begin();
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 1s);
  EXPECT_FALSE(
      bench.Answer(request, {.limit = kSize, .num_cluster_nodes = 3}).allocated.has_value());
  const yarn::AllocateRequest next = bench.AllocateAt(kStart + 2s);
  EXPECT_TRUE(bench.Answer(next, {.preempt_strict = {Id(1)}}).allocated.has_value());
}

TEST(RmSessionTest, TheNewestTokenOfANodeIsKept) {
  Bench bench;
  bench.Begin();
  const NodeId node{"a", 1};
  EXPECT_EQ(bench.session.NmToken(node), nullptr);
  for (const std::uint64_t serial : {1U, 2U}) {
    yarn::AllocateResponse response{.nm_tokens = {{node, {yarn::TokenKind::kNm, 1, serial}}}};
    response.am_rm_token = yarn::Token{yarn::TokenKind::kAmRm, 2, serial};
    bench.Answer(bench.AllocateAt(bench.now + 1s), response);
  }
  EXPECT_EQ(bench.session.NmToken(node)->serial, 2U);
  EXPECT_EQ(bench.session.am_rm_token()->serial, 2U);
}

TEST(RmSessionTest, ResponseIdsWrapAround) {
  Bench bench;
  bench.Begin();
  bench.session.OnElided({.count = 0x7ffffffe - 1, .last = kStart + 1s});
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 2s);
  EXPECT_EQ(request.response_id, 0x7fffffff - 1);
  bench.Answer(request);
  const yarn::AllocateRequest last = bench.AllocateAt(kStart + 3s);
  EXPECT_EQ(last.response_id, 0x7fffffff);
  yarn::AllocateResponse wrapped;
  wrapped.response_id = 0;
  EXPECT_FALSE(bench.Reply(bench.last.call, wrapped).ignored.has_value());
  EXPECT_EQ(bench.AllocateAt(kStart + 4s).response_id, 0);
}

// ---------------------------------------------------------------- losses

// Source: ApplicationMasterService.allocate: a request with the previous response id gets the
// previous answer again.
TEST(RmSessionTest, AnUnansweredAllocateIsRepeatedAsItWas) {
  Bench bench;
  bench.Begin();
  bench.session.SetAsks({Anywhere(3)});
  const yarn::AllocateRequest first = bench.AllocateAt(kStart + 1s);
  const CallId first_call = bench.last.call;
  bench.session.SetAsks({Anywhere(5)});
  EXPECT_EQ(bench.session.next_deadline(), kStart + 11s);
  const yarn::AllocateRequest again = bench.AllocateAt(kStart + 11s);
  EXPECT_NE(bench.last.call, first_call);
  EXPECT_EQ(again.response_id, first.response_id);
  ASSERT_THAT(again.ask, SizeIs(1));
  EXPECT_EQ(again.ask[0].num_containers, 3);
  bench.Answer(again);
  EXPECT_EQ(bench.AllocateAt(kStart + 12s).ask[0].num_containers, 5);
}

TEST(RmSessionTest, AnAnswerThatComesTwiceIsTakenOnce) {
  Bench bench;
  bench.Begin();
  bench.session.SetAsks({Anywhere(1)});
  const yarn::AllocateRequest first = bench.AllocateAt(kStart + 1s);
  const CallId first_call = bench.last.call;
  static_cast<void>(bench.AllocateAt(kStart + 11s));
  yarn::AllocateResponse response{
      .response_id = first.response_id + 1,
      .allocated_containers = {{.id = Id(1), .priority = 1, .allocation_request_id = 0}}};
  EXPECT_TRUE(bench.Reply(first_call, response).allocated.has_value());
  const RmNews twice = bench.Reply(bench.last.call, response);
  EXPECT_FALSE(twice.allocated.has_value());
  EXPECT_TRUE(twice.ignored.has_value());
}

TEST(RmSessionTest, AnUnreachableRmIsTriedEveryPeriodWithTheSameContent) {
  Bench bench;
  bench.Begin();
  bench.session.Release(Id(1));
  for (int i = 1; i <= 3; ++i) {
    const yarn::AllocateRequest request = bench.AllocateAt(kStart + i * 1s);
    EXPECT_EQ(request.response_id, 1);
    EXPECT_THAT(request.release, ElementsAre(Id(1)));
    EXPECT_FALSE(
        bench.Error(bench.last.call, yarn::RpcErrorCode::kUnavailable).rejected.has_value());
    EXPECT_EQ(bench.session.next_decision(), kStart + (i + 1) * 1s);
  }
}

// Source: ApplicationMasterService after a work-preserving restart.
TEST(RmSessionTest, AfterAnRmRestartEverythingIsToldAgainFromResponseIdZero) {
  Bench bench;
  bench.Begin();
  bench.session.SetAsks({Anywhere(3)});
  bench.session.SetBlacklist({"bad"});
  bench.session.Release(Id(1));
  bench.Answer(
      bench.AllocateAt(kStart + 1s),
      {.allocated_containers = {{.id = Id(2), .priority = 1, .allocation_request_id = 0}}});
  bench.session.SetAsks({Anywhere(2)});
  bench.session.Release(Id(2));
  static_cast<void>(bench.AllocateAt(kStart + 2s));
  bench.Error(bench.last.call, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  EXPECT_FALSE(bench.session.registered());

  const CallRm again = bench.OneAt(kStart + 2s);
  const RmNews news = bench.Reply(again.call, yarn::RegisterApplicationMasterResponse{});
  EXPECT_TRUE(news.resynced);
  EXPECT_FALSE(news.registered.has_value());
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 2s);
  EXPECT_EQ(request.response_id, 0);
  ASSERT_THAT(request.ask, SizeIs(1));
  EXPECT_EQ(request.ask[0].num_containers, 2);
  EXPECT_THAT(request.release, ElementsAre(Id(1), Id(2)));
  EXPECT_THAT(request.blacklist_additions, ElementsAre("bad"));
}

TEST(RmSessionTest, AnRmThatForgetsAtOnceIsNotHammered) {
  Bench bench;
  bench.Begin();
  Instant at = kStart + 1s;
  static_cast<void>(bench.AllocateAt(at));
  bench.Error(bench.last.call, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  bench.Reply(bench.OneAt(at).call, yarn::RegisterApplicationMasterResponse{});
  static_cast<void>(bench.AllocateAt(at));
  bench.Error(bench.last.call, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  EXPECT_EQ(bench.session.next_deadline(), at + 1s);
}

TEST(RmSessionTest, TheOldCommandsMeanTheSame) {
  Bench resync;
  resync.Begin();
  resync.Answer(resync.AllocateAt(kStart + 1s), {.am_command = yarn::AmCommand::kResync});
  EXPECT_FALSE(resync.session.registered());
  Bench shutdown;
  shutdown.Begin();
  EXPECT_TRUE(
      shutdown.Answer(shutdown.AllocateAt(kStart + 1s), {.am_command = yarn::AmCommand::kShutdown})
          .must_stop);
}

TEST(RmSessionTest, AWrongResponseIdIsCorrectedAndEverythingToldAgain) {
  Bench bench;
  bench.Begin();
  bench.session.SetAsks({Anywhere(3)});
  static_cast<void>(bench.AllocateAt(kStart + 1s));
  const RmNews news =
      bench.Error(bench.last.call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest,
                  "Invalid responseId in AllocateRequest, expect responseId to be 8 but get 1");
  EXPECT_TRUE(news.resynced);
  const yarn::AllocateRequest request = bench.AllocateAt(kStart + 2s);
  EXPECT_EQ(request.response_id, 8);
  EXPECT_THAT(request.ask, SizeIs(1));
}

TEST(RmSessionTest, ARefusedAskIsNotSentAgainUntilItChangesAndTheRestGoesOn) {
  Bench bench;
  bench.Begin();
  bench.session.SetAsks({Anywhere(3)});
  bench.session.Release(Id(1));
  static_cast<void>(bench.AllocateAt(kStart + 1s));
  EXPECT_TRUE(bench.Error(bench.last.call, yarn::RpcErrorCode::kInvalidResourceRequest, "too big")
                  .rejected);
  const yarn::AllocateRequest next = bench.AllocateAt(kStart + 2s);
  EXPECT_EQ(next.response_id, 1) << "a refused allocate does not advance the id";
  EXPECT_THAT(next.ask, IsEmpty());
  EXPECT_THAT(next.release, ElementsAre(Id(1)));
  bench.Answer(next);
  bench.session.SetAsks({Anywhere(3)});
  EXPECT_THAT(bench.AllocateAt(kStart + 3s).ask, IsEmpty());
  bench.Answer(yarn::AllocateRequest{.response_id = 2});
  bench.session.SetAsks({Anywhere(1)});
  EXPECT_THAT(bench.AllocateAt(kStart + 4s).ask, SizeIs(1));
}

TEST(RmSessionTest, ARefusedBlacklistIsNotSentAgainUntilItChanges) {
  Bench bench;
  bench.Begin();
  bench.session.SetBlacklist({"bad"});
  static_cast<void>(bench.AllocateAt(kStart + 1s));
  bench.Error(bench.last.call, yarn::RpcErrorCode::kInvalidResourceBlacklistRequest);
  const yarn::AllocateRequest next = bench.AllocateAt(kStart + 2s);
  EXPECT_THAT(next.blacklist_additions, IsEmpty());
  bench.Answer(next);
  bench.session.SetBlacklist({"worse"});
  EXPECT_THAT(bench.AllocateAt(kStart + 3s).blacklist_additions, ElementsAre("worse"));
}

TEST(RmSessionTest, ARefusedReleaseIsGivenUp) {
  Bench bench;
  bench.Begin();
  bench.session.SetAsks({Anywhere(3)});
  bench.session.Release(Id(1));
  static_cast<void>(bench.AllocateAt(kStart + 1s));
  bench.Error(bench.last.call, yarn::RpcErrorCode::kInvalidContainerRelease);
  const yarn::AllocateRequest next = bench.AllocateAt(kStart + 2s);
  EXPECT_THAT(next.release, IsEmpty());
  EXPECT_THAT(next.ask, SizeIs(1));
}

// ---------------------------------------------------------------- elision

TEST(RmSessionTest, ElidedHeartbeatsAdvanceIdsAndGridAsIfTheyHadBeenSent) {
  Bench full;
  Bench elided;
  full.Begin();
  elided.Begin();
  for (int i = 1; i <= 5; ++i) full.Answer(full.AllocateAt(kStart + i * 1s));
  elided.session.OnElided({.count = 5, .last = kStart + 5s});
  for (Bench* bench : {&full, &elided}) {
    bench->session.Release(Id(1));
    const yarn::AllocateRequest request = bench->AllocateAt(kStart + 6s);
    EXPECT_EQ(request.response_id, 6);
  }
  EXPECT_EQ(full.last.call, elided.last.call);
}

TEST(RmSessionTest, AHeartbeatThatWasSentBeforeTheElidedOnesIsAnswered) {
  Bench bench;
  bench.Begin();
  static_cast<void>(bench.AllocateAt(kStart + 1s));
  bench.session.OnElided({.count = 4, .last = kStart + 5s});
  EXPECT_EQ(bench.AllocateAt(kStart + 6s).response_id, 6);
}

TEST(RmSessionTest, ALateAnswerWithNewsToAnElidedHeartbeatIsTaken) {
  Bench bench;
  bench.Begin();
  bench.session.OnElided({.count = 5, .last = kStart + 5s});
  bench.now = kStart + 5s + 1ms;
  const CallId latest(2 + 5);
  EXPECT_FALSE(bench.Reply(latest, yarn::AllocateResponse{.response_id = 6}).ignored.has_value());
  const RmNews news =
      bench.Reply(latest, yarn::AllocateResponse{.response_id = 6, .preempt_strict = {Id(1)}});
  EXPECT_TRUE(news.allocated.has_value());
  EXPECT_EQ(bench.session.last_response_id(), 6);
  EXPECT_EQ(bench.session.next_deadline(), kStart + 6s);
  EXPECT_FALSE(
      bench.Reply(latest, yarn::AllocateResponse{.response_id = 6, .preempt_strict = {Id(1)}})
          .allocated.has_value())
      << "it came twice";
}

TEST(RmSessionTest, AnElidedHeartbeatThatFailedIsRepeatedUnderItsResponseId) {
  Bench bench;
  bench.Begin();
  bench.session.OnElided({.count = 5, .last = kStart + 5s});
  bench.Error(CallId(7), yarn::RpcErrorCode::kUnavailable);
  EXPECT_EQ(bench.session.next_decision(), kStart + 6s);
  EXPECT_EQ(bench.AllocateAt(kStart + 6s).response_id, 5);
}

// ---------------------------------------------------------------- the end

TEST(RmSessionTest, FinishIsRepeatedUntilTheRmHasUnregisteredUs) {
  Bench bench;
  bench.Begin();
  static_cast<void>(bench.AllocateAt(kStart + 1s));
  bench.session.Finish({.final_status = yarn::FinalApplicationStatus::kSucceeded});
  const CallRm first = bench.OneAt(kStart + 1s);
  EXPECT_TRUE(std::holds_alternative<yarn::FinishApplicationMasterRequest>(first.request));
  EXPECT_FALSE(bench.Reply(first.call, yarn::FinishApplicationMasterResponse{}).finished);
  const CallRm second = bench.OneAt(kStart + 1100ms);
  EXPECT_TRUE(
      bench.Reply(second.call, yarn::FinishApplicationMasterResponse{.is_unregistered = true})
          .finished);
  EXPECT_EQ(bench.session.next_deadline(), std::nullopt);
}

TEST(RmSessionTest, FinishSurvivesAnUnreachableAndARestartedRm) {
  Bench bench;
  bench.Begin();
  bench.session.Finish({});
  bench.Error(bench.OneAt(kStart).call, yarn::RpcErrorCode::kUnavailable);
  EXPECT_EQ(bench.session.next_deadline(), kStart + 1s);
  bench.Error(bench.OneAt(kStart + 1s).call, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  const CallRm again = bench.OneAt(kStart + 1s);
  ASSERT_TRUE(std::holds_alternative<yarn::RegisterApplicationMasterRequest>(again.request));
  bench.Reply(again.call, yarn::RegisterApplicationMasterResponse{});
  const CallRm finish = bench.OneAt(kStart + 1s);
  EXPECT_TRUE(std::holds_alternative<yarn::FinishApplicationMasterRequest>(finish.request));
}

TEST(RmSessionTest, AnAttemptForgottenAfterNotYetIsFinishedAndBeforeItMustStop) {
  Bench known;
  known.Begin();
  known.session.Finish({});
  known.Reply(known.OneAt(kStart).call, yarn::FinishApplicationMasterResponse{});
  const CallRm second = known.OneAt(kStart + 100ms);
  EXPECT_TRUE(known.Error(second.call, yarn::RpcErrorCode::kApplicationAttemptNotFound).finished);

  Bench unknown;
  unknown.Begin();
  unknown.session.Finish({});
  const CallRm first = unknown.OneAt(kStart);
  EXPECT_TRUE(unknown.Error(first.call, yarn::RpcErrorCode::kApplicationAttemptNotFound)
                  .must_stop.has_value());
}

// A real RM says it of these two calls by InvalidApplicationMasterRequestException (run).
TEST(RmSessionTest, AnAttemptThatIsInNoCacheMustStop) {
  const std::string text = "Application doesn't exist in cache appattempt_1_0001_000001";
  Bench late;
  late.session.Register({});
  const RmNews refused = late.Error(late.OneAt(kStart).call,
                                    yarn::RpcErrorCode::kInvalidApplicationMasterRequest, text);
  EXPECT_TRUE(refused.must_stop.has_value());
  EXPECT_FALSE(refused.registered.has_value());

  Bench finishing;
  finishing.Begin();
  finishing.session.Finish({});
  EXPECT_TRUE(finishing
                  .Error(finishing.OneAt(kStart).call,
                         yarn::RpcErrorCode::kInvalidApplicationMasterRequest, text)
                  .must_stop.has_value());
}

}  // namespace
}  // namespace tfyarn::allocation::rm_session_test
