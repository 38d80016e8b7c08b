#include "core/trace/gpu_account.h"

#include "core/model/check.h"

namespace tfyarn::trace {

GpuSplit& GpuSplit::operator+=(const GpuSplit& other) {
  useful += other.useful;
  waiting += other.waiting;
  checkpoint += other.checkpoint;
  lost += other.lost;
  recovery += other.recovery;
  held += other.held;
  overrun += other.overrun;
  return *this;
}

void GpuAccount::Hold(Instant now, std::int64_t change) {
  Advance(now);
  held_ += change;
  TF_CHECK(held_ >= 0);
}

void GpuAccount::Enter(Instant now, TrainingPhase phase) {
  Advance(now);
  if (phase != TrainingPhase::kIdle && phase != TrainingPhase::kDone) trained_ = true;
  phase_ = phase;
}

void GpuAccount::Add(const TrainingAccounted& account) {
  split_.useful += account.useful.count();
  split_.checkpoint += account.checkpoint.count();
  split_.lost += account.lost.count();
  split_.recovery += account.restore.count();
}

GpuSplit GpuAccount::split(Instant now) const {
  GpuSplit split = split_;
  const GpuNanos since = static_cast<GpuNanos>((now - at_).count()) * held_;
  split.held += since;
  if (trained_ && phase_ == TrainingPhase::kIdle) split.recovery += since;
  const GpuNanos rest = split.held - split.sum();
  split.waiting = rest > 0 ? rest : 0;
  split.overrun = rest < 0 ? -rest : 0;
  return split;
}

void GpuAccount::Advance(Instant now) {
  TF_CHECK(now >= at_);
  const GpuNanos since = static_cast<GpuNanos>((now - at_).count()) * held_;
  split_.held += since;
  if (trained_ && phase_ == TrainingPhase::kIdle) split_.recovery += since;
  at_ = now;
}

}  // namespace tfyarn::trace
