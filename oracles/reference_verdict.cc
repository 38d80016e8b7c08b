#include "oracles/reference_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/model/text.h"
#include "oracles/verdict_model.h"

namespace tfyarn::oracles {
namespace {

std::vector<std::string> Names(const std::set<TaskId>& tasks) {
  std::vector<std::string> names;
  for (const TaskId& task : tasks) names.push_back(ToString(task));
  return names;
}

/// Whether a restart counts for what is decided then or later.
bool MayCount(const Job& job, const Payment& payment, Instant decided) {
  return decided - payment.latest <=
         job.spec->retries.window + DecisionBound(*job.spec) + kClocksDiffer;
}

/// Whether it was spent when something was heard that may still be asked about.
bool IsNeeded(const Job& job, const Payment& payment) {
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    const std::vector<Account>& accounts = entry.second.accounts;
    return std::any_of(accounts.begin(), accounts.end(), [&](const Account& account) {
      return account.told != 0 && !account.spent &&
             payment.earliest <= account.told_at + DecisionBound(*job.spec) &&
             MayCount(job, payment, account.told_at);
    });
  });
}

/// An end of its that is still to be decided on was heard by then.
bool EndedBefore(const Task& task, Moment decided) {
  return std::any_of(task.accounts.begin(), task.accounts.end(), [&](const Account& account) {
    return account.first_told != 0 && account.first_told < decided && !account.spent;
  });
}

/// A process that is found to hang later than this after its start ran well for longer than the
/// window.
Duration HangsSoon(const JobSpec& spec) {
  return spec.retries.window + (spec.watch ? spec.watch->stalled : Duration{});
}

/// The rows `failed` of TonY's and tf-yarn's second tables.
constexpr std::string_view kSessionFails[] = {
    "untracked-failed", "worker-failure",     "all-failed",   "raised",
    "nothing-left",     "success-impossible", "tracked-ended"};

}  // namespace

void ReferenceVerdict::Model::Observe(const trace::TraceRecord& record) {
  if (record.at >= next_due_) {
    now_ = record.at;
    Overdue();
  }
  RunFacts::Observe(record);
  const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
  Job* job = ordered == nullptr ? nullptr : JobOf(ordered->job);
  if (job == nullptr) return;
  if (!IsOfLatestAm(*job, *ordered)) {
    // What one that is replaced meanwhile tells is stored: its successor reads it.
    const auto* decision = std::get_if<RestartDecided>(&ordered->action);
    if (decision != nullptr && ordered->resubmission == job->resubmission)
      Apply(*job, *decision, std::min(job->unannounced_from, job->window_at));
    return;
  }
  if (const auto* assembled = std::get_if<SpecAssembled>(&ordered->action)) {
    Judge(*job, *assembled);
  } else if (const auto* decision = std::get_if<RestartDecided>(&ordered->action)) {
    Judge(*job, *decision);
  } else if (const auto* over = std::get_if<RestartTakenOver>(&ordered->action)) {
    // The AM before it decided; what that one had heard is not known any more.
    if (job->restarts_told < over->number)
      Apply(*job, over->decided, std::min(job->unannounced_from, job->window_at));
  } else if (const auto* verdict = std::get_if<VerdictReached>(&ordered->action)) {
    Judge(*job, *verdict);
  } else if (const auto* send = std::get_if<SendToAgent>(&ordered->action)) {
    Judge(*job, *send);
  } else if (const auto* call = std::get_if<CallNm>(&ordered->action)) {
    Judge(*job, *call);
  }
}

// ---------------------------------------------------------------- units and epochs

/// Whether the task starts again in another container.
Tri ReferenceVerdict::Model::LosesContainer(const Job& job, const Task& task, const Option& option,
                                            ExitClass cls) const {
  if (option.action == kRaiseMemory || option.elsewhere) return Tri::kYes;
  return Lost(job, task, cls);
}

/// What is wrong with the tasks that start again; empty when nothing is.
std::string ReferenceVerdict::Model::WrongUnit(const Job& job, const Task& task,
                                               const Option& option, ExitClass cls,
                                               const RestartDecided& decision) const {
  const JobSpec& spec = *job.spec;
  const std::set<TaskId> tasks(decision.tasks.begin(), decision.tasks.end());
  const ExitAction action = option.session ? kRestartGang : option.action;
  const Tri lost = LosesContainer(job, task, option, cls);
  std::vector<std::set<TaskId>> units;  // Any of them, whole.
  std::set<TaskId> gang, with_chief = {task.id};
  for (const auto& [id, other] : job.tasks) {
    if (other.in_gang) gang.insert(id);
    if (other.in_gang && other.chief) with_chief.insert(id);
  }
  const bool alone = !task.in_gang;
  if (option.session ||
      (action == kRestartGang && (alone || spec.strategy != Strategy::kMultiWorker)))
    units.push_back(gang);
  if (alone || spec.strategy == Strategy::kIndependent) {
    if (!option.session || task.ran_in != task.container) units.push_back({task.id});
  } else if (spec.strategy == Strategy::kMultiWorker) {
    // Two that start again do so in a new epoch, which a collective begins whole.
    const bool whole = action == kRestartGang || action == kRestartType || tasks.size() > 1;
    if (whole || lost != Tri::kNo || option.name == "watch") units.push_back(gang);
    if (!whole && lost != Tri::kYes) units.push_back({task.id});
  } else if (!option.session) {
    if (task.id.type == "ps" || lost != Tri::kNo) units.push_back(with_chief);
    if (task.id.type != "ps" && lost != Tri::kYes) units.push_back({task.id});
  }
  // A stall of another one may be decided on with it.
  const bool stalls = spec.watch && spec.watch->action == kRestartGang &&
                      std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
                        return entry.second.stalled != 0 && entry.first != task.id;
                      });
  if (stalls) units.push_back(gang);
  const std::set<TaskId> companions = Companions(job, task.id);
  if (action == kRestartType) AddWithType(job, task, units);
  for (const std::set<TaskId>& unit : units) {
    // What has not begun since its last restart need not begin again.
    const bool whole = std::all_of(unit.begin(), unit.end(), [&](const TaskId& id) {
      const Task& one = job.tasks.at(id);
      return tasks.count(id) > 0 || !one.spawned || one.IsSettled();
    });
    if (!whole || tasks.count(task.id) == 0) continue;
    // Others may join that have ended too, and what is no part of the gang may go with it.
    const bool fits = std::all_of(tasks.begin(), tasks.end(), [&](const TaskId& id) {
      const auto other = job.tasks.find(id);
      return unit.count(id) > 0 || companions.count(id) > 0 ||
             (other != job.tasks.end() && unit == gang && !other->second.in_gang);
    });
    if (fits) return {};
  }
  return fmt::format("starts {} again by {}, whose restart unit is {}",
                     fmt::join(Names(tasks), " "), option.name,
                     units.empty() ? "none" : fmt::format("{}", fmt::join(Names(units[0]), " ")));
}

std::string ReferenceVerdict::Model::WrongEpoch(const Job& job, const Task& task,
                                                const Option& option, ExitClass cls,
                                                const RestartDecided& decision) const {
  if (job.epoch_unsure) return decision.epoch < job.epoch ? "begins an earlier epoch" : "";
  const Tri lost = LosesContainer(job, task, option, cls);
  // Not yet begun: joined, or another one. Of tasks that need nothing of each other each begins it
  // by itself.
  const bool rests = job.spec->strategy == Strategy::kIndependent &&
                     std::any_of(job.tasks.begin(), job.tasks.end(), [](const auto& entry) {
                       return entry.second.IsSettled() || !entry.second.spawned;
                     });
  const bool to_begin = job.assembled < job.epoch || rests;
  const bool stays = to_begin || (decision.tasks.size() == 1 && lost != Tri::kYes) ||
                     std::none_of(decision.tasks.begin(), decision.tasks.end(),
                                  [&](const TaskId& id) { return job.tasks.at(id).in_gang; });
  // A gang of one starts again as gangs do.
  const bool rises = to_begin || decision.tasks.size() > 1 || lost != Tri::kNo ||
                     option.action == kRestartGang || option.session ||
                     (job.spec->strategy == Strategy::kMultiWorker && task.in_gang);
  if (decision.epoch == job.epoch && stays) return {};
  if (decision.epoch == job.epoch.next() && rises) return {};
  return fmt::format(
      "is to run in epoch {} after epoch {}: it rises when more than one process "
      "starts again or an address changes, and only then",
      decision.epoch.value, job.epoch.value);
}

// ---------------------------------------------------------------- whose failure it is

/// Of a collective: what surely broke it before `cause` did, or could not be a victim where `cause`
/// could; empty when there is no such thing.
std::string ReferenceVerdict::Model::WrongCause(const Job& job, const Task& task,
                                                const Option& option, const Cause& cause) const {
  if (job.spec->strategy != Strategy::kMultiWorker || !task.in_gang) return {};
  // What fails the job does so at once, and TonY takes the first report.
  if (!IsRestart(option.action) || (Of(cause.exit_class) & kFailure) == 0 ||
      job.policy == Policy::kTony)
    return {};
  if ((Of(cause.exit_class) & kOwnFate) != 0) return {};
  const bool crash = cause.exit_class == kSignalCrash;
  const Account* own = nullptr;
  for (const Account& account : task.accounts) {
    if (!account.spent && account.told != 0 && (account.classes & Of(cause.exit_class)) != 0 &&
        (own == nullptr || account.happened < own->happened))
      own = &account;
  }
  // The window, and the only task that still ran at its end or had to be killed.
  Instant first = now_;
  std::vector<const Task*> run, killed;
  // The AM takes what it has just ordered to start for one that runs. What it heard between its
  // decision's earliest moment and its latest it may have known, and may not.
  bool unsure = false;
  for (const auto& [id, other] : job.tasks) {
    if (!other.in_gang) continue;
    bool heard = false, killed_by_others = false;
    for (const Account& account : other.accounts) {
      // Or it had read in the journal what it hears again, or what the AM before decided on.
      const bool heard_late = account.told > job.stored && !account.stored_perhaps;
      if (account.spent || account.told == 0 || heard_late) continue;
      unsure |= account.told >= window_;
      heard = true;
      // What it has read in the journal it knows since it took over.
      const bool read = account.stored_perhaps && job.am_attempt > 1;
      first = std::min({first, account.told_at, read ? job.taken_over_at : account.told_at});
      // While it was to end: who sent SIGKILL the AM is not told.
      killed_by_others |= account.killed_on_order;
    }
    if (SeemsToRun(other) && other.spawned_at < window_ && !heard) run.push_back(&other);
    unsure |= other.MayNeverStart() && !heard;
    // What was stopped for an earlier restart has no part in this one.
    if ((other.killed && !other.IsSettled()) || killed_by_others) killed.push_back(&other);
  }
  // A task whose agent tells of no end in time has ended: its container is given back, or is to be,
  // once its node is told. The AM does not learn whether it had to be killed.
  const auto is_given_up = [&](const Task* other) {
    const Instant until = other->stop.at + job.spec->deadlines.stop + kGivenUpAfter;
    const bool overdue = other->stop_ordered != 0 && job.window_at >= until &&
                         (faults_ || until < first + job.spec->deadlines.blame);
    return overdue || (other->container && job.released.count(*other->container) > 0);
  };
  const bool given_up = std::erase_if(run, is_given_up) > 0;
  const bool over = HangIsShown(job) || now_ - first >= job.spec->deadlines.blame;
  if (!run.empty() && !over) return "peers still run, and deadlines.blame is not over";
  const auto told_to_end = [&](const Task& other) {
    // For an earlier restart it is to start again anyway.
    return !other.warned && other.stop_ordered != 0 && other.stop.at < job.window_at &&
           !other.IsSettled();
  };
  // Where a row lets the one be that hangs, those that failed remain the cause.
  if (run.size() == 1 && !unsure && run[0] != &task && told_to_end(*run[0]) &&
      AnswersHang(job, *run[0]))
    return ToString(run[0]->id) + " alone still ran";
  if (run.empty() && killed.size() == 1 && !unsure && killed[0] != &task && !given_up &&
      job.spec->deadlines.stop >= kVictimsEnd && AnswersHang(job, *killed[0]))
    return ToString(killed[0]->id) + " alone had to be killed";
  for (const auto& [id, other] : job.tasks) {
    if (id == task.id || !other.in_gang) continue;
    if (other.stands_still != 0 && other.stands_still < window_ && AnswersHang(job, other))
      return fmt::format("{} stood still, as its agent had told", ToString(id));
    const Account* best = BestOf(job, other);
    if (best == nullptr || (best->classes & ~kFailure) != 0) continue;
    // It costs and causes nothing that its container ends while it is to start again anyway.
    const bool ordered = other.IsOrderedAgain();
    if (!best->attempt && other.IsSettled() && !ordered) continue;
    // Nor does one break its peers that was never told to start.
    if (!best->attempt && !other.spawned && !other.ordered) continue;
    if (!MustAct(job, other, *best)) continue;  // A row lets it be.
    if ((best->classes & ~kOwnFate) == 0)
      return fmt::format("{} had ended with {}, as no peer can make it end", ToString(id),
                         best->exit);
    const bool other_crash = best->classes == Of(kSignalCrash);
    if (other_crash && !crash) return fmt::format("{} had crashed", ToString(id));
    const auto latest = [](const Account& a) { return a.stored ? a.first_told : a.told; };
    const auto earliest = [](const Account& a) { return a.stored_perhaps ? a.first_told : a.told; };
    if (other_crash == crash && own != nullptr && best->happened < own->happened &&
        latest(*best) < earliest(*own))
      return fmt::format("{} had failed before it", ToString(id));
  }
  return {};
}

// ---------------------------------------------------------------- judgement

/// The session would fail as soon as it begins again: what ended well and does not train is no part
/// of it.
bool ReferenceVerdict::Model::MayBeTriedInVain(const Job& job) const {
  Job again = job;
  for (auto& [id, task] : again.tasks) {
    const State state = StateOf(job, job.tasks.at(id));
    if (!task.in_gang && !state.must_fail && !state.ignored) continue;
    task = {.id = id,
            .role = task.role,
            .chief = task.chief,
            .in_gang = task.in_gang,
            .begins = task.begins};
  }
  return std::any_of(std::begin(kSessionFails), std::end(kSessionFails),
                     [&](std::string_view row) { return HoldsVerdict(again, row); });
}

/// A verdict `failed` of TonY's or tf-yarn's second table, in place of which the session starts
/// again.
bool ReferenceVerdict::Model::TriesSessionAgain(const Job& job,
                                                const RestartDecided& decision) const {
  if (job.policy != Policy::kTony && job.policy != Policy::kTfYarn) return false;
  const auto holds = [&](std::string_view row) { return HoldsVerdict(job, row); };
  const std::optional<std::int64_t> limit = Limit(job, {}, {}, Budget::kUser);
  const std::set<TaskId> tasks(decision.tasks.begin(), decision.tasks.end());
  return decision.paid == Budget::kUser && limit &&
         Spent(job, {}, {}, Budget::kUser, true) < *limit &&
         std::any_of(std::begin(kSessionFails), std::end(kSessionFails), holds) &&
         std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
           return !entry.second.in_gang || tasks.count(entry.first) > 0;
         });
}

/// Its process was ordered before a restart was paid that `cause` brought about, or by an earlier
/// AM.
bool IsOlder(const Job& job, const Task& task, const TaskId& cause) {
  const auto decided = job.causes.find(cause);
  const Moment ordered = task.ordered_at == 0 ? task.spawned_at : task.ordered_at;
  return decided != job.causes.end() && (ordered < decided->second || task.perhaps_ordered);
}

/// Whether the restart may be free of charge, whatever row decides the end of its cause: "" or what
/// is wrong with it all the same; nullopt: a row must allow it.
std::optional<std::string> ReferenceVerdict::Model::WrongThoughFree(
    const Job& job, const RestartDecided& decision) const {
  const Cause& cause = decision.cause;
  const Task& task = job.tasks.at(cause.task);
  // Free of charge: it joins an epoch that is decided and has not begun, or the task could not
  // reach the peer that was the cause of the last one.
  if (decision.paid != Budget::kNone) return std::nullopt;
  const auto launched_since = [&](const TaskId& id) {
    const Task& one = job.tasks.at(id);
    return one.container && !one.registered && one.launch_ordered > *job.epoch_decided;
  };
  if (job.epoch_decided && decision.epoch == job.epoch &&
      std::none_of(decision.tasks.begin(), decision.tasks.end(), launched_since))
    return "";
  const bool sessions = job.policy == Policy::kTony || job.policy == Policy::kTfYarn;
  // Or it falls to a victim, soon after the last decision: of a process that is older, or a launch.
  const auto victim = [&](const TaskId& id) {
    const Task& one = job.tasks.at(id);
    if (one.container && one.ran_in != one.container)
      return one.launch_ordered <= job.last_decided_at;
    const bool in_trouble =
        HasFailed(one) || one.stalled != 0 || one.stood_still || (MayBe(job, one) & kFailure) != 0;
    if (!in_trouble || !IsOlder(job, one, cause.task)) return false;
    // What runs beside a gang is one where the session was to start again when it had ended.
    return one.in_gang || (sessions && EndedBefore(one, job.causes.at(cause.task)));
  };
  if (job.last_decision != 0 &&
      job.window_at - job.last_decided_at <= job.spec->deadlines.blame + kVictimsEnd &&
      std::any_of(decision.tasks.begin(), decision.tasks.end(), victim))
    return "";
  // Which counts from the victim's start: it may have waited long for a container.
  if (job.spec->strategy == Strategy::kParameterServer && task.settled_at != Instant{} &&
      std::any_of(decision.tasks.begin(), decision.tasks.end(), [&](const TaskId& id) {
        const Task& one = job.tasks.at(id);
        return id != task.id && CouldNotReach(job, one) &&
               job.window_at - std::max(task.settled_at, one.ordered_when) <=
                   job.spec->deadlines.start + job.spec->deadlines.blame;
      }))
    return task.was_excused && task.was_excused == task.settled
               ? "is free for " + ToString(task.id) +
                     ", which had started again for such an end itself"
           : !task.settled || task.excused.count(*task.settled) == 0
               ? ""
               : "is free a second time for the same process of " + ToString(task.id);
  // What ends in its container while it is to start again anyway costs nothing.
  const bool itself =
      std::find(decision.tasks.begin(), decision.tasks.end(), task.id) != decision.tasks.end();
  if (itself && task.spawned && task.IsSettled() && task.ran_in == task.container) return "";
  // A container in which no process ran is replaced, also where another program took it in our
  // name.
  if (task.container && task.ran_in != task.container &&
      (cause.exit_class == ExitClass::kKilledByUs || cause.exit_class == ExitClass::kOk))
    return "";
  // Nor does one cost anything that an RM of before had granted.
  if (task.container && task.refused == task.container &&
      cause.exit_class == ExitClass::kLaunchError)
    return "";
  // What ran beside a gang that waits is given back with it.
  if (cause.exit_class == ExitClass::kKilledByUs && !task.in_gang && task.container &&
      job.released.count(*task.container) > 0)
    return "";
  // The AM before had decided it, and this one lacks the container that went with it.
  if (job.hidden > 0 && cause.exit_class == ExitClass::kKilledByUs) return "";
  return std::nullopt;
}

std::string ReferenceVerdict::Model::Wrong(const Job& job, const RestartDecided& decision) const {
  const Cause& cause = decision.cause;
  if (TriesSessionAgain(job, decision)) return {};
  const auto found = job.tasks.find(cause.task);
  if (found == job.tasks.end()) return "has no task of the job as its cause";
  if (decision.tasks.empty()) return "starts nothing again";
  const Task& task = found->second;
  if (job.verdict) return "comes after the verdict";
  if (Succeeded(job) == Tri::kYes) return "comes after success was decided";
  const bool free = decision.paid == Budget::kNone;
  if (const auto wrong = WrongThoughFree(job, decision)) return *wrong;
  if (const auto peer = ExcusedBy(job, task); peer && !free)
    return fmt::format("is paid, although {}, which it could not reach, had started again with it",
                       ToString(*peer));
  const Classes may_be = MayBe(job, task);
  if ((may_be & Of(cause.exit_class)) == 0)
    return fmt::format("calls the end of its cause {}, of which the AM had heard {}",
                       KebabName(cause.exit_class), may_be == 0 ? "nothing" : Text(may_be));
  std::string why = "has no row of docs/policies.md that starts anything again for that end";
  for (const Option& option : Options(job, task, cause.exit_class, cause.exit, Succeeded(job))) {
    if (!option.session && !IsRestart(option.action)) {
      why = fmt::format("falls under {}, which starts nothing again", option.name);
      continue;
    }
    if (std::find(option.payers.begin(), option.payers.end(), decision.paid) ==
        option.payers.end()) {
      why = fmt::format("is paid by {}, which {} does not allow", KebabName(decision.paid),
                        option.name);
      continue;
    }
    const std::optional<std::int64_t> limit = Limit(job, task.id, option, decision.paid);
    const std::int64_t spent = Spent(job, task.id, option, decision.paid, true);
    if (limit && spent >= *limit) {
      why = fmt::format("is paid by {} although {} of {} restarts are spent ({})",
                        KebabName(decision.paid), spent, *limit, option.name);
      continue;
    }
    const bool hangs_again =
        job.policy == Policy::kDefault && cause.exit_class == ExitClass::kTimeout &&
        now_ - task.spawned_when + DecisionBound(*job.spec) <= HangsSoon(*job.spec);
    if (limit && hangs_again && task.hung_in_a_row >= *limit) {
      why = fmt::format("is the {}th in a row for a hang, of {}", task.hung_in_a_row + 1, *limit);
      continue;
    }
    if (option.name == "default/sidecar" && task.free_restarts >= 3) {
      why = "is the fourth of a sidecar (default/sidecar allows 3 of each task)";
      continue;
    }
    why = WrongUnit(job, task, option, cause.exit_class, decision);
    if (why.empty()) why = WrongEpoch(job, task, option, cause.exit_class, decision);
    if (why.empty()) {
      const std::string other = WrongCause(job, task, option, cause);
      if (!other.empty()) why = "has the wrong cause: " + other + " (Whose failure it is)";
    }
    if (why.empty()) return {};
  }
  return why;
}

void ReferenceVerdict::Model::Judge(Job& job, const SpecAssembled& assembled) {
  ++judged;
  // Independent tasks get a spec each, when they can start.
  const bool one_each = job.spec->strategy == Strategy::kIndependent &&
                        assembled.epoch > job.epoch &&
                        std::any_of(job.tasks.begin(), job.tasks.end(), [](const auto& entry) {
                          const Task& task = entry.second;
                          return task.container && (!task.runs || task.ran_in != task.container);
                        });
  if (assembled.epoch != job.epoch && !job.epoch_unsure && !one_each) {
    Report(job, fmt::format("a cluster spec of epoch {} is made, but by the restarts decided it is "
                            "epoch {} (Restart units)",
                            assembled.epoch.value, job.epoch.value));
  }
  job.epoch = job.assembled = assembled.epoch;
  job.epoch_decided.reset();
  job.epoch_unsure = false;
}

void ReferenceVerdict::Model::Judge(Job& job, const CallNm& call) {
  const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
  if (start == nullptr) return;
  for (const yarn::StartContainerRequest& one : start->containers) {
    const auto task = job.by_container.find(one.container);
    if (task == job.by_container.end() || !std::exchange(task->second->free_again, false)) continue;
    ++judged;
    Report(job, fmt::format("{} is launched in {} free of charge, and {} containers in a row were "
                            "refused before (A task that never comes to run)",
                            ToString(task->second->id), ToString(one.container),
                            task->second->refused_in_a_row));
  }
}

void ReferenceVerdict::Model::Judge(Job& job, const RestartDecided& decision) {
  ++judged;
  window_ = job.window;
  const std::string wrong = Wrong(job, decision);
  if (!wrong.empty()) {
    Report(job,
           fmt::format("the restart for {} (attempt {}, {}{}) {}", ToString(decision.cause.task),
                       job.tasks.count(decision.cause.task) > 0
                           ? job.tasks.at(decision.cause.task).attempt.value
                           : 0,
                       KebabName(decision.cause.exit_class),
                       decision.cause.exit ? fmt::format(" {}", *decision.cause.exit) : "", wrong));
  }
  // The job ran before it, and a restart does not begin `deadlines.run` anew.
  if (!job.all_ran && RunsWithoutTheEnded(job)) job.all_ran = job.first_grant;
  const bool own_row = job.tasks.count(decision.cause.task) > 0 && !WrongThoughFree(job, decision);
  Apply(job, decision, job.window_at, own_row);
}

/// `own_row`: the row of the cause's end surely decided it.
void ReferenceVerdict::Model::Apply(Job& job, const RestartDecided& decision, Instant earliest,
                                    bool own_row) {
  ++job.restarts_told;
  const auto cause = job.tasks.find(decision.cause.task);
  if (cause != job.tasks.end()) {
    Task& failed = cause->second;
    if (failed.in_place.container != failed.container) failed.in_place = {failed.container, 0, 0};
    ++failed.in_place.perhaps;
    failed.in_place.surely += own_row || decision.paid != Budget::kNone ? 1 : 0;
  }
  if (cause != job.tasks.end() && decision.paid == Budget::kNone) {
    Task& failed = cause->second;
    ++failed.free_restarts;
    // Soon after the decision an older one is its victim in any case.
    const bool soon = earliest - job.last_decided_at <= job.spec->deadlines.blame + kVictimsEnd;
    for (const TaskId& id : decision.tasks) {
      const Task& one = job.tasks.at(id);
      if (id == failed.id || !CouldNotReach(job, one) || !failed.settled) continue;
      const bool victim = soon && IsOlder(job, one, failed.id);
      failed.may_have_excused |= victim;
      if (!victim) failed.excused.insert(*failed.settled);
      for (const TaskId& again : decision.tasks) {
        Task& with_it = job.tasks.at(again);
        (victim ? with_it.may_have_been_excused : with_it.was_excused) = with_it.attempt;
      }
    }
  }
  if (cause != job.tasks.end() && decision.paid != Budget::kNone) {
    Task& payer = cause->second;
    ++payer.paid_in_a_row;
    const bool hung = decision.cause.exit_class == ExitClass::kTimeout;
    const Duration ran = earliest - payer.spawned_when - DecisionBound(*job.spec);
    if (!hung || ran > HangsSoon(*job.spec)) payer.hung_in_a_row = 0;
    payer.hung_in_a_row += hung ? 1 : 0;
  }
  const bool its_own = std::find(decision.tasks.begin(), decision.tasks.end(),
                                 decision.cause.task) != decision.tasks.end();
  if (decision.paid != Budget::kNone || its_own) {
    job.causes[decision.cause.task] = job.last_decision = moment_;
    job.last_decided_at = now_;
  }
  if (decision.paid != Budget::kNone) {
    if (job.policy == Policy::kDefault)
      std::erase_if(job.paid, [&](const Payment& payment) {
        return !MayCount(job, payment, job.window_at) && !IsNeeded(job, payment);
      });
    job.paid.push_back({.task = decision.cause.task,
                        .budget = decision.paid,
                        .earliest = earliest,
                        .latest = now_});
  }
  for (const TaskId& id : decision.tasks) {
    const auto found = job.tasks.find(id);
    if (found == job.tasks.end()) continue;
    Task& task = found->second;
    ++task.restarts;
    // A job may start again for days.
    std::erase_if(task.accounts, [&](const Account& account) {
      return (account.attempt && task.settled && *account.attempt < *task.settled) ||
             (account.spent && account.container != task.container);
    });
    for (Account& account : task.accounts) {
      // Another AM may have heard it.
      account.absorbed |= !account.spent && account.classes == Of(kOk) && !Certain(job, account);
      const bool open = !account.spent || account.after_success;
      const bool later = account.told_at >= job.window_at;
      const bool the_cause = id == decision.cause.task && account.told_at <= decision.cause.at;
      account.taken_along |= open && later && !the_cause;
      account.spent |= account.told != 0 || (account.attempt && *account.attempt <= task.attempt);
      account.answered = true;
    }
    // YARN's report of the end of what it has marked comes later.
    if (task.container && job.marked.count(*task.container) > 0)
      task.restarted_on_notice = task.container;
    // One whose order to start is still on its way runs for a moment, too.
    if (task.spawned) task.settled = task.attempt;
    task.port_changed = 0;
    if (task.ordered) task.settled = std::max(task.settled.value_or(*task.ordered), *task.ordered);
    task.settled_at = now_;
    task.decided = true;
    task.stalled = task.stands_still = 0;
  }
  if (decision.epoch > job.epoch || job.epoch_unsure) job.epoch_decided = now_;
  job.epoch = std::max(job.epoch, decision.epoch);
}

/// Of a job that succeeds: what should have ended or restarted it before; empty when nothing.
std::string ReferenceVerdict::Model::FailedSooner(const Job& job) {
  std::string what;
  for (const auto& [id, task] : job.tasks) {
    const Account* best = BestOf(job, task);
    // An AM that stood still, or could not store what it had decided, hears of both at once.
    const Instant decided = std::min(now_, job.window_at);
    const bool stood_still = !cut_.empty() || now_ - restored_at_ < kVictimsEnd;
    if (best == nullptr || StartsAgainAlready(job, task, *best) || stood_still ||
        decided - best->told_at < job.spec->deadlines.blame + kVictimsEnd)
      continue;
    const Moment window = std::exchange(window_, best->told + 1);
    as_of_ = best->told;
    spent_as_of_ = best->told_at;
    if (Succeeded(job) == Tri::kNo && MustAct(job, task, *best) && !EndsInSuccess(job, task, *best))
      what = fmt::format("but {} had ended with {} ({}) before, which decides otherwise",
                         ToString(id), best->exit, Text(best->classes));
    window_ = window;
    as_of_ = ~Moment{0};
    spent_as_of_.reset();
  }
  return what;
}

std::string ReferenceVerdict::Model::Wrong(const Job& job, const VerdictReached& verdict) {
  const std::string& rule = verdict.rule;
  const bool failed = verdict.status == JobStatus::kFailed;
  if (verdict.status == JobStatus::kKilled)
    return job.kill_wanted ? "" : "but no kill was asked for";
  if (rule == "finish/evidence-missing" || rule == "finish/evidence-unknown") {
    const bool may_have = Succeeded(job) != Tri::kNo ||
                          std::any_of(job.spec->on_exit.begin(), job.spec->on_exit.end(),
                                      [](const ExitRule& row) { return row.action == kSucceed; });
    return !job.spec->finish.require_paths.empty() && may_have
               ? ""
               : "but the job had not succeeded, or requires no evidence";
  }
  if (!failed) {
    const std::string sooner = FailedSooner(job);
    if (!sooner.empty()) return sooner;
  }
  const Tri succeeded = Succeeded(job);
  if (failed && succeeded == Tri::kYes) return "but success was decided before";
  if (rule.rfind("gang/", 0) == 0 || rule.rfind("deadlines/", 0) == 0)
    return HoldsDeadline(job, verdict) ? "" : "whose time had not come";
  if (rule.rfind("depends/", 0) == 0) {
    const std::size_t at = static_cast<std::size_t>(std::atoi(rule.c_str() + 8));
    return at < job.spec->depends.size() && HoldsDependency(job, job.spec->depends[at])
               ? ""
               : "but that dependency can be met";
  }
  const std::string prefix = job.spec->policy.name + "/";
  const Option session{.name = rule, .session = true, .payers = {Budget::kUser}};
  const bool retries = job.policy == Policy::kTony || job.policy == Policy::kTfYarn;
  if (rule.rfind(prefix, 0) == 0 &&
      HoldsVerdict(job, std::string_view(rule).substr(prefix.size()))) {
    static const std::set<std::string> kSuccess = {
        "success",           "all-ok",           "some-failed",
        "services-ended",    "chief-succeeded",  "workers-succeeded",
        "worker0-succeeded", "workers-finished", "enough-succeeded",
        "all-completed",     "few-failed"};
    if (failed == (kSuccess.count(rule.substr(prefix.size())) > 0))
      return "which says the opposite";
    const bool again = failed && retries &&
                       !MayBeExhausted(job, job.tasks.begin()->second, session) &&
                       !MayBeTriedInVain(job);
    return again ? "although the session may be tried again" : "";
  }
  if (!failed && rule.rfind("on_exit/", 0) == 0) {
    const std::size_t at = static_cast<std::size_t>(std::atoi(rule.c_str() + 8));
    return at < job.spec->on_exit.size() && job.spec->on_exit[at].action == kSucceed
               ? ""
               : "which does not say `succeed`";
  }
  if (!verdict.cause || verdict.cause->task.type.empty())
    return "whose conditions do not hold for what the AM had heard";
  const Cause& cause = *verdict.cause;
  const auto found = job.tasks.find(cause.task);
  if (found == job.tasks.end()) return "whose cause is no task of the job";
  const Task& task = found->second;
  const Classes may_be = MayBe(job, task);
  if ((may_be & Of(cause.exit_class)) == 0)
    return fmt::format("and calls the end of {} {}, of which the AM had heard {}",
                       ToString(cause.task), KebabName(cause.exit_class),
                       may_be == 0 ? "nothing" : Text(may_be));
  std::string allowed;
  for (const Option& option : Options(job, task, cause.exit_class, cause.exit, Succeeded(job))) {
    allowed += " " + option.name;
    const bool restarts = option.session || IsRestart(option.action);
    const bool ends =
        option.action == kFail || option.action == kSucceed || option.action == kRaiseMemory;
    const bool named_for_budget =
        option.pays == Pays::kUserOfType
            ? rule == "slider-tf/component-failed"
            : rule == prefix + KebabName(cause.exit_class) + "-exhausted" ||
                  rule == "tfjob/backoff-limit";
    const bool named = rule == option.name && ends;
    if (!named && !(restarts && named_for_budget && option.then == kFail)) continue;
    if (failed == (option.action == kSucceed)) return "which says the opposite";
    if (const auto peer = ExcusedBy(job, task); peer && restarts)
      return fmt::format("although {}, which it could not reach, had started again with it",
                         ToString(*peer));
    if (restarts && option.action != kRaiseMemory && !MayBeExhausted(job, task, option))
      return fmt::format("although {} has restarts left", option.name);
    // What has the most memory already fails the job at once, as a row does that says `fail`.
    if (named && option.action == kRaiseMemory) return "";
    const std::string other = WrongCause(job, task, option, cause);
    return other.empty() ? "" : "but has the wrong cause: " + other + " (Whose failure it is)";
  }
  return fmt::format("which does not decide {} of {}: allowed are{}", KebabName(cause.exit_class),
                     ToString(cause.task), allowed);
}

void ReferenceVerdict::Model::Judge(Job& job, const VerdictReached& verdict) {
  ++judged;
  window_ = job.window;
  job.due = kNever;
  if (job.verdict) {  // The next attempt says it again.
    if (job.verdict->status != verdict.status || job.verdict->rule != verdict.rule)
      Report(job,
             fmt::format("the verdict was {} and becomes {}", job.verdict->rule, verdict.rule));
    return;
  }
  const std::string wrong = Wrong(job, verdict);
  if (!wrong.empty())
    Report(job, fmt::format("the verdict is {} by {}, {}", KebabName(verdict.status), verdict.rule,
                            wrong));
  job.verdict = verdict;
}

// ---------------------------------------------------------------- what is left undecided

/// What the AM has heard for long enough, and has not decided.
std::string ReferenceVerdict::Model::Undecided(Job& job) {
  const Duration bound = DecisionBound(*job.spec);
  if (Succeeded(job) == Tri::kYes) {
    const Instant known = LastHeard(job);
    if (now_ - known >= bound) return "success is decided";
    Await(job, known + bound);
  }
  // After an AM restart it waits for the agents that are to find the new one.
  if (job.am_attempt == 1 && MustFail(job)) {
    const Instant known = LastHeard(job);
    if (now_ - known >= bound) return "failure is decided";
    Await(job, known + bound);
  }
  if (const Instant over = RunIsOver(job); over != kNever) {
    if (now_ - over >= bound) return "deadlines.run is over";
    Await(job, over + bound);
  }
  for (const auto& [id, task] : job.tasks) {
    const Account* best = BestOf(job, task);
    if (best == nullptr) continue;
    const Account& account = *best;
    if (StartsAgainAlready(job, task, account)) continue;
    if (now_ - account.told_at < bound) {
      Await(job, account.told_at + bound);
      continue;
    }
    spent_as_of_ = account.told_at;
    const bool must = MustAct(job, task, account);
    spent_as_of_.reset();
    if (must)
      return fmt::format("attempt {} of {} ended with {} ({})", task.attempt.value, ToString(id),
                         account.exit, Text(account.classes));
  }
  return {};
}

void ReferenceVerdict::Model::Overdue() {
  next_due_ = kNever;
  for (const auto& job : jobs_) {
    if (job == nullptr || job->due == kNever) continue;
    if (now_ >= job->due) {
      if (!cut_.empty() || job->append_open) {
        job->due = now_ + DecisionBound(*job->spec);
      } else {
        job->due = kNever;
        window_ = moment_ + 1;
        job->window_at = now_;
        const std::string what = Undecided(*job);
        ++judged;
        if (!what.empty())
          Report(*job, fmt::format("{}, as the AM has known for {}, and it has decided nothing",
                                   what, ToString(DecisionBound(*job->spec))));
      }
    }
    next_due_ = std::min(next_due_, job->due);
  }
}

// ---------------------------------------------------------------- the door

ReferenceVerdict::ReferenceVerdict(bool lossy, Duration spread, std::vector<bool> lasts)
    : model_(std::make_unique<Model>(lossy, spread, std::move(lasts))) {}
ReferenceVerdict::~ReferenceVerdict() = default;

void ReferenceVerdict::JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec) {
  model_->Add(job, std::move(spec));
}

void ReferenceVerdict::Observe(const trace::TraceRecord& record) {
  model_->Observe(record);
}

void ReferenceVerdict::JobSettled(trace::JobIndex job) {
  model_->Drop(job);
}

std::vector<std::string> ReferenceVerdict::TakeNew() {
  return std::exchange(model_->fresh, {});
}

std::uint64_t ReferenceVerdict::judged() const {
  return model_->judged;
}

}  // namespace tfyarn::oracles
