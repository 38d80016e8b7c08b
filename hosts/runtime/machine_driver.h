// Drives one machine with real time: gives it events one at a time, hands on its actions in order,
// and wakes it at its deadline.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/am.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::hosts {

template <class Machine, class Event, class Action>
class MachineDriver {
 public:
  struct Handlers {
    std::function<void(Instant, const Event&)> told;      ///< Before the step.
    std::function<void(Instant, const Action&)> ordered;  ///< All of a step, before any is done.
    std::function<void(Action&)> carry_out;               ///< May call Tell and Stop.
  };

  /// `machine` must outlive the driver.
  MachineDriver(boost::asio::io_context& loop, Machine& machine, Handlers handlers)
      : machine_(machine), handlers_(std::move(handlers)), timer_(loop) {}

  /// Steps the machine with it; when a step is under way, right after that one.
  void Tell(Event event) {
    inbox_.push_back(std::move(event));
    if (!stepping_) Drain();
  }

  /// No step and no action follows.
  void Stop() {
    stopped_ = true;
    timer_.cancel();
  }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  void Drain() {
    stepping_ = true;
    while (!inbox_.empty() && !stopped_) {
      const Event event = std::move(inbox_.front());
      inbox_.pop_front();
      Step(event);
    }
    stepping_ = false;
    if (!stopped_) Rearm();
  }

  void Step(const Event& event) {
    const Instant now = Now();
    std::vector<Action> actions;
    handlers_.told(now, event);
    machine_.Step(now, event, actions);
    for (const Action& action : actions) handlers_.ordered(now, action);
    for (Action& action : actions) {
      if (!stopped_) handlers_.carry_out(action);
    }
  }

  void Rearm() {
    const auto next = machine_.next_deadline();
    if (next == armed_) return;
    armed_ = next;
    timer_.cancel();
    if (!next) return;
    timer_.expires_at(std::chrono::steady_clock::time_point(next->time_since_epoch()));
    timer_.async_wait(lifetime_.Guard([this, next](const boost::system::error_code& error) {
      if (error || stopped_ || armed_ != next) return;
      armed_.reset();
      Tell(DeadlineReached{});
    }));
  }

  Machine& machine_;
  Handlers handlers_;
  boost::asio::steady_timer timer_;
  std::deque<Event> inbox_;
  std::optional<Instant> armed_;
  bool stepping_ = false;
  bool stopped_ = false;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
