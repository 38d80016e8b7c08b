// Taking containers back: by order, and for the scheduler.
//
// Source: FiCaSchedulerApp.java (preemption messages), RMContainerImpl.java.
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_applications.h"

namespace tfyarn::fakes {

void RmApplications::Preempt(const PreemptContainer& order) {
  BookedContainer* container = records_.Find(order.container);
  if (container == nullptr) {
    TF_PROBE("yarn/preempts-what-is-over");
    out_.Note("preemption of a container that is over: " + ToString(order.container));
    return;
  }
  if (order.notice > Duration::zero()) {
    NoticePreemption(*container, order.notice, false);
  } else {
    PreemptNow({.container = order.container});
  }
}

void RmApplications::GiveNotice(BookedContainer& container) {
  NoticePreemption(container, records_.options.preemption_notice, true);
}

void RmApplications::NoticePreemption(BookedContainer& container, Duration notice,
                                      bool by_scheduler) {
  if (!records_.preempting
           .emplace(container.sequence,
                    Preempted{.container = container.id, .by_scheduler = by_scheduler})
           .second) {
    TF_PROBE("yarn/noticed-twice");
    return;
  }
  timers_.Set(records_.now + notice, RmTimers::Kind::kPreemptKill,
              static_cast<std::int64_t>(container.sequence));
  if (container.am) return;
  RmApplication& application = *records_.Find(container.id.application_attempt.application);
  (by_scheduler ? application.preempt_contract : application.preempt_strict)
      .push_back(container.id);
  if (application.attempt.registered) out_.NewsFor(application);
}

void RmApplications::OnNoticeOver(std::uint64_t sequence) {
  const auto chosen = records_.preempting.find(sequence);
  if (chosen == records_.preempting.end()) return;
  const Preempted container = chosen->second;
  records_.preempting.erase(chosen);
  TF_PROBE("yarn/preempted-after-its-notice");
  PreemptNow(container);
}

void RmApplications::PreemptNow(const Preempted& chosen) {
  BookedContainer* container = records_.Find(chosen.container);
  if (container == nullptr) {
    TF_PROBE("yarn/ended-within-its-notice");
    return;
  }
  if (chosen.by_scheduler &&
      !scheduler_->IsStarved(records_.nodes.At(container->node).partition_number)) {
    TF_PROBE("yarn/preemption-not-needed-any-more");
    return;
  }
  Complete(*records_.Find(chosen.container.application_attempt.application), *container,
           {.exit_status = -102, .diagnostics = "Container preempted by scheduler"});
}

}  // namespace tfyarn::fakes
