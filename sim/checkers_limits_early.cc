// limits-kept, the other side: nothing is decided on a limit before it is over.
#include <algorithm>

#include "core/model/exit.h"
#include "core/model/text.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

/// What is to be asked for waits for the AM's next heartbeat.
constexpr Duration kAskWaits = 1s;
/// An AM waits so long for the answer to a call before it sends the next.
constexpr Duration kCallTakes = 21s;
/// An AM that has stood still reads for so long what came meanwhile before it decides on a limit.
constexpr Duration kReadsItsMail = 1s;

}  // namespace

// The RM takes back what was never launched: the AM did not release it, its node is well, and so is
// its AM.
void Checkers::Books::CheckExpiredEarly(const JobBook& job, const ContainerId& id,
                                        const ContainerBook& container, std::int32_t exit_status) {
  if (container.am || container.limits.known_to_nm || container.limits.given_back) return;
  if (lossy_) return;  // A node may be taken for lost without any fault.
  if (exit_status != container_exit::kAborted || !nodes_[container.node].up) return;
  if (!faults_under_way_.empty() || last_fault_change_ || job.kill_wanted || job.ended) return;
  for (const ApplicationBook& application : job.applications) {
    if (application.id != id.application_attempt.application) continue;
    if (application.verdict || application.ended || !application.limits.am_runs) return;
  }
  if (!Checks(Invariant::kLimitsKept) || now_ - container.granted >= times_.container_expiry)
    return;
  Report(Invariant::kLimitsKept, NameOf(job) + ": the RM takes " + ToString(id) + " back after " +
                                     ToString(now_ - container.granted) + ", before " +
                                     Over("yarn.expiry.container", times_.container_expiry) +
                                     " is over");
}

// An agent is told to end its process: the earliest of what it was told counts.
void Checkers::Books::ToldToEnd(ContainerBook& container, Duration grace) {
  std::optional<Instant>& due = container.limits.kill_due;
  due = std::min(due.value_or(now_ + grace), now_ + grace);
}

// Nothing is killed before the time that it has to end is over. One that stands still has less.
void Checkers::Books::CheckKill(const JobBook& job, const ContainerId& id,
                                ContainerBook& container) {
  container.limits.killed = true;
  if (!Checks(Invariant::kLimitsKept) || container.limits.stands_still) return;
  std::optional<Instant> due;
  if (container.limits.term_at) due = *container.limits.term_at + job.spec->deadlines.stop;
  if (due && container.limits.kill_due) due = std::min(*due, *container.limits.kill_due);
  if (due && now_ >= *due) return;
  Report(Invariant::kLimitsKept,
         NameOf(job) + ": the process in " + ToString(id) + " is killed " +
             (due ? ToString(*due - now_) + " before its time to end is over"
                  : std::string("without SIGTERM before")));
}

void Checkers::Books::LimitsToldAgent(const JobBook& job, const ContainerId& id,
                                      ContainerBook& container, const AgentEvent& event) {
  if (job.spec == nullptr) return;
  const Duration stop = job.spec->deadlines.stop;
  if (const auto* said = std::get_if<AmSaid>(&event)) {
    // What a newer attempt says before the agent has found it does not count for it.
    if (said->am_attempt == container.limits.am_attempt) {
      if (now_ - container.limits.am_heard >= job.spec->deadlines.orphan)
        container.limits.orphaned = true;
      container.limits.am_heard = now_;
    }
    if (std::holds_alternative<WarnProcess>(said->message)) container.limits.warned_at = now_;
    if (const auto* order = std::get_if<StopProcess>(&said->message))
      ToldToEnd(container, order->grace);
    if (const auto* order = std::get_if<EndAgent>(&said->message))
      ToldToEnd(container, order->grace);
    if (std::holds_alternative<AgentRefused>(said->message) ||
        std::holds_alternative<StartProcess>(said->message))
      ToldToEnd(container, stop);
  } else if (std::holds_alternative<TerminationRequested>(event)) {
    ToldToEnd(container, stop);
  } else if (const auto* started = std::get_if<AgentStarted>(&event)) {
    container.limits.am_heard = now_;
    container.limits.am_attempt = started->am_attempt;
  } else if (const auto* found = std::get_if<AmAddressRead>(&event)) {
    container.limits.am_attempt = std::max(container.limits.am_attempt, found->am_attempt);
  } else if (std::holds_alternative<ProgressSeen>(event)) {
    container.limits.progress_at = now_;
    container.limits.stall_said = false;
    ExpectsStall(job, id, container);
  } else if (const auto* signs = std::get_if<ProcessSignsSeen>(&event)) {
    container.limits.stands_still =
        container.limits.stands_still || signs->standstill != Standstill::kNone;
  }
}

void Checkers::Books::LimitsOrderedByAgent(const JobBook& job, const ContainerId& id,
                                           ContainerBook& container, const AgentAction& action) {
  if (job.spec == nullptr) return;
  const JobSpec& spec = *job.spec;
  if (const auto* signal = std::get_if<SignalProcess>(&action)) {
    if (signal->signal == StopSignal::kTerm) Terminates(job, id, container);
    if (signal->signal == StopSignal::kKill) CheckKill(job, id, container);
  } else if (const auto* send = std::get_if<SendToAm>(&action)) {
    const auto* stalled = std::get_if<ProgressStalled>(&send->message);
    if (stalled == nullptr || !spec.watch || stalled->number <= container.limits.stall_told) return;
    container.limits.stall_told = stalled->number;
    container.limits.stall_said = true;
    if (!Checks(Invariant::kLimitsKept)) return;
    if (now_ - container.limits.progress_at >= spec.watch->stalled) return;
    Report(Invariant::kLimitsKept,
           NameOf(job) + ": the agent in " + ToString(id) + " tells of no progress " +
               ToString(now_ - container.limits.progress_at) + " after the last, before " +
               Over("watch.stalled", spec.watch->stalled) + " is over");
  } else if (const auto* exit = std::get_if<ExitAgent>(&action)) {
    if (exit->code != agent_exit::kAmLost || !Checks(Invariant::kLimitsKept)) return;
    if (container.limits.orphaned || now_ - container.limits.am_heard >= spec.deadlines.orphan)
      return;
    Report(Invariant::kLimitsKept,
           NameOf(job) + ": the agent in " + ToString(id) + " gives its AM up " +
               ToString(now_ - container.limits.am_heard) + " after its last word, before " +
               Over("deadlines.orphan", spec.deadlines.orphan) + " is over");
  }
}

// A process is told to end within deadlines.stop, or, in a collective that is broken, within
// deadlines.stop_broken.
void Checkers::Books::CheckGrace(const JobBook& job, const SendToAgent& send) {
  if (job.spec == nullptr) return;
  const auto* stop = std::get_if<StopProcess>(&send.message);
  const auto* end = std::get_if<EndAgent>(&send.message);
  if ((stop == nullptr && end == nullptr) || !Checks(Invariant::kLimitsKept)) return;
  const DeadlineSpec& deadlines = job.spec->deadlines;
  const Duration grace = stop != nullptr ? stop->grace : end->grace;
  if (grace == deadlines.stop) return;
  const Duration broken = std::min(deadlines.stop, deadlines.stop_broken);
  if (stop != nullptr && grace == broken && job.spec->strategy == Strategy::kMultiWorker) return;
  Report(Invariant::kLimitsKept, NameOf(job) + ": the process in " + ToString(send.container) +
                                     " has " + ToString(grace) + " to end, not " +
                                     Over("deadlines.stop", deadlines.stop));
}

// registration: an agent that was not heard of is given up when its time is over.
void Checkers::Books::CheckGivenUp(const JobBook& job, const TaskAttemptEnded& ended) {
  if (job.spec == nullptr || ended.exit_class != ExitClass::kTimeout) return;
  const ContainerBook* container = ContainerOf(ended.container);
  if (container == nullptr || container->limits.registered || !container->limits.launch_ordered)
    return;
  const Duration waited = now_ - *container->limits.launch_ordered;
  if (!Checks(Invariant::kLimitsKept)) return;
  if (waited >= job.spec->deadlines.registration)
    return CheckMailRead(job, ended, *container->limits.launch_ordered);
  Report(Invariant::kLimitsKept,
         NameOf(job) + ": the agent in " + ToString(ended.container) + " is given up after " +
             ToString(waited) + ", before " +
             Over("deadlines.registration", job.spec->deadlines.registration) + " is over");
}

// Nor does an AM that was stopped give up an agent whose time was over meanwhile, before it has
// read the messages that waited.
void Checkers::Books::CheckMailRead(const JobBook& job, const TaskAttemptEnded& ended,
                                    Instant launched) {
  const auto sleep = am_sleeps_.find("am of " + job.name);
  if (sleep == am_sleeps_.end() || !sleep->second.woke || job.applications.empty()) return;
  const HeartbeatSpec& heartbeat = job.spec->heartbeat;
  const Instant woke = *sleep->second.woke;
  const Instant over = launched + job.spec->deadlines.registration;
  // One that wakes a little late has not slept.
  const bool slept = over >= sleep->second.began &&
                     woke - over >= heartbeat.every * heartbeat.missed / 10 &&
                     job.applications.back().limits.am_started <= sleep->second.began;
  if (!slept || now_ - woke >= kReadsItsMail) return;
  Report(Invariant::kLimitsKept,
         NameOf(job) + ": the agent in " + ToString(ended.container) + " is given up " +
             ToString(now_ - woke) + " after the AM has gone on, which stood still when " +
             Over("deadlines.registration", job.spec->deadlines.registration) + " was over");
}

// Verdicts that a deadline leads to.
void Checkers::Books::CheckDeadlineVerdict(const JobBook& job, const ApplicationBook& application,
                                           const VerdictReached& verdict) {
  if (job.spec == nullptr || application.clocks_differ) return;
  const ApplicationLimits& limits = application.limits;
  const DeadlineSpec& deadlines = job.spec->deadlines;
  std::optional<Instant> from;
  Duration limit{};
  if (verdict.rule == "deadlines/run" && deadlines.run) {
    from = limits.each_ran;
    limit = *deadlines.run;
  } else if (verdict.rule == "deadlines/start") {
    from = limits.first_granted.value_or(now_);
    limit = deadlines.start;
  } else if (verdict.rule == "gang/deadline") {
    from = limits.ever_asked.value_or(now_);
    // An AM that stands still asks when it goes on.
    const auto sleep = am_sleeps_.find("am of " + job.name);
    if (sleep != am_sleeps_.end() && sleep->second.woke && *sleep->second.woke <= *from &&
        *from - *sleep->second.woke <= kAskWaits)
      from = std::min(*from, sleep->second.began);
    // It asks when the call before is answered, or is given up.
    const bool disturbed = lossy_ || last_fault_change_;
    limit = std::max(job.spec->gang.deadline - (disturbed ? kCallTakes : kAskWaits), Duration{});
  }
  if (!from || !Checks(Invariant::kLimitsKept) || now_ - *from >= limit) return;
  Report(Invariant::kLimitsKept, NameOf(job) + ": it fails by " + verdict.rule + " after " +
                                     ToString(now_ - *from) + ", before " +
                                     Over("that limit", limit) + " is over");
}

// The client gives up an ApplicationMaster that does not come, when the RM says there is none:
// one may run while the RM is away.
void Checkers::Books::CheckClientGivesUp(const JobBook& job) {
  if (job.spec == nullptr || job.kill_asked || job.applications.empty()) return;
  const ApplicationLimits& limits = job.applications.back().limits;
  const Instant since = limits.without_am.value_or(now_);
  const std::optional<Duration>& limit = job.spec->deadlines.am_start;
  if (!Checks(Invariant::kLimitsKept) || !limit) return;
  const bool early = now_ - since < *limit;
  // What it had answered before may still be on its way.
  const bool away = std::any_of(rm_away_.begin(), rm_away_.end(),
                                [&](const auto& fault) { return fault.second <= since + *limit; });
  if (!early && !(limits.submitted && away)) return;
  Report(Invariant::kLimitsKept,
         NameOf(job) + ": its client gives up " +
             (early ? "after " + ToString(now_ - since) + ", before " +
                          Over("deadlines.am_start", *limit) + " is over"
                    : "while the ResourceManager is away, which may have an ApplicationMaster"));
}

}  // namespace tfyarn::sim
