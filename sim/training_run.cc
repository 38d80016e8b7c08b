#include "sim/training_run.h"

#include <algorithm>

#include "core/model/check.h"
#include "sim/random.h"

namespace tfyarn::sim {
namespace {

using trace::TrainingPhase;

}  // namespace

TimeSplit& TimeSplit::operator+=(const TimeSplit& other) {
  useful += other.useful;
  checkpoint += other.checkpoint;
  restore += other.restore;
  lost += other.lost;
  return *this;
}

TrainingAccount& TrainingAccount::operator+=(const TrainingAccount& other) {
  wall += other.wall;
  gpu += other.gpu;
  return *this;
}

TrainingRun::TrainingRun(Duration total, const config::CheckpointSpec& checkpoint, Duration restore)
    : total_(std::min(total, kLongestDraw)),
      every_(checkpoint.every > Duration::zero() ? checkpoint.every : kLongestDraw),
      cost_(checkpoint.cost),
      restore_(restore) {
  TF_CHECK(total >= Duration::zero());
}

void TrainingRun::Begin(Instant now) {
  TF_CHECK(!in_session_);
  TF_CHECK(work_ == saved_);
  at_ = now;
  in_session_ = true;
  paused_ = saving_ = false;
  if (began_before_ && restore_ > Duration::zero()) {
    inner_ = TrainingPhase::kRestore;
    left_ = restore_;
  } else {
    EnterTraining();
  }
  began_before_ = true;
}

void TrainingRun::Pause(Instant now) {
  Advance(now);
  paused_ = true;
}

void TrainingRun::Resume(Instant now) {
  Advance(now);
  paused_ = false;
}

void TrainingRun::SetPace(Instant now, std::int32_t pace_permille) {
  TF_CHECK(pace_permille >= 1);
  if (pace_permille == pace_) return;
  Advance(now);
  Rebase();
  pace_ = pace_permille;
}

void TrainingRun::SetGpus(Instant now, std::int64_t gpus) {
  if (gpus == gpus_) return;
  Advance(now);
  gpus_ = gpus;
}

void TrainingRun::StartSaving(Instant now) {
  Advance(now);
  if (inner_ != TrainingPhase::kTraining && inner_ != TrainingPhase::kCheckpoint) return;
  inner_ = TrainingPhase::kCheckpoint;
  left_ = kLongestDraw;
  saving_ = true;
}

void TrainingRun::FinishSaving(Instant now) {
  Advance(now);
  if (!saving_) return;
  saving_ = false;
  FinishCheckpoint();
}

Duration TrainingRun::Break(Instant now) {
  Advance(now);
  in_session_ = false;
  saving_ = false;
  inner_ = TrainingPhase::kIdle;
  work_ = saved_;
  Rebase();
  const Duration lost = at_risk_;
  account_.wall.lost += lost.count();
  account_.gpu.lost += at_risk_gpu_;
  at_risk_ = Duration::zero();
  at_risk_gpu_ = 0;
  return lost;
}

void TrainingRun::Book(WideTime TimeSplit::*account, Duration time) {
  account_.wall.*account += time.count();
  account_.gpu.*account += WideTime(time.count()) * gpus_;
}

void TrainingRun::KeepAtRisk() {
  account_.wall.useful += at_risk_.count();
  account_.gpu.useful += at_risk_gpu_;
  at_risk_ = Duration::zero();
  at_risk_gpu_ = 0;
}

void TrainingRun::Advance(Instant now) {
  TF_CHECK(now >= at_);
  Duration left = now - at_;
  at_ = now;
  if (!in_session_ || paused_) return;
  while (left > Duration::zero() && inner_ != TrainingPhase::kDone) {
    if (inner_ == TrainingPhase::kTraining) {
      Train(left);
      continue;
    }
    const Duration used = std::min(left, left_);
    Book(inner_ == TrainingPhase::kRestore ? &TimeSplit::restore : &TimeSplit::checkpoint, used);
    left -= used;
    left_ -= used;
    if (left_ > Duration::zero()) return;
    if (inner_ == TrainingPhase::kCheckpoint) {
      FinishCheckpoint();
    } else {
      EnterTraining();
    }
  }
}

void TrainingRun::Train(Duration& left) {
  if (since_base_ == Duration::zero() && work_ == saved_) SkipWholeCycles(left);
  const Duration stop = NextStop();
  const Duration wall = WallToStop();
  const Duration used = std::min(left, wall);
  since_base_ += used;
  work_ = used == wall ? stop
                       : base_ + Duration(static_cast<Duration::rep>(WideTime(since_base_.count()) *
                                                                     1000 / pace_));
  at_risk_ += used;
  at_risk_gpu_ += WideTime(used.count()) * gpus_;
  left -= used;
  if (used < wall) return;
  Rebase();
  if (work_ == total_) {
    EnterTraining();  // Finds that it is done.
  } else {
    inner_ = TrainingPhase::kCheckpoint;
    left_ = cost_;
    if (cost_ == Duration::zero()) FinishCheckpoint();
  }
}

void TrainingRun::SkipWholeCycles(Duration& left) {
  const Duration wall = WallOf(every_);
  const Duration cycle = wall + cost_;
  if (left < cycle || total_ - work_ <= every_) return;
  const auto cycles = std::min(left / cycle, (total_ - work_ - Duration(1)) / every_);
  work_ += cycles * every_;
  saved_ = work_;
  Rebase();
  Book(&TimeSplit::useful, cycles * wall);
  Book(&TimeSplit::checkpoint, cycles * cost_);
  left -= cycles * cycle;
}

void TrainingRun::FinishCheckpoint() {
  saved_ = work_;
  KeepAtRisk();
  EnterTraining();
}

void TrainingRun::EnterTraining() {
  inner_ = TrainingPhase::kTraining;
  if (work_ < total_) return;
  inner_ = TrainingPhase::kDone;
  saved_ = work_;
  KeepAtRisk();
}

void TrainingRun::Rebase() {
  base_ = work_;
  since_base_ = Duration::zero();
}

Duration TrainingRun::NextStop() const {
  return total_ - saved_ <= every_ ? total_ : saved_ + every_;
}

Duration TrainingRun::WallOf(Duration work) const {
  if (pace_ == 1000) return work;
  const WideTime wall = (WideTime(work.count()) * pace_ + 999) / 1000;
  return Duration(static_cast<Duration::rep>(std::min<WideTime>(wall, kLongestDraw.count())));
}

TrainingPhase TrainingRun::phase() const {
  if (!in_session_) return TrainingPhase::kIdle;
  if (inner_ == TrainingPhase::kDone) return inner_;
  return paused_ ? TrainingPhase::kIdle : inner_;
}

std::optional<Instant> TrainingRun::next_change() const {
  if (!in_session_ || paused_ || saving_ || inner_ == TrainingPhase::kDone) return std::nullopt;
  if (inner_ == TrainingPhase::kTraining) return at_ + WallToStop();
  return at_ + left_;
}

std::optional<Instant> TrainingRun::done_at() const {
  if (!in_session_ || paused_ || saving_ || inner_ == TrainingPhase::kDone) return std::nullopt;
  Instant at = at_;
  Duration from = work_;
  if (inner_ != TrainingPhase::kTraining) {
    at += left_;
  } else {
    at += WallToStop();
    from = NextStop();
    if (from == total_) return at;
    at += cost_;
  }
  if (from == total_) return at;
  const auto cycles = (total_ - from - Duration(1)) / every_;
  const WideTime rest = WideTime(cycles) * (WallOf(every_) + cost_).count() +
                        WallOf(total_ - from - cycles * every_).count();
  return at + Duration(static_cast<Duration::rep>(std::min<WideTime>(rest, kLongestDraw.count())));
}

TrainingAccount TrainingRun::TakeAccount(bool settle) {
  if (settle) KeepAtRisk();
  const TrainingAccount account = account_;
  account_ = {};
  return account;
}

}  // namespace tfyarn::sim
