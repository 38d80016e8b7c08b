// Applications from submission to end: their attempts, the AM's container, all other containers.
//
// The scheduler's orders are carried out here, and it is told here of what happens to attempts,
// asks and containers. What callers are answered is in the services (rm_clients.h, rm_masters.h,
// rm_trackers.h), which use this; this uses none of them.
//
// Source: RMAppManager.java, RMAppImpl.java, RMAppAttemptImpl.java, RMContainerImpl.java,
// AMLauncher.java, AMLivelinessMonitor.java, ContainerAllocationExpirer.java.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_outbox.h"
#include "fakes/yarn-rm/rm_records.h"
#include "fakes/yarn-rm/rm_state_store.h"
#include "fakes/yarn-rm/rm_timers.h"
#include "fakes/yarn-rm/scheduler.h"

namespace tfyarn::fakes {

class RmApplications final : private RmContext {
 public:
  /// Why a container is completed, in the words of SchedulerUtils.java and RMContainerImpl.java.
  struct Ending {
    std::int32_t exit_status = 0;
    std::string diagnostics;
    bool tell_node = true;  ///< The NM must kill it.
    bool report = true;     ///< The AM hears of it.
  };

  /// All outlive this. `seed`: of the scheduler's draws.
  RmApplications(RmRecords& records, RmOutbox& out, RmTimers& timers, std::uint64_t seed);

  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return *scheduler_; }

  // ------------------------------------------------------------ rm_attempts.cc
  void Submit(std::shared_ptr<const yarn::SubmitApplicationRequest> submission, std::int32_t leaf);
  /// One that an earlier RM knew.
  void Recover(const StoredApplication& stored);
  /// One that was over when it was submitted, or is now.
  void RememberEnded(yarn::ApplicationReport report);
  /// The AM has unregistered.
  void StoreFinal(RmApplication& application, yarn::FinalApplicationStatus final_status);
  /// The application is over; `application` is gone afterwards.
  void End(RmApplication& application, yarn::YarnApplicationState state,
           yarn::FinalApplicationStatus final_status, std::string diagnostics);
  /// Of attempts that ended in this event.
  void StartNextAttempts();
  /// Ends all asks of the attempt, with what is pending for them.
  void DropAsks(RmApplication& application);

  void OnLaunchAnswer(const NmAnswered& answer);
  void OnLaunchRetry(const ApplicationId& id, Instant at);
  void OnAmExited(RmApplication& application, const yarn::ContainerStatus& status);
  /// The AM counts as lost when nothing is heard of it for long.
  void Watch(RmApplication& application);
  void OnVouched(const AmVouched& vouched);
  void OnWatchOver(const ApplicationId& id, Instant at);

  // ------------------------------------------------------------ rm_containers.cc
  BookedContainer& Book(RmApplication& application, BookedContainer container, RmNode& node);
  /// The scheduler has the resource back; `container` is gone afterwards.
  void Complete(RmApplication& application, BookedContainer& container, const Ending& ending);
  /// The AM has it from now on, and loses it when it does not start soon.
  void Deliver(BookedContainer& container);
  void MarkRunning(BookedContainer& container);
  void CleanUpOnNode(RmNode& node, const ContainerId& container);
  [[nodiscard]] yarn::Token TokenOf(const BookedContainer& container);
  void ExpireContainers();
  /// When the next may expire; kNever: none.
  [[nodiscard]] Instant next_expiry() const {
    return unstarted_.empty() ? kNever : unstarted_.front().first;
  }

  // ------------------------------------------------------------ rm_preemption.cc
  void Preempt(const PreemptContainer& order);
  /// Of the container of that sequence.
  void OnNoticeOver(std::uint64_t sequence);

 private:
  // ------------------------------------------------------------ orders of the scheduler
  void Grant(RmApplication& application, AskEntry& ask, RmNode& node, Locality locality,
             const Resource& resource) override;
  void SayNews(RmNode& node) override { out_.SayNews(node); }
  void ReportChanged(const ApplicationId& application) override { out_.ReportChanged(application); }
  void GiveNotice(BookedContainer& container) override;
  void WakeScheduler(Instant at) override { timers_.Set(at, RmTimers::Kind::kScheduler); }

  RmApplication& Add(std::shared_ptr<const yarn::SubmitApplicationRequest> submission,
                     std::int32_t leaf);
  void StartAttempt(RmApplication& application);
  void AskForAm(RmApplication& application);
  void LaunchAm(RmApplication& application);
  void CallAmLaunch(RmApplication& application);
  void TakeLaunchAnswer(RmApplication& application, const NmAnswered& answer);
  void Unwatch(RmApplication& application);
  void OnAmExpired(RmApplication& application);
  void FailAttempt(RmApplication& application, std::int32_t exit_status,
                   const std::string& diagnostics);
  /// Takes the attempt out of the scheduler; running containers stay when `keep`.
  void StopAttempt(RmApplication& application, bool keep);
  void AskAgainFor(RmApplication& application, const ContainerId& id);
  void NoticePreemption(BookedContainer& container, Duration notice, bool by_scheduler);
  void PreemptNow(const Preempted& chosen);

  RmOutbox& out_;
  RmTimers& timers_;
  std::unique_ptr<Scheduler> scheduler_;
  std::uint64_t next_sequence_ = 1;  // of applications
  std::uint64_t next_grant_ = 1;
  std::uint64_t next_call_ = 1;
  std::map<std::uint64_t, ApplicationId> launches_;        // RmCallNm awaited
  std::vector<ApplicationId> next_attempts_;               // to be started when the event is over
  std::deque<std::pair<Instant, ContainerId>> unstarted_;  // delivered containers, by expiry
};

}  // namespace tfyarn::fakes
