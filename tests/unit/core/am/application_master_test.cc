// What golden scripts do not show: size and speed of a large gang, what a host may skip, and odd
// events.
#include "core/am/application_master.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <utility>

#include "core/journal/journal.h"
#include "core/model/launch.h"
#include "core/model/text.h"

namespace {

std::size_t live_bytes = 0;  // NOLINT: counted by every operator new of this program.

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  live_bytes += malloc_usable_size(memory);
  return std::memset(memory, 0xa5, size);  // What is used before it is made shows.
}
void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace tfyarn::am::application_master_test {
namespace {

constexpr ApplicationId kApplication{.cluster_timestamp = 0, .id = 1};

/// One AM whose world answers everything at once and well. Heartbeats of agents are vouched for.
class Driver {
 public:
  explicit Driver(std::int32_t workers, std::optional<WatchSpec> watch = {}) {
    JobSpec job;
    job.name = "large";
    job.strategy = Strategy::kMultiWorker;
    job.tasks = {
        {.name = "chief", .resource = {.memory_mb = 1024, .vcores = 1}},
        {.name = "worker", .instances = workers, .resource = {.memory_mb = 1024, .vcores = 1}}};
    job.retries.infrastructure = 1'000'000;
    job.watch = std::move(watch);
    job_ = std::make_shared<const JobSpec>(job);
    am_ = std::make_unique<ApplicationMaster>(job_, AmOptions{.staging_directory = "/staging"}, 1);
  }

  void Start() {
    Step(AmStarted{.attempt = {.application = kApplication, .attempt = 1},
                   .address = {.host = "am", .port = 1}});
    Beat();  // asks
    Beat();  // is granted
    for (const AgentFence& fence : agents_) {
      Step(AgentSaid{RegisterAgent{.fence = fence,
                                   .address = {.host = "n", .port = 1000 + fence.task.index}}});
    }
    for (const auto& [fence, process] : std::exchange(ordered_, {}))
      Step(AgentSaid{ProcessRunning{fence, process}});
  }

  /// To the next allocate.
  void Beat() {
    const std::uint64_t before = allocates_;
    while (allocates_ == before && am_->next_deadline()) {
      now_ = std::max(now_, *am_->next_deadline());
      Step(DeadlineReached{});
    }
  }

  void Step(AmEvent event) {
    events_.push_back(std::move(event));
    while (!events_.empty()) {
      const AmEvent next = std::move(events_.front());
      events_.pop_front();
      std::vector<AmAction> actions;
      am_->Step(now_, next, actions);
      ++steps_;
      for (AmAction& action : actions) Carry(action);
    }
  }

  void Carry(AmAction& action) {
    if (std::holds_alternative<ReadJournal>(action)) events_.push_back(JournalRead{});
    if (const auto* append = std::get_if<AppendJournal>(&action))
      events_.push_back(JournalAppended{append->seq});
    if (std::holds_alternative<PortUseFound>(action)) ++ports_found_;
    if (const auto* restart = std::get_if<RestartDecided>(&action))
      causes_.push_back(restart->cause.detail);
    if (const auto* note = std::get_if<Note>(&action)) notes_.push_back(note->text);
    if (const auto* call = std::get_if<CallRm>(&action)) {
      events_.push_back(RmReplied{.call = call->call, .response = Answer(call->request)});
    }
    if (const auto* call = std::get_if<CallNm>(&action)) AnswerNm(*call);
    const auto* send = std::get_if<SendToAgent>(&action);
    if (send == nullptr) return;
    if (const auto* accepted = std::get_if<AgentAccepted>(&send->message)) {
      events_.push_back(PeerVouched{accepted->fence.task, accepted->fence.incarnation, true, {}});
    } else if (const auto* start = std::get_if<StartProcess>(&send->message)) {
      ordered_.emplace_back(start->fence, start->process);
    } else if (const auto* stop = std::get_if<StopProcess>(&send->message)) {
      stops_.emplace_back(stop->fence, stop->attempt);
    }
  }

  yarn::RmResponse Answer(const yarn::RmRequest& request) {
    if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request)) {
      return yarn::RegisterApplicationMasterResponse{};
    }
    const auto* allocate = std::get_if<yarn::AllocateRequest>(&request);
    if (allocate == nullptr) return yarn::FinishApplicationMasterResponse{.is_unregistered = true};
    ++allocates_;
    yarn::AllocateResponse response = std::exchange(next_, {});
    response.response_id = allocate->response_id + 1;
    for (const yarn::ResourceRequest& row : allocate->ask) {
      for (std::int32_t i = 0; i < row.num_containers; ++i) {
        const NodeId node{.host = "node-" + std::to_string(next_container_ % 50), .port = 8041};
        next_.allocated_containers.push_back(
            {.id = {.application_attempt = {kApplication, 1}, .id = ++next_container_},
             .node = node,
             .resource = row.capability,
             .priority = *row.priority,
             .allocation_request_id = row.allocation_request_id});
        next_.nm_tokens.push_back({.node = node, .token = {.serial = 1}});
      }
    }
    return response;
  }

  void AnswerNm(const CallNm& call) {
    yarn::StartContainersResponse response;
    if (const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request)) {
      agents_.push_back(AgentLaunchFrom(start->containers.front().context.environment)->fence);
      response.succeeded = {start->containers.front().container};
      events_.push_back(NmReplied{.call = call.call, .node = call.node, .response = response});
    } else {
      events_.push_back(NmReplied{
          .call = call.call, .node = call.node, .response = yarn::StopContainersResponse{}});
    }
  }

  std::shared_ptr<const JobSpec> job_;
  std::unique_ptr<ApplicationMaster> am_;
  Instant now_{};
  std::deque<AmEvent> events_;
  std::vector<AgentFence> agents_;
  std::vector<std::pair<AgentFence, ProcessRef>> ordered_;
  std::vector<std::pair<AgentFence, TaskAttempt>> stops_;
  std::vector<std::string> notes_;
  std::vector<std::string> causes_;  // Of restarts.
  int ports_found_ = 0;
  yarn::AllocateResponse next_;
  std::int64_t next_container_ = 0;
  std::uint64_t allocates_ = 0;
  std::uint64_t steps_ = 0;
};

TEST(ApplicationMasterTest, AThousandTasksFitIntoTwoMebibytes) {
  Driver driver(999);
  driver.Start();
  ASSERT_EQ(driver.am_->snapshot().state, JobState::kRunning);

  const std::size_t before = live_bytes;
  driver.am_.reset();
  EXPECT_LT(before - live_bytes, std::size_t{2} << 20);
}

TEST(ApplicationMasterTest, AGangRestartOfAThousandTasksIsOneDecisionAndOneSpec) {
  Driver driver(999);
  driver.Start();
  driver.Step(AgentSaid{ProcessEnded{.fence = driver.agents_[5],
                                     .process = {TaskAttempt(0), Epoch(1)},
                                     .exit = {.signal = 9},
                                     .launch_error = {},
                                     .stderr_tail = {}}});
  ASSERT_EQ(driver.stops_.size(), 999U);
  for (const auto& [fence, attempt] : std::exchange(driver.stops_, {})) {
    driver.Step(AgentSaid{ProcessEnded{.fence = fence,
                                       .process = {attempt, Epoch(1)},
                                       .exit = {.signal = 15, .stopped_by_agent = true},
                                       .launch_error = {},
                                       .stderr_tail = {}}});
  }
  EXPECT_EQ(driver.ordered_.size(), 1000U);
  EXPECT_EQ(driver.am_->snapshot().epoch, Epoch(2));
  for (const auto& [fence, process] : std::exchange(driver.ordered_, {})) {
    driver.Step(AgentSaid{ProcessRunning{fence, process}});
  }
  EXPECT_EQ(driver.am_->snapshot().state, JobState::kRunning);
}

TEST(ApplicationMasterTest, AnAmThatHasNoPolicyIsMadeAllTheSame) {
  JobSpec job;
  job.tasks = {{.name = "worker"}};
  job.policy.name = "no such policy";
  const auto am =
      std::make_unique<ApplicationMaster>(std::make_shared<const JobSpec>(job), AmOptions{}, 1);
  EXPECT_EQ(am->snapshot().state, JobState::kSubmitted);
}

TEST(ApplicationMasterTest, AJournalOfAnotherVersionEndsTheAttemptAndIsNotWrittenTo) {
  JobSpec job;
  job.tasks = {{.name = "worker"}};
  ApplicationMaster am(std::make_shared<const JobSpec>(job), AmOptions{}, 1);
  std::vector<AmAction> actions;
  am.Step(Instant{}, AmStarted{.attempt = {.application = kApplication, .attempt = 2}}, actions);
  std::string journal = journal::EncodeJournalFrame({.am_attempt = 1, .heard = {}}, JournalSeq(1),
                                                    journal::AllRunning{}, true);
  journal[7] = 99;   // Of the header.
  journal[11] = 99;  // Of the frame.
  actions.clear();
  am.Step(Instant{}, JournalRead{.bytes = journal}, actions);
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_THAT(std::get<Note>(actions[0]).text, testing::HasSubstr("another version of tfyarn"));
  EXPECT_EQ(std::get<ExitAm>(actions[1]).code, 1);
}

/// An RM that refuses the registration for what the job asks for decides the job; that it takes the
/// attempt in the end changes nothing.
TEST(ApplicationMasterTest, ARegistrationThatIsTakenAfterTheVerdictChangesNothing) {
  JobSpec job;
  job.tasks = {{.name = "worker"}};
  ApplicationMaster am(std::make_shared<const JobSpec>(job), AmOptions{}, 1);
  std::vector<AmAction> actions;
  const auto call = [&actions] {
    for (const AmAction& action : actions) {
      if (const auto* found = std::get_if<CallRm>(&action)) return found->call;
    }
    return CallId();
  };
  am.Step(Instant{}, AmStarted{.attempt = {.application = kApplication, .attempt = 1}}, actions);
  am.Step(Instant{}, JournalRead{}, actions);
  const CallId first = call();
  actions.clear();
  am.Step(
      Instant{},
      RmReplied{.call = first,
                .response = yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidLabelResourceRequest,
                                           .message = "no"}},
      actions);
  while (call() == CallId()) am.Step(am.next_deadline().value(), DeadlineReached{}, actions);
  const CallId second = call();
  EXPECT_NE(second, first);
  am.Step(am.next_deadline().value(),
          RmReplied{.call = second, .response = yarn::RegisterApplicationMasterResponse{}},
          actions);
  EXPECT_NE(am.snapshot().state, JobState::kRunning);
}

TEST(ApplicationMasterTest, WhileAllIsWellNothingIsDecidedAndOnlyIdleHeartbeatsAreDue) {
  Driver driver(3);
  driver.Start();
  driver.Beat();
  EXPECT_EQ(driver.am_->next_decision(), std::nullopt);
  ASSERT_TRUE(driver.am_->next_deadline().has_value());
  EXPECT_LE(*driver.am_->next_deadline(), driver.now_ + 1s);
}

TEST(ApplicationMasterTest, BookkeepingOfSkippedHeartbeatsOrdersNothing) {
  Driver driver(3);
  driver.Start();
  driver.Beat();
  std::vector<AmAction> actions;
  driver.am_->Step(driver.now_ + 10s, HeartbeatsElided{.count = 10, .last = driver.now_ + 10s},
                   actions);
  driver.am_->Step(driver.now_ + 10s,
                   PeerVouched{{"worker", 0}, Incarnation(0), false, driver.now_ + 9s}, actions);
  EXPECT_TRUE(actions.empty());
  // Last heard a second ago.
  EXPECT_EQ(driver.am_->next_decision(), driver.now_ + 13s);
}

// The RM says it in every answer while it means to take the container, and not that it has changed
// its mind.
TEST(ApplicationMasterTest, ANoticeIsObeyedOnceAndAgainAfterAPause) {
  Driver driver(2);
  driver.Start();
  const auto noticed = [&](int times, bool marked) {
    driver.notes_.clear();
    for (int i = 0; i < times; ++i) {
      if (marked) driver.next_.preempt_strict = {driver.agents_.back().container};
      driver.Beat();
    }
    return driver.notes_.size();
  };
  EXPECT_EQ(noticed(20, false), 0U);
  EXPECT_EQ(noticed(20, true), 1U);
  EXPECT_EQ(noticed(5, false), 0U);
  EXPECT_EQ(noticed(1, true), 0U);
  EXPECT_EQ(noticed(20, false), 0U);
  EXPECT_EQ(noticed(1, true), 1U);
}

TEST(ApplicationMasterTest, WhatNobodyWaitsForIsNotedAndChangesNothing) {
  Driver driver(1);
  driver.Start();
  driver.notes_.clear();
  driver.Step(NmReplied{.call = CallId(999), .node = {}, .response = yarn::RpcError{}});
  driver.Step(HdfsReplied{.call = CallId(999), .response = hdfs::Done{}});
  driver.Step(JournalRead{.bytes = "again"});
  driver.Step(JournalAppended{.seq = JournalSeq(999)});
  driver.Step(
      AgentSaid{AgentHeartbeat{}});  // of no task: refused, and as a heartbeat not worth a note
  driver.Step(AgentSaid{RegisterAgent{.fence = {.task = {"worker", 77}}, .address = {}}});
  EXPECT_EQ(driver.notes_.size(), 5U);
  EXPECT_EQ(driver.am_->snapshot().state, JobState::kRunning);
}

// The channel may reorder: what an agent said first can come last.
TEST(ApplicationMasterTest, AReportThatANewerOneHasOvertakenIsAnsweredAndChangesNothing) {
  Driver driver(2);
  driver.Start();
  const AgentFence own = driver.agents_.back();
  const auto changed = [&](std::int32_t port, std::uint32_t number) {
    std::vector<AmAction> actions;
    driver.am_->Step(driver.now_,
                     AgentSaid{AddressChanged{
                         .fence = own, .address = {.host = "n", .port = port}, .number = number}},
                     actions);
    const auto* send = std::get_if<SendToAgent>(&actions.at(0));
    EXPECT_EQ(std::get<NewsSeen>(send->message).number, number);
    for (const TaskSnapshot& task : driver.am_->snapshot().tasks) {
      if (task.task == own.task) return task.address.port;
    }
    return -1;
  };
  EXPECT_EQ(changed(2002, 2), 2002);
  EXPECT_EQ(changed(2001, 1), 2002);
  EXPECT_EQ(changed(2003, 3), 2003);
}

// Its AM had read the journal before an earlier AM ordered that attempt: the AM that reads the
// order must be told of the end, and an agent tells what is not answered again.
TEST(ApplicationMasterTest, TheEndOfAnAttemptThatThisAmDidNotOrderIsNotAnswered) {
  Driver driver(2);
  driver.Start();
  const AgentFence own = driver.agents_.back();
  const auto is_answered = [&](TaskAttempt attempt) {
    const ProcessRef process{.attempt = attempt, .epoch = driver.am_->snapshot().epoch};
    std::vector<AmAction> actions;
    driver.am_->Step(driver.now_,
                     AgentSaid{ProcessEnded{.fence = own, .process = process, .exit = {.code = 1}}},
                     actions);
    return std::any_of(actions.begin(), actions.end(), [](const AmAction& action) {
      const auto* send = std::get_if<SendToAgent>(&action);
      return send != nullptr && std::holds_alternative<ReportSeen>(send->message);
    });
  };
  EXPECT_FALSE(is_answered(TaskAttempt(1)));
  EXPECT_EQ(driver.am_->snapshot().state, JobState::kRunning);
}

TEST(ApplicationMasterTest, WhoDoesNotListenIsToldOnceAndNamedByTheCauseOfAStall) {
  Driver driver(2, WatchSpec{});
  driver.Start();
  const AgentFence own = driver.agents_.back();
  const ProcessRef process{.attempt = TaskAttempt(0), .epoch = driver.am_->snapshot().epoch};
  const PortReport report{.fence = own,
                          .process = process,
                          .use = {.listener = PortListener::kNobody, .elsewhere = {5001}},
                          .after = 5min,
                          .number = 1};
  driver.Step(AgentSaid{report});
  EXPECT_EQ(driver.ports_found_, 1);
  driver.Step(AgentSaid{report});
  EXPECT_EQ(driver.ports_found_, 1);
  driver.Step(
      AgentSaid{ProgressStalled{.fence = own, .process = process, .silent = 10min, .number = 2}});
  for (int i = 0; i < 100 && driver.causes_.empty(); ++i) driver.Beat();
  ASSERT_EQ(driver.causes_.size(), 1U);
  EXPECT_THAT(driver.causes_[0], testing::StartsWith("no progress for 10m; " + ToString(own.task) +
                                                     " listens on 5001, not on its port"));
}

TEST(ApplicationMasterTest, AnAgentSpeaksOnlyForItsOwnTaskContainerAndLife) {
  Driver driver(2);
  driver.Start();
  ASSERT_EQ(driver.agents_.size(), 3U);
  const AgentFence own = driver.agents_.back();
  AgentFence other_task = own;
  other_task.task = driver.agents_.front().task;
  AgentFence other_container = own;
  other_container.container = driver.agents_.front().container;
  AgentFence earlier_life = own;
  earlier_life.incarnation = Incarnation(own.incarnation.value + 1);
  AgentFence guessed = own;
  guessed.nonce = Nonce(own.nonce.value + 1);
  const HostPort address{.host = "evil", .port = 1};
  for (const AgentFence& fence : {other_task, other_container, earlier_life, guessed}) {
    std::vector<AmAction> actions;
    driver.am_->Step(driver.now_, AgentSaid{RegisterAgent{.fence = fence, .address = address}},
                     actions);
    ASSERT_EQ(actions.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<Note>(actions[0]));
    const auto& send = std::get<SendToAgent>(actions[1]);
    EXPECT_EQ(send.container, fence.container);
    EXPECT_TRUE(std::holds_alternative<AgentRefused>(send.message));
    driver.Step(AgentSaid{ProcessEnded{.fence = fence, .exit = {.code = 1}}});
  }
  EXPECT_EQ(driver.am_->snapshot().state, JobState::kRunning);

  // The same registration again, by its own agent: accepted again, and nothing else.
  std::vector<AmAction> actions;
  driver.am_->Step(driver.now_,
                   AgentSaid{RegisterAgent{
                       .fence = own, .address = {.host = "n", .port = 1000 + own.task.index}}},
                   actions);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<AgentAccepted>(std::get<SendToAgent>(actions[0]).message));
}

TEST(ApplicationMasterTest, AnAttemptThatTheRmDisownsEndsWithoutAWord) {
  Driver driver(1);
  driver.Start();
  std::vector<AmAction> actions;
  // Find the call that is answered next.
  driver.now_ = *driver.am_->next_deadline();
  driver.am_->Step(driver.now_, DeadlineReached{}, actions);
  const auto* call = std::get_if<CallRm>(&actions.back());
  ASSERT_NE(call, nullptr);
  const CallId id = call->call;
  actions.clear();
  driver.am_->Step(
      driver.now_,
      RmReplied{.call = id,
                .response = yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationAttemptNotFound,
                                           .message = "another attempt owns the application"}},
      actions);
  ASSERT_FALSE(actions.empty());
  ASSERT_TRUE(std::holds_alternative<ExitAm>(actions.back()));
  EXPECT_NE(std::get<ExitAm>(actions.back()).code, 0);
  EXPECT_EQ(driver.am_->next_deadline(), std::nullopt);
}

TEST(ApplicationMasterTest, AJobWhoseContainersNoNodeCanHoldFailsAtOnceAndSaysWhy) {
  JobSpec job;
  job.tasks = {{.name = "worker", .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 16}}};
  ApplicationMaster am(std::make_shared<const JobSpec>(job), {.surveyed = WallTime(1h)}, 1);
  std::vector<AmAction> actions;
  AmStarted started{.attempt = {.application = kApplication, .attempt = 1},
                    .address = {.host = "am", .port = 1}};
  started.nodes = {{.node = {.host = "n1", .port = 1},
                    .rack = "/r1",
                    .state = yarn::NodeState::kRunning,
                    .capability = {.memory_mb = 65536, .vcores = 32, .gpus = 8}}};
  am.Step(Instant{}, started, actions);
  am.Step(Instant{}, JournalRead{}, actions);
  am.Step(Instant{}, JournalAppended{JournalSeq(1)}, actions);
  am.Step(Instant{},
          RmReplied{.call = CallId(1), .response = yarn::RegisterApplicationMasterResponse{}},
          actions);
  am.Step(Instant{}, JournalAppended{JournalSeq(2)}, actions);
  ASSERT_TRUE(am.snapshot().verdict.has_value());
  EXPECT_EQ(am.snapshot().verdict->status, JobStatus::kFailed);
  EXPECT_EQ(am.snapshot().verdict->cause->exit_class, ExitClass::kInfeasible);
  EXPECT_NE(am.snapshot().verdict->diagnostics.find("gpu"), std::string::npos)
      << am.snapshot().verdict->diagnostics;
}

}  // namespace
}  // namespace tfyarn::am::application_master_test
