#include "sim/kernel.h"

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn::sim {

EventQueue::Event Kernel::TakeNext() {
  const EventQueue::Event event = queue_.Pop();
  TF_CHECK(event.at >= now_);
  if (event.at > now_) passed_rank_ = 0;
  now_ = event.at;
  if (event.late) passed_rank_ = std::max<std::uint64_t>(passed_rank_, event.order);
  return event;
}

void Kernel::RunFirstOfTurn(std::uint32_t actor, Instant at) {
  const auto turn = turns_.find({at, actor});
  const std::uint32_t task = turn->second.front();
  turn->second.pop_front();
  if (turn->second.empty()) turns_.erase(turn);
  tasks_.Run(task);
}

}  // namespace tfyarn::sim
