#include "core/journal/outbox.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/probe.h"

namespace tfyarn::journal {
namespace {

constexpr Duration kFirstRetry = 1s;
constexpr Duration kLongestRetry = 30s;

}  // namespace

void Outbox::Hold(JournalSeq seq, AmAction action) {
  // Kept in order of seq, equal ones in order of arrival.
  const auto place = std::upper_bound(held_.begin(), held_.end(), seq,
                                      [](JournalSeq s, const Held& held) { return s < held.seq; });
  held_.insert(place, Held{seq, std::move(action)});
}

void Outbox::OpenJournal(std::int32_t am_attempt, JournalSeq next, bool empty) {
  TF_CHECK(next.value > 0);
  am_attempt_ = am_attempt;
  first_ = empty;
  last_ = JournalSeq(next.value - 1);
  durable_ = last_;
}

JournalSeq Outbox::Append(const JournalEntry& entry) {
  TF_CHECK(am_attempt_ > 0);
  last_ = last_.next();
  gathered_ +=
      EncodeJournalFrame({.am_attempt = am_attempt_, .heard = durable_}, last_, entry, first_);
  first_ = false;
  return last_;
}

void Outbox::Flush() {
  if (!in_flight_ && !gathered_.empty()) {
    in_flight_ = AppendJournal{.seq = last_, .bytes = std::move(gathered_)};
    gathered_.clear();
    send_now_ = true;
  }
  if (send_now_) Emit(*in_flight_);
  send_now_ = false;
}

bool Outbox::OnAppended(JournalSeq seq) {
  if (!in_flight_ || seq != in_flight_->seq) {
    if (!IsDurable(seq))
      Note(fmt::format("journal: an answer for entry {} that was not sent", seq.value));
    return false;
  }
  durable_ = seq;
  in_flight_.reset();
  send_now_ = false;
  backoff_ = Duration::zero();
  retry_at_ = kNever;
  while (!held_.empty() && held_.front().seq <= durable_) {
    actions_->push_back(std::move(held_.front().action));
    held_.pop_front();
  }
  return true;
}

void Outbox::OnFailed(Instant now, JournalSeq seq, const std::string& why) {
  if (!in_flight_ || seq != in_flight_->seq) return;
  TF_PROBE("outbox/not-stored");
  backoff_ = std::clamp(backoff_ * 2, kFirstRetry, kLongestRetry);
  retry_at_ = now + backoff_;
  Note(fmt::format("journal: entry {} was not stored ({}); again in {}s", seq.value, why,
                   std::chrono::duration_cast<std::chrono::seconds>(backoff_).count()));
}

void Outbox::OnRetry() {
  retry_at_ = kNever;
  send_now_ = in_flight_.has_value();
}

}  // namespace tfyarn::journal
