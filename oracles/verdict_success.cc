// The reference model: whether the job has succeeded or failed by what the AM has heard, with what
// it may have known and with what it must have known.
#include <algorithm>

#include "oracles/verdict_model.h"

namespace tfyarn::oracles {

/// Whether the end neither helps nor harms success, by the rows that may decide it.
Tri ReferenceVerdict::Model::Ignored(const Job& job, const Task& task,
                                     const Account& account) const {
  bool any = false, all = true;
  for (int bit = 0; bit <= static_cast<int>(kUnknown); ++bit) {
    const auto cls = static_cast<ExitClass>(bit);
    if ((account.classes & Of(cls)) == 0) continue;
    for (const Option& option : Options(job, task, cls, account.exit, Tri::kNo)) {
      const bool ignores = option.action == kIgnore;
      any |= ignores;
      all &= ignores;
    }
  }
  return any ? (all ? Tri::kYes : Tri::kMaybe) : Tri::kNo;
}

/// An end that starts again does not help either; one that a row lets fail the job harms it.
ReferenceVerdict::Model::GoodEnd ReferenceVerdict::Model::EndWell(const Job& job, const Task& task,
                                                                  const Account& account) const {
  GoodEnd end;
  end.may_help = false;
  for (const Option& option : Options(job, task, kOk, account.exit, Tri::kNo)) {
    end.starts_again |= IsRestart(option.action);
    end.fails |= option.action == kFail;
    end.helps &= option.action != kIgnore && option.action != kFail && !IsRestart(option.action);
    // One that a row starts again, or fails the job for, is no success, budget or not.
    const bool spent = option.then != kFail && MayBeExhausted(job, task, option);
    end.may_help |= !IsRestart(option.action) || spent;
  }
  return end;
}

/// Whatever its class, the end starts nothing again, ends nothing and counts as a failure.
bool ReferenceVerdict::Model::IsTallied(const Job& job, const Task& task,
                                        const Account& account) const {
  if (account.classes == 0 || (account.classes & Of(kOk)) != 0) return false;
  for (int bit = 0; bit <= static_cast<int>(kUnknown); ++bit) {
    const auto cls = static_cast<ExitClass>(bit);
    if ((account.classes & Of(cls)) == 0) continue;
    for (const Option& option : Options(job, task, cls, account.exit, Tri::kNo)) {
      const auto is_spent = [&](Budget payer) {
        return IsSpent(job, task.id, option, payer, true);
      };
      const bool spent = IsRestart(option.action) && option.then == kTally &&
                         std::all_of(option.payers.begin(), option.payers.end(), is_spent);
      if (option.action != kTally && !spent) return false;
    }
  }
  return true;
}

/// A dependency may have given up waiting for it.
bool ReferenceVerdict::Model::MayBeWaived(const Job& job, const Task& task) const {
  return Holds(job, task, When::kWaived, {}) != Tri::kNo;
}

State ReferenceVerdict::Model::StateOf(const Job& job, const Task& task) const {
  State state;
  Classes reported = 0;  // What they lead to is known.
  for (const Account& account : task.accounts) {
    if (account.absorbed && (account.told_attempt == job.am_attempt || account.stored_perhaps))
      state.may_ok = state.may_end = true;
    if (account.spent || !Heard(account)) continue;
    reported |= account.classes;
    const bool sure = Certain(job, account) && account.attempt == task.attempt;
    const Tri ignored = Ignored(job, task, account);
    state.may_ok |= ignored != Tri::kNo;
    // One that the AM has ordered starts again, whatever a row says of such ends.
    state.ignored |= sure && !account.obeyed && ignored == Tri::kYes;
    state.may_end = true;
    if ((account.classes & Of(kOk)) != 0) {
      const GoodEnd end = EndWell(job, task, account);
      const bool surely = sure && account.classes == Of(kOk) && !task.was_silent;
      state.may_ok |= end.may_help || account.classes != Of(kOk);
      state.must_end |= surely && !end.starts_again && !end.fails;
      state.must_ok |= surely && end.helps;
      state.may_fail |= !end.helps;
    }
    if ((account.classes & ~Of(kOk)) != 0 && Counts(job, task, account)) state.may_fail = true;
    // Before, the AM may have given it up for its silence.
    const Account silent{.classes = Of(kHeartbeatLost)};
    state.must_count |=
        sure && IsTallied(job, task, account) && (!task.was_silent || IsTallied(job, task, silent));
  }
  // What no report tells, as that no agent has come up, may have been decided all the same.
  if (const Classes unheard = MayBe(job, task); !state.must_end && unheard != 0) {
    state.may_end = true;
    state.may_fail |= Counts(job, task, {.classes = unheard & ~reported});
    // That a process which runs may hang, as any may, is no end that a row ignores.
    const bool stands = task.stood_still || task.stalled != 0;
    const bool runs = SeemsToRun(task) && !stands && (unheard & ~Of(kTimeout, kPreempted)) == 0;
    state.may_ok |= !runs && Ignored(job, task, {.classes = unheard}) != Tri::kNo;
  }
  if (state.must_ok) state.may_fail = false;
  if (MayBeWaived(job, task)) {
    state.must_count = false;
    state.may_ok = state.may_end = true;
  }
  state.must_fail = state.must_end && !state.may_ok;
  return state;
}

bool ReferenceVerdict::Model::Every(const Job& job, TaskClass role, bool State::*is) const {
  return std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    if (entry.second.role != role) return true;
    const State state = StateOf(job, entry.second);
    return state.ignored || state.*is;
  });
}

bool ReferenceVerdict::Model::Any(const Job& job, TaskClass role, bool State::*is) const {
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    if (entry.second.role != role) return false;
    const State state = StateOf(job, entry.second);
    return !state.ignored && state.*is;
  });
}

/// Of those tracked; where every end is ignored, there is no success.
bool ReferenceVerdict::Model::EveryOk(const Job& job, bool State::*is) const {
  const bool none = std::none_of(job.tasks.begin(), job.tasks.end(), [](const auto& entry) {
    return entry.second.role == TaskClass::kTracked;
  });
  return Every(job, TaskClass::kTracked, is) && (none || Any(job, TaskClass::kTracked, is));
}

bool ReferenceVerdict::Model::Eval(const Job& job, const SuccessExpr& expr, Outlook outlook) const {
  const auto child = [&](const SuccessExpr& one) { return Eval(job, one, outlook); };
  if (expr.op == SuccessOp::kAnd)
    return std::all_of(expr.children.begin(), expr.children.end(), child);
  if (expr.op == SuccessOp::kOr)
    return std::any_of(expr.children.begin(), expr.children.end(), child);
  std::int32_t all = 0, ok = 0, done = 0, failed = 0;
  bool tracked_ended = true;
  for (const auto& [id, task] : job.tasks) {
    const bool tracked = task.role == TaskClass::kTracked;
    const bool counts = (expr.task_type == "tracked" ? tracked : id.type == expr.task_type) &&
                        (!expr.index || id.index == *expr.index);
    if (!counts && !tracked) continue;
    const State state = StateOf(job, task);
    if (tracked)
      tracked_ended &= outlook == Outlook::kMust ? state.must_end || state.ignored : true;
    // What a dependency gave up waiting for no longer counts.
    const bool waived = outlook == Outlook::kNever && MayBeWaived(job, task);
    if (!counts || state.ignored || waived) continue;
    ++all;
    switch (outlook) {
      case Outlook::kMay:
        ok += state.may_ok ? 1 : 0;
        done += state.may_end ? 1 : 0;
        failed += state.must_fail ? 1 : 0;
        break;
      case Outlook::kMust:
        ok += state.must_ok ? 1 : 0;
        done += state.must_end ? 1 : 0;
        failed += state.must_ok ? 0 : 1;
        break;
      case Outlook::kNever:
      case Outlook::kNeverOfAll:
        ok += state.may_fail ? 0 : 1;
        done += 1;
        failed += state.may_fail ? 1 : 0;
        break;
    }
  }
  switch (expr.op) {
    case SuccessOp::kOk:
      return ok == all && all > 0;  // Where every end is ignored, none is a success.
    case SuccessOp::kAny:
      return ok > 0;
    case SuccessOp::kDone:
      return done == all;
    case SuccessOp::kCountAtLeast:
      return ok >= expr.number;
    case SuccessOp::kFailedBelow:
      return failed < expr.number && tracked_ended;
    case SuccessOp::kAnd:
    case SuccessOp::kOr:
      break;
  }
  return false;
}

/// Whether success is decided by what the AM has heard.
Tri ReferenceVerdict::Model::Succeeded(const Job& job) const {
  const auto tri = [](bool must, bool may) {
    return must ? Tri::kYes : may ? Tri::kMaybe : Tri::kNo;
  };
  if (job.verdict) return Sure(job.verdict->status == JobStatus::kSucceeded);
  if (job.spec->success)
    return tri(Eval(job, *job.spec->success, Outlook::kMust),
               Eval(job, *job.spec->success, Outlook::kMay));
  const auto all_of_type = [&](const auto& is_it, bool State::*is) {
    bool any = false;
    for (const auto& [id, task] : job.tasks) {
      if (!is_it(task)) continue;
      any = true;
      if (!(StateOf(job, task).*is)) return false;
    }
    return any;
  };
  const auto chief = [](const Task& task) { return task.chief; };
  switch (job.policy) {
    case Policy::kDefault:
      if (job.has_chief)
        return tri(all_of_type(chief, &State::must_ok), all_of_type(chief, &State::may_ok));
      return tri(Every(job, TaskClass::kTracked, &State::must_ok) &&
                     Any(job, TaskClass::kTracked, &State::must_ok),
                 Every(job, TaskClass::kTracked, &State::may_ok) &&
                     Any(job, TaskClass::kTracked, &State::may_ok));
    case Policy::kTony:
      return tri(EveryOk(job, &State::must_ok) && !Any(job, TaskClass::kService, &State::may_fail),
                 HoldsVerdict(job, "all-ok") || HoldsVerdict(job, "some-failed"));
    case Policy::kTfYarn:
    case Policy::kSliderTf:
      return tri(EveryOk(job, &State::must_ok), EveryOk(job, &State::may_ok));
    case Policy::kFrameworkLauncher: {
      const bool fails = Reaches(job, "min_failed_task_count", 1, &State::may_fail);
      const bool completed = Every(job, TaskClass::kTracked, &State::must_end) &&
                             Any(job, TaskClass::kTracked, &State::must_ok);
      const bool enough = Reaches(job, "min_succeeded_task_count", {}, &State::must_ok);
      return tri(!fails && (completed || enough),
                 HoldsVerdict(job, "all-completed") || HoldsVerdict(job, "enough-succeeded"));
    }
    case Policy::kHbox:
      return tri(EveryOk(job, &State::must_ok),
                 HoldsVerdict(job, "all-ok") || HoldsVerdict(job, "few-failed"));
    case Policy::kTfjob: {
      const bool may = HoldsVerdict(job, "chief-succeeded") ||
                       HoldsVerdict(job, "workers-succeeded") ||
                       HoldsVerdict(job, "worker0-succeeded");
      if (!may || Any(job, TaskClass::kTracked, &State::may_fail))
        return may ? Tri::kMaybe : Tri::kNo;
      // Where the ends of all workers are ignored, the others' are no success.
      const auto good_worker = [&](const auto& entry) {
        return entry.first.type == "worker" && StateOf(job, entry.second).must_ok;
      };
      const bool workers = job.spec->FindType("worker") == nullptr ||
                           std::any_of(job.tasks.begin(), job.tasks.end(), good_worker);
      return tri(job.has_chief ? all_of_type(chief, &State::must_ok)
                               : workers && EveryOk(job, &State::must_ok),
                 true);
    }
  }
  return Tri::kMaybe;
}

/// Whether a row of the policy's second table, its verdicts, may hold.
bool ReferenceVerdict::Model::HoldsVerdict(const Job& job, std::string_view row) const {
  const JobSpec& spec = *job.spec;
  constexpr TaskClass kTracked = TaskClass::kTracked;
  const bool all_end = Every(job, kTracked, &State::may_end);
  const bool strict =
      Holds(job, job.tasks.begin()->second, When::kFailOnWorkerFailure, {}) == Tri::kYes;
  if (row == "success") return Succeeded(job) != Tri::kNo;
  if (row == "tracked-ended") return all_end && Succeeded(job) != Tri::kYes;
  if (row == "success-impossible" && spec.success)
    return !Eval(job, *spec.success, Outlook::kNever) ||
           !Eval(job, *spec.success, Outlook::kNeverOfAll);
  if (row == "success-impossible" && job.policy == Policy::kDefault && job.has_chief) {
    // Also by an end that is ignored: no other task helps.
    return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
      const State state = entry.second.chief ? StateOf(job, entry.second) : State();
      return state.may_end && !state.must_ok;
    });
  }
  if (row == "success-impossible") {
    // Where every end is ignored, none is a success.
    const bool all_ignored =
        std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
          const Task& task = entry.second;
          return task.role != kTracked || StateOf(job, task).ignored || MayBeWaived(job, task);
        });
    return all_ignored || Any(job, kTracked, &State::may_fail);
  }
  switch (job.policy) {
    case Policy::kDefault:
      return false;
    case Policy::kTony:
      if (row == "untracked-failed")
        return Any(job, TaskClass::kService, &State::may_fail) &&
               !Every(job, kTracked, &State::must_end);
      if (row == "all-ok") return EveryOk(job, &State::may_ok);
      if (row == "worker-failure") return strict && all_end && Any(job, kTracked, &State::may_fail);
      if (row == "all-failed") return all_end && !Any(job, kTracked, &State::must_ok);
      return row == "some-failed" && !strict && all_end && Any(job, kTracked, &State::may_ok) &&
             Any(job, kTracked, &State::may_fail);
    case Policy::kTfYarn: {
      if (row == "nothing-left") return all_end && !Any(job, kTracked, &State::must_ok);
      if (row == "services-ended") return EveryOk(job, &State::may_ok);
      const bool cluster_ended =
          std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
            return entry.second.role != kTracked || entry.first.type == "evaluator" ||
                   StateOf(job, entry.second).may_end;
          });
      return row == "raised" && cluster_ended && Any(job, kTracked, &State::may_fail);
    }
    case Policy::kTfjob: {
      const auto every_ok = [&](const auto& counts) {
        bool any = false;
        for (const auto& [id, task] : job.tasks) {
          if (!counts(task)) continue;
          const State state = StateOf(job, task);
          any |= state.may_ok;
          if (!state.may_ok && !state.ignored) return false;
        }
        return any;
      };
      const bool workers = spec.FindType("worker") != nullptr;
      if (row == "chief-succeeded")
        return job.has_chief && every_ok([](const Task& task) { return task.chief; });
      if (row == "workers-succeeded")
        return !job.has_chief && every_ok([&](const Task& task) {
          return workers ? task.id.type == "worker" : task.role == kTracked;
        });
      if (row == "worker0-succeeded")
        return !job.has_chief && workers && OptionOf(spec, "success_policy").empty() &&
               every_ok([](const Task& task) {
                 return task.id == TaskId{"worker", 0};
               });
      const bool dynamic = OptionOf(spec, "enable_dynamic_worker") == "true";
      if (row == "replica-failed")
        return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
          return entry.second.role == kTracked && !(dynamic && entry.first.type == "worker") &&
                 StateOf(job, entry.second).may_fail;
        });
      return row == "nothing-left" && all_end;
    }
    case Policy::kSliderTf:
      if (row == "workers-finished") return EveryOk(job, &State::may_ok);
      return row == "nothing-left" && all_end && !EveryOk(job, &State::must_ok);
    case Policy::kFrameworkLauncher:
      if (row == "too-many-failed")
        return Reaches(job, "min_failed_task_count", 1, &State::may_fail);
      // Failure is looked at first.
      if (row == "enough-succeeded")
        return !MustFail(job) && Reaches(job, "min_succeeded_task_count", {}, &State::may_ok);
      if (row == "all-completed")
        return !MustFail(job) && all_end && Any(job, kTracked, &State::may_ok);
      return row == "nothing-left" && all_end && !Any(job, kTracked, &State::must_ok);
    case Policy::kHbox:
      return HoldsOfHbox(job, row);
  }
  return false;
}

/// framework-launcher: of one task type, but of no sidecar's, so many tasks have ended so.
bool ReferenceVerdict::Model::Reaches(const Job& job, const std::string& option,
                                      std::optional<std::int64_t> standard, bool State::*is) const {
  return std::any_of(job.spec->tasks.begin(), job.spec->tasks.end(), [&](const TaskTypeSpec& type) {
    const std::optional<std::int64_t> least = NumberOf(*job.spec, option, type.name, standard);
    std::int64_t count = 0;
    for (const auto& [id, task] : job.tasks) {
      const bool counts = id.type == type.name && task.role != TaskClass::kSidecar;
      count += counts && StateOf(job, task).*is ? 1 : 0;
    }
    return least && count >= *least;
  });
}

/// The failures that the AM surely knows fail the job by the policy's own verdict.
bool ReferenceVerdict::Model::MustFail(const Job& job) const {
  if (job.spec->success) return false;
  if (job.policy == Policy::kFrameworkLauncher)
    return Reaches(job, "min_failed_task_count", 1, &State::must_count);
  if (job.policy != Policy::kHbox) return false;
  return HoldsOfHbox(job, "many-failed", true) && !HoldsOfHbox(job, "few-failed");
}

/// Of how many failures among the tracked tasks a row of hbox would hold: any that the AM may have
/// known counts.
bool ReferenceVerdict::Model::HoldsOfHbox(const Job& job, std::string_view row, bool surely) const {
  constexpr TaskClass kTracked = TaskClass::kTracked;
  const JobSpec& spec = *job.spec;
  const bool all_end = Every(job, kTracked, &State::may_end);
  if (row == "all-ok") return EveryOk(job, &State::may_ok);
  if (row == "nothing-left") return all_end && !Any(job, kTracked, &State::must_ok);
  const bool horovod = spec.framework == Framework::kHorovod;
  const bool by_share = horovod || spec.strategy == Strategy::kIndependent;
  const std::int64_t percent =
      by_share ? NumberOf(spec, "max_failures_percent", "", 50).value_or(0) : 0;
  std::int64_t all = 0, least = 0, most = 0, do_not_count = 0;
  for (const auto& [id, task] : job.tasks) {
    if (task.role != kTracked) continue;
    const State state = StateOf(job, task);
    ++all;
    least += state.must_count ? 1 : 0;
    most += state.may_fail ? 1 : 0;
    do_not_count += state.ignored || MayBeWaived(job, task) ? 1 : 0;
  }
  // More failures than are known only end it sooner.
  if (surely) most = least;
  for (std::int64_t failed = std::max<std::int64_t>(least, 1); failed <= most; ++failed) {
    for (std::int64_t of = all - do_not_count; of <= all; ++of) {
      const bool few = 100 * failed < percent * of;
      const bool over = (all_end && !surely) || horovod || 2 * failed >= of;
      if (surely && !over) return false;
      if (over && (few ? row == "few-failed" : row == "many-failed")) return true;
    }
  }
  return false;
}

/// Whether what the dependency waits for may have come.
bool ReferenceVerdict::Model::MayBeReached(const Job& job, const Dependency& rule) const {
  return std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    const Task& task = entry.second;
    if (entry.first.type != rule.after) return true;
    const State state = StateOf(job, task);
    // What has ended for good will not run any more: that is later than running.
    const Account end{.classes = MayBe(job, task)};
    return rule.state == DependencyState::kRunning ? task.spawned || Counts(job, task, end)
           : rule.state == DependencyState::kEnded ? state.may_end
                                                   : state.may_ok;
  });
}

bool ReferenceVerdict::Model::HoldsDependency(const Job& job, const Dependency& rule) const {
  if (rule.action != DependencyAction::kFail) return false;
  const auto all = [&](const std::string& type, const auto& is) {
    return std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
      return entry.first.type != type || is(entry.second);
    });
  };
  if (!rule.within)  // What it waits for can no longer come.
    return !all(rule.after, [&](const Task& task) { return !StateOf(job, task).may_fail; });
  return MayBeReached(job, rule) &&
         !all(rule.task, [&](const Task& task) { return StateOf(job, task).must_end; });
}

/// What begins with the gang has run, or may have ended for good: the job runs without it.
bool ReferenceVerdict::Model::RunsWithoutTheEnded(const Job& job) const {
  return std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    const Task& task = entry.second;
    return !task.begins || task.spawned || Counts(job, task, {.classes = MayBe(job, task)});
  });
}

/// What no policy decides.
bool ReferenceVerdict::Model::HoldsDeadline(const Job& job, const VerdictReached& verdict) const {
  const std::string_view rule = verdict.rule;
  const JobSpec& spec = *job.spec;
  const bool all_run = std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
    const Task& task = entry.second;
    // One that is to start again does not count, although it may take its time to end.
    const bool runs = task.runs && task.runs_told != 0 && task.runs_told < window_;
    if (!task.in_gang || (runs && !task.IsSettled())) return true;
    // What waits for another type need not run until that has come, if only its agent is there.
    if (!task.registered || task.registered_at >= window_) return false;
    // What the AM has ordered does not wait: another epoch may begin with its gate open.
    if (task.MayNeverStart()) return false;
    return std::any_of(spec.depends.begin(), spec.depends.end(), [&](const Dependency& row) {
      return !row.within && row.task == entry.first.type && !MayBeReached(job, row);
    });
  });
  if (rule == "gang/deadline")
    return now_ - job.first_wanted.value_or(job.begun) >=
           spec.gang.deadline - (faults_ ? kCallTakes : kAskWaits);
  // What was decided before the RM started again may have waited for HDFS.
  const Instant decided =
      std::min(job.stored_at, verdict.cause ? verdict.cause->at : job.stored_at);
  const bool decided_before = decided + spec.deadlines.nodes < job.nodes_until;
  if (rule == "gang/infeasible" && now_ < job.nodes_until && !job.below_nodes && !decided_before)
    return false;
  if (rule.rfind("gang/", 0) == 0)
    return std::any_of(job.tasks.begin(), job.tasks.end(), [](const auto& entry) {
      return entry.second.in_gang && (!entry.second.runs || entry.second.IsSettled());
    });
  if (rule == "deadlines/run") {
    // Where all that trains waits for other types, nothing has to run before it counts.
    const bool waits = std::none_of(job.tasks.begin(), job.tasks.end(),
                                    [](const auto& entry) { return entry.second.begins; });
    // Nor has what has ended for good.
    const bool settled = std::all_of(job.tasks.begin(), job.tasks.end(), [&](const auto& entry) {
      return !entry.second.begins || entry.second.spawned || StateOf(job, entry.second).may_end;
    });
    const std::optional<Instant> from =
        job.all_ran || !(waits || settled) ? job.all_ran : job.first_grant;
    return spec.deadlines.run && from && now_ - *from >= *spec.deadlines.run;
  }
  return rule == "deadlines/start" && !all_run && job.first_grant &&
         now_ - *job.first_grant >= spec.deadlines.start;
}

}  // namespace tfyarn::oracles
