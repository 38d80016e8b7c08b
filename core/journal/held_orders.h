// Orders that wait for the entry of the journal that they rest on.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "core/journal/outbox.h"
#include "core/model/ids.h"

namespace tfyarn::journal {

template <class Order>
class HeldOrders {
 public:
  /// `entry`: of those held so far none has a later one.
  void Hold(JournalSeq entry, Order order) { held_.push_back({entry, std::move(order)}); }
  /// It is found out before the decision behind it is made: it rests on all entries that there are
  /// at the next Send.
  void Decide(Order order) { decided_.push_back(std::move(order)); }
  /// Takes out, in their order, those whose entry is durable: `send(entry, order)` for each.
  template <class Sender>
  void Send(const Outbox& out, Sender send) {
    for (Order& order : std::exchange(decided_, {})) Hold(out.last(), std::move(order));
    while (!held_.empty() && out.IsDurable(held_.front().entry)) {
      const Held next = std::move(held_.front());
      held_.pop_front();
      send(next.entry, next.order);
    }
  }
  /// One that is like that is held.
  template <class IsIt>
  [[nodiscard]] bool Any(IsIt is_it) const {
    return std::any_of(held_.begin(), held_.end(),
                       [&](const Held& held) { return is_it(held.order); });
  }

 private:
  struct Held {
    JournalSeq entry;
    Order order;
  };
  std::vector<Order> decided_;  // since the last Send
  std::deque<Held> held_;       // in the journal's order
};

}  // namespace tfyarn::journal
