#include "core/am/reconcile/leaving.h"

#include <algorithm>
#include <utility>

#include "core/am/am_core.h"
#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::am {

void Leaving::EndAgent(TaskIndex task, JournalSeq entry) {
  const std::uint32_t index = Take(task);
  Slot& slot = Touch(index);
  slot.step = Step::kEnding;
  slot.entry = entry;
  alone_ += static_cast<int>(slot.alone);
  SendEnd(index);
  slot.step_over_at = core_.now + core_.job->deadlines.stop + kStopSlack;
}

void Leaving::Stop(TaskIndex task) {
  StopSlot(Take(task));
}

void Leaving::Release(TaskIndex task) {
  Decide(Take(task), Step::kReleased);
}

void Leaving::StopStranger(const ContainerId& container, const NodeId& node) {
  TF_PROBE("leaving/stranger");
  if (!Has(container))
    StopSlot(Add({.maybe_training = true, .container = container, .node = node}));
}

void Leaving::Decide(std::uint32_t slot, Step step) {
  orders_.Decide({.step = step, .slot = slot, .container = slots_[slot].container});
}

void Leaving::Reconcile() {
  orders_.Send(core_.out, [this](JournalSeq entry, const Held& held) { Tell(entry, held); });
}

void Leaving::Tell(JournalSeq entry, const Held& held) {
  Slot& slot = Touch(held.slot);
  if (slot.container != held.container) return;  // It has ended meanwhile.
  slot.entry = entry;
  slot.end_again_at = kNever;
  if (held.step == Step::kReleased) {
    ReleaseSlot(held.slot);
  } else {
    CallStop(held.slot);
  }
}

std::optional<TaskIndex> Leaving::TaskOf(const ContainerId& container) const {
  const auto entry = slot_of_.find(container);
  return entry == slot_of_.end() ? std::nullopt : slots_[entry->second].task;
}

bool Leaving::OnCompleted(const ContainerId& container) {
  const auto entry = slot_of_.find(container);
  if (entry == slot_of_.end()) return false;
  const std::uint32_t index = entry->second;
  Slot& slot = Touch(index);
  maybe_training_ -= static_cast<int>(slot.maybe_training);
  released_ -= static_cast<int>(slot.step == Step::kReleased);
  Harder(slot, Step::kFree);
  slot = {};
  slot_of_.erase(entry);
  free_.push_back(index);
  return true;
}

void Leaving::OnNotStopped(const ContainerId& container) {
  const auto entry = slot_of_.find(container);
  if (entry == slot_of_.end() || slots_[entry->second].step != Step::kStopping) return;
  TF_PROBE("leaving/node-cannot-stop-it");
  ReleaseSlot(entry->second);
}

void Leaving::OnEndAgain(std::uint32_t slot) {
  // Also while it rests on an entry to be stopped.
  TF_PROBE("leaving/end-repeated");
  SendEnd(slot);
}

void Leaving::OnStepOver(std::uint32_t slot) {
  Touch(slot).step_over_at = kNever;
  switch (slots_[slot].step) {
    case Step::kEnding:
      TF_PROBE("leaving/agent-did-not-end");
      return StopSlot(slot);
    case Step::kStopping:
      TF_PROBE("leaving/node-did-not-stop-it");
      return ReleaseSlot(slot);
    case Step::kFree:
    case Step::kReleased:
      return;
  }
}

Leaving::Slot Leaving::SlotOf(TaskIndex task) const {
  const TaskSnapshot& shown = core_.tasks.shown(task);
  const TaskRecord& record = core_.tasks.record(task);
  TF_CHECK(record.agent != AgentPhase::kNone);
  // A process whose end was assumed, not seen, may live on.
  const bool unseen = record.process == ProcessPhase::kEnded && !EndWasSeen(task);
  if (unseen) TF_PROBE("leaving/end-was-assumed");
  const bool running = core_.tasks.ProcessAlive(task) || unseen;
  return {.maybe_training = record.training && running,
          .alone = !running,
          .container = shown.container,
          .node = shown.node,
          .task = task,
          .fence = core_.tasks.FenceOf(task)};
}

bool Leaving::EndWasSeen(TaskIndex task) const {
  const auto end = core_.ends.find(task);
  return end != core_.ends.end() && end->second.evidence.process.has_value();
}

std::uint32_t Leaving::Take(TaskIndex task) {
  Slot slot = SlotOf(task);
  core_.allocation.Detach(core_.tasks.id(task));
  Part(task);
  return Add(std::move(slot));
}

void Leaving::Gone(TaskIndex task) {
  Part(task);
}

void Leaving::Part(TaskIndex task) {
  core_.heartbeats.Forget(task);
  core_.tasks.DropContainer(task);
}

std::uint32_t Leaving::Add(Slot slot) {
  std::uint32_t index = static_cast<std::uint32_t>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  maybe_training_ += static_cast<int>(slot.maybe_training);
  slot_of_.emplace(slot.container, index);
  slots_[index] = std::move(slot);
  (void)Touch(index);
  return index;
}

void Leaving::SendEnd(std::uint32_t index) {
  Slot& slot = Touch(index);
  core_.out.Order(slot.entry, slot.container,
                  tfyarn::EndAgent{.fence = *slot.fence, .grace = core_.job->deadlines.stop});
  slot.end_again_at = core_.now + kOrderRepeat;
}

void Leaving::StopSlot(std::uint32_t index) {
  Harder(Touch(index), Step::kStopping);
  Decide(index, Step::kStopping);
}

void Leaving::CallStop(std::uint32_t index) {
  Slot& slot = Touch(index);
  if (!core_.allocation.Stop(slot.entry, {.id = slot.container, .node = slot.node}))
    return ReleaseSlot(index);
  slot.step_over_at = core_.now + kStopSlack;
}

void Leaving::ReleaseSlot(std::uint32_t index) {
  Slot& slot = Touch(index);
  if (slot.step == Step::kReleased) return;
  core_.allocation.Release(slot.container);
  Harder(slot, Step::kReleased);
  ++released_;
  // From here the RM sees to it; a process that outlives that is on a node out of reach.
  maybe_training_ -= static_cast<int>(slot.maybe_training);
  slot.maybe_training = false;
}

void Leaving::Harder(Slot& slot, Step step) {
  alone_ -= static_cast<int>(slot.step == Step::kEnding && slot.alone);
  slot.step = step;
}

// ---------------------------------------------------------------- what is due

Due Leaving::FirstOf(std::uint32_t index) const {
  const Slot& slot = slots_[index];
  Due first{.key = index};
  if (slot.step != Step::kEnding && slot.step != Step::kStopping) return first;
  for (const auto& [what, at] : {std::pair(Deadline::kEndAgain, slot.end_again_at),
                                 std::pair(Deadline::kLeaving, slot.step_over_at)}) {
    if (at != kNever) first = std::min(first, Due{.at = at, .what = what, .key = index});
  }
  return first;
}

void Leaving::PutOff(Instant now, Instant to) {
  for (std::uint32_t i = 0; i < slots(); ++i) {
    am::PutOff(Touch(i).end_again_at, now, to);
    am::PutOff(slots_[i].step_over_at, now, to);
  }
}

}  // namespace tfyarn::am
