// Random walks: an AM that says anything in any order, a host that keeps its contract, and time
// that passes. Whatever is said, what follows must hold after every step; the machine's own checks
// (its transition tables) are on as well.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "core/model/random_stream.h"
#include "core/model/text.h"
#include "tests/unit/core/agent/agent_rig.h"

namespace tfyarn::agent::task_agent_walk_test {
namespace {

/// "region from to" of every change that was seen between two steps.
using Seen = std::set<std::string>;

class Walk {
 public:
  Walk(std::uint64_t seed, Seen& seen)
      : random_(seed, "walk"), agent_(std::make_shared<const JobSpec>(Job()), seed), seen_(seen) {}

  void Run(int steps) {
    Step(StartedEvent());
    for (int i = 0; i < steps && !exited_; ++i) {
      if (random_.Below(3) == 0) PassTime();
      Step(NextEvent());
    }
    // Let it end: a process that is told to stop does so, and no machine says more.
    Step(SayAs(agent_.snapshot().am_attempt, EndAgent{.fence = {}, .grace = 1s}));
    for (int i = 0; i < 100 && !exited_; ++i) {
      if (leasing_) Step(PortLeased{.port = 7});
      if (spawning_) Step(Spawned());
      if (alive_) Step(Exited());
      PassTime();
    }
    EXPECT_TRUE(exited_);
    EXPECT_EQ(agent_.next_deadline(), std::nullopt);
  }

 private:
  static JobSpec Job() {
    JobSpec job;
    job.watch = WatchSpec{};
    job.watch->stalled = 30s;
    job.deadlines.orphan = 5min;
    return job;
  }

  /// By the AM that the agent is with, or now and then by another one.
  template <class Message>
  AgentEvent Say(Message message) {
    const std::int32_t its = agent_.snapshot().am_attempt;
    const std::int32_t attempt =
        random_.Below(8) == 0 ? static_cast<std::int32_t>(1 + random_.Below(2)) : its;
    newer_spoke_ = newer_spoke_ || attempt > its;
    return SayAs(attempt, std::move(message));
  }
  template <class Message>
  static AgentEvent SayAs(std::int32_t attempt, Message message) {
    message.fence = StartedEvent().fence;
    return AmSaid{.message = message, .am_attempt = attempt};
  }
  TaskAttempt SomeAttempt() {
    const std::uint32_t newest = newest_ ? newest_->value : 0;
    return TaskAttempt(newest + static_cast<std::uint32_t>(random_.Below(4)) -
                       std::min(newest, 2U));
  }
  AgentEvent Spawned() {
    spawning_ = false;
    return ProcessSpawned{.attempt = alive_.value()};
  }
  AgentEvent Exited() {
    spawning_ = false;
    ProcessExited exited;
    exited.attempt = alive_.value();
    exited.exit.code = static_cast<std::int32_t>(random_.Below(3));
    exited.port_conflict = random_.Below(4) == 0;
    alive_.reset();
    return exited;
  }
  AgentEvent NextEvent() {
    if (leasing_ && random_.Below(2) == 0) {
      leasing_ = false;
      if (random_.Below(3) == 0) return PortLeaseFailed{.reason = "none"};
      held_ = true;
      return PortLeased{.port = static_cast<std::int32_t>(5000 + random_.Below(2))};
    }
    if (alive_ && spawning_ && random_.Below(2) == 0) {
      if (random_.Below(4) != 0) return Spawned();
      spawning_ = false;
      const TaskAttempt attempt = *alive_;
      alive_.reset();
      return SpawnFailed{.attempt = attempt, .reason = "no"};
    }
    if (alive_ && !spawning_ && random_.Below(4) == 0) return Exited();
    switch (random_.Below(18)) {
      case 0:
        return Say(AgentAccepted{});
      case 1:
      case 2:
        return Say(AgentRig::Start(SomeAttempt().value,
                                   static_cast<std::int32_t>(5000 + random_.Below(2))));
      case 3:
        return Say(
            StopProcess{.fence = {}, .attempt = SomeAttempt(), .grace = random_.Between(0s, 3s)});
      case 4:
        return Say(WarnProcess{.fence = {}, .attempt = SomeAttempt()});
      case 17:
        if (random_.Below(2) == 0)
          return PortUseSeen{
              .attempt = SomeAttempt(),
              .use = {.listener = static_cast<PortListener>(random_.Below(3)), .elsewhere = {}}};
        return ProcessSignsSeen{.attempt = SomeAttempt(),
                                .standstill = static_cast<Standstill>(random_.Below(3)),
                                .catches_term = random_.Below(2) == 0};
      case 16:
        return Say(ShowStacks{.fence = {}, .attempt = SomeAttempt()});
      case 5:
      case 6:
        if (random_.Below(2) == 0)
          return Say(NewsSeen{.fence = {}, .number = static_cast<std::uint32_t>(random_.Below(6))});
        return Say(ReportSeen{.fence = {},
                              .kind = static_cast<ReportKind>(random_.Below(6)),
                              .attempt = SomeAttempt()});
      case 7:
        return AmAddressRead{.am_attempt = static_cast<std::int32_t>(random_.Below(4)),
                             .address = {.host = "am2", .port = 2}};
      case 8:
        return PeerVouched{
            .task = {}, .incarnation = {}, .vouched = random_.Below(2) == 0, .last = now_ - 1s};
      case 9:
        return ProgressSeen{.attempt = SomeAttempt()};
      case 10:
        return ProcessExited{
            .attempt = TaskAttempt(9999), .exit = {}, .port_conflict = false, .stderr_tail = ""};
      case 11:
        if (random_.Below(8) == 0) return TerminationRequested{};
        return Say(HeartbeatSeen{});
      case 12:
        if (random_.Below(8) == 0) return Say(AgentRefused{.fence = {}, .reason = "walk"});
        return Say(HeartbeatSeen{});
      case 13:
        if (random_.Below(8) == 0) return Say(EndAgent{.fence = {}, .grace = 1s});
        return AmSaid{.message = HeartbeatSeen{}, .am_attempt = 1};  // Another's.
      default:
        return Say(HeartbeatSeen{});
    }
  }
  void PassTime() {
    const Instant until = now_ + random_.Between(0s, 20s);
    for (int i = 0; !exited_ && agent_.next_deadline() && *agent_.next_deadline() <= until; ++i) {
      ASSERT_LT(i, 1000) << "it never waits";
      now_ = std::max(now_, *agent_.next_deadline());
      Step(DeadlineReached{});
    }
    now_ = until;
  }
  void Step(const AgentEvent& event) {
    std::vector<AgentAction> actions;
    const AgentSnapshot before = agent_.snapshot();
    agent_.Step(now_, event, actions);
    Compare(before, agent_.snapshot());
    if (std::holds_alternative<PeerVouched>(event)) {
      EXPECT_TRUE(actions.empty());
    }
    for (const AgentAction& action : actions) {
      std::visit([this](const auto& a) { Check(a); }, action);
    }
    if (agent_.next_decision()) {
      ASSERT_TRUE(agent_.next_deadline().has_value());
      EXPECT_LE(*agent_.next_deadline(), *agent_.next_decision());
    }
  }

  template <class State>
  void Changed(const std::string& region, State from, State to) {
    if (from != to)
      seen_.insert(fmt::format("{} {} {}", region, EnumeratorName(from), EnumeratorName(to)));
  }
  void Compare(const AgentSnapshot& before, const AgentSnapshot& after) {
    Changed("life", before.life, after.life);
    Changed("port", before.port, after.port);
    Changed("link", before.link, after.link);
    Changed("process", before.process_state, after.process_state);
  }

  void Check(const LeasePort&) {
    EXPECT_FALSE(alive_) << "a port is leased while a process has the old one";
    leasing_ = true;
    held_ = false;
  }
  void Check(const SendToAm& send) {
    EXPECT_EQ(FenceOf(send.message), StartedEvent().fence);
    EXPECT_FALSE(exited_);
  }
  void Check(const SpawnProcess& spawn) {
    EXPECT_FALSE(alive_) << "two processes of one task";
    EXPECT_TRUE(held_) << "no port";
    if (newest_) {
      EXPECT_GT(spawn.process.attempt, *newest_) << "an attempt runs once";
    }
    newest_ = spawn.process.attempt;
    alive_ = spawn.process.attempt;
    spawning_ = true;
    terminated_ = false;
  }
  void Check(const SignalProcess& signal) {
    EXPECT_EQ(signal.attempt, alive_);
    EXPECT_FALSE(spawning_);
    if (signal.signal == StopSignal::kKill) {
      EXPECT_TRUE(terminated_) << "killed without warning";
    }
    terminated_ = true;
  }
  void Check(const ReadAmAddress&) {
    // Or a newer AM spoke.
    EXPECT_TRUE(agent_.snapshot().link == LinkState::kSearching || newer_spoke_);
  }
  void Check(const ExitAgent&) {
    EXPECT_FALSE(alive_) << "its process outlives it";
    EXPECT_FALSE(exited_);
    exited_ = true;
  }
  void Check(const DumpStacks&) { EXPECT_TRUE(alive_) << "stacks of nothing"; }
  void Check(const Note& note) { EXPECT_FALSE(note.text.empty()); }

  RandomStream random_;
  bool newer_spoke_ = false;
  TaskAgent agent_;
  Seen& seen_;
  Instant now_ = kStart;
  bool leasing_ = false;
  bool held_ = false;
  bool spawning_ = false;
  bool terminated_ = false;
  bool exited_ = false;
  std::optional<TaskAttempt> alive_;
  std::optional<TaskAttempt> newest_;
};

TEST(TaskAgentWalkTest, WhateverIsSaidItKeepsOneProcessAPortAndItsWord) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk(seed, seen).Run(200);
    if (testing::Test::HasFailure()) return;
  }
  for (const Transition& row : TaskAgentTransitions()) {
    if (row.from == row.to) continue;
    const std::string change = fmt::format("{} {} {}", row.region, row.from, row.to);
    EXPECT_EQ(seen.count(change), 1U)
        << change << " never happened: the walk is too tame, or the row is not needed";
  }
}

}  // namespace
}  // namespace tfyarn::agent::task_agent_walk_test
