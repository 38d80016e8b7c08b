#include "hosts/runtime/machine_driver.h"

#include <gmock/gmock.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <thread>
#include <variant>

#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::machine_driver_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Event = std::variant<std::string, DeadlineReached>;
using Action = std::string;

/// Does what each event says: "do a b" orders a and b.
class Parrot {
 public:
  void Step(Instant, const Event& event, std::vector<Action>& actions) {
    if (std::holds_alternative<DeadlineReached>(event)) {
      deadline_.reset();
      actions.emplace_back("late");
      return;
    }
    actions.push_back(std::get<std::string>(event) + "/1");
    actions.push_back(std::get<std::string>(event) + "/2");
  }
  [[nodiscard]] std::optional<Instant> next_deadline() const { return deadline_; }

  std::optional<Instant> deadline_;
};

class MachineDriverTest : public HostRig {
 protected:
  using Driver = MachineDriver<Parrot, Event, Action>;

  void Make() {
    driver_ = std::make_unique<Driver>(
        io_, machine_,
        Driver::Handlers{
            .told =
                [this](Instant at, const Event& event) {
                  const auto* text = std::get_if<std::string>(&event);
                  log_.push_back("told " + (text == nullptr ? "deadline" : *text));
                  last_told_ = at;
                },
            .ordered = [this](Instant,
                              const Action& action) { log_.push_back("ordered " + action); },
            .carry_out =
                [this](Action& action) {
                  log_.push_back("done " + action);
                  if (on_action_) on_action_(action);
                }});
  }

  Parrot machine_;
  std::vector<std::string> log_;
  Instant last_told_{};
  std::function<void(const Action&)> on_action_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(MachineDriverTest, RecordsAWholeStepBeforeAnyOfItIsDone) {
  Make();
  driver_->Tell("a");
  EXPECT_THAT(log_, ElementsAre("told a", "ordered a/1", "ordered a/2", "done a/1", "done a/2"));
}

TEST_F(MachineDriverTest, WhatIsToldDuringAStepComesAfterIt) {
  Make();
  on_action_ = [this](const Action& action) {
    if (action == "a/1") {
      driver_->Tell("b");
      driver_->Tell("c");
    }
  };
  driver_->Tell("a");
  EXPECT_THAT(log_, ElementsAre("told a", "ordered a/1", "ordered a/2", "done a/1", "done a/2",
                                "told b", "ordered b/1", "ordered b/2", "done b/1", "done b/2",
                                "told c", "ordered c/1", "ordered c/2", "done c/1", "done c/2"));
}

TEST_F(MachineDriverTest, AfterStopNothingIsDone) {
  Make();
  on_action_ = [this](const Action& action) {
    if (action != "a/1") return;
    driver_->Tell("b");
    driver_->Stop();
  };
  driver_->Tell("a");
  driver_->Tell("c");
  EXPECT_TRUE(driver_->stopped());
  EXPECT_THAT(log_, ElementsAre("told a", "ordered a/1", "ordered a/2", "done a/1"));
}

TEST_F(MachineDriverTest, StopEndsTheWaitForADeadline) {
  Make();
  machine_.deadline_ = Now() + 1h;
  driver_->Tell("a");
  driver_->Stop();
  log_.clear();
  // With a wait under way the loop would not be done for an hour.
  UntilIdle();
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(MachineDriverTest, TellsADeadlineOnceAndNotEarly) {
  Make();
  const Instant deadline = Now() + 20ms;
  machine_.deadline_ = deadline;
  driver_->Tell("a");
  log_.clear();
  Until([this] { return !log_.empty(); }, "the deadline");
  UntilIdle();
  EXPECT_THAT(log_, ElementsAre("told deadline", "ordered late", "done late"));
  EXPECT_GE(last_told_, deadline);
}

TEST_F(MachineDriverTest, ADeadlineThatIsPastIsToldFromTheLoop) {
  Make();
  machine_.deadline_ = Now() - 1s;
  driver_->Tell("a");
  EXPECT_EQ(log_.back(), "done a/2");
  Until([this] { return log_.back() == "done late"; }, "the deadline");
}

TEST_F(MachineDriverTest, FollowsADeadlineThatMoves) {
  Make();
  machine_.deadline_ = Now() + 1h;
  driver_->Tell("a");
  const Instant earlier = Now() + 10ms;
  machine_.deadline_ = earlier;
  driver_->Tell("b");
  Until([this] { return log_.back() == "done late"; }, "the earlier deadline");
  EXPECT_GE(last_told_, earlier);

  machine_.deadline_ = Now() + 10ms;
  driver_->Tell("c");
  machine_.deadline_.reset();
  driver_->Tell("d");
  log_.clear();
  UntilIdle();
  EXPECT_THAT(log_, IsEmpty()) << "a deadline that was given up";
}

// The timer has run out and its handler stands in the queue when another event moves the deadline.
TEST_F(MachineDriverTest, ATimerThatCannotBeCancelledAnyMoreTellsNothing) {
  Make();
  const Instant first = Now() + 1ms;
  machine_.deadline_ = first;
  driver_->Tell("a");
  log_.clear();
  boost::asio::post(io_, [&] {
    while (Now() <= first) std::this_thread::yield();
    // Runs after the loop has looked at its timers, before what it found there.
    boost::asio::post(io_, [&] {
      machine_.deadline_ = Now() + 1h;
      driver_->Tell("b");
    });
  });
  Settle();
  EXPECT_THAT(log_, ElementsAre("told b", "ordered b/1", "ordered b/2", "done b/1", "done b/2"));
}

TEST_F(MachineDriverTest, MayGoWithATimerPending) {
  Make();
  machine_.deadline_ = Now() + 1h;
  driver_->Tell("a");
  driver_.reset();
  UntilIdle();

  Make();
  const Instant first = Now() + 1ms;
  machine_.deadline_ = first;
  driver_->Tell("b");
  log_.clear();
  boost::asio::post(io_, [&] {
    while (Now() <= first) std::this_thread::yield();
    boost::asio::post(io_, [&] { driver_.reset(); });
  });
  Settle();
  EXPECT_THAT(log_, IsEmpty());
}

}  // namespace
}  // namespace tfyarn::hosts::machine_driver_test
