#include "sim/checkers_repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "config/fault_kinds.h"
#include "core/model/text.h"

namespace tfyarn::sim {
namespace {

constexpr Duration kAMinute = 1min;
/// An order, and an agent's first message, is repeated every few seconds.
constexpr Duration kSoon = 15s;
/// The AM repeats an order every 2 s, and gives up an agent that does not end its process within
/// the grace and this.
constexpr Duration kOrderWithin = 3s;
constexpr Duration kStopSlack = 5s;

/// Asks, releases or the blacklist: an idle call need not be repeated, the next one is as good.
bool HasNews(const yarn::AllocateRequest& request) {
  return !request.ask.empty() || !request.release.empty() || !request.blacklist_additions.empty() ||
         !request.blacklist_removals.empty();
}

}  // namespace

Duration RepeatWatch::BoundOf(Saying saying) {
  switch (saying) {
    case Saying::kRegisterAgent:
    case Saying::kStartProcess:
    case Saying::kStopProcess:
    case Saying::kEndAgent:
      return kSoon;
    case Saying::kProcessRunning:  // An agent whose AM is gone looks for the next one first.
    case Saying::kProcessEnded:
    case Saying::kNews:
    case Saying::kRegisterAm:
    case Saying::kAllocate:
    case Saying::kFinish:
    case Saying::kAppend:
      break;
  }
  return kAMinute;
}

void RepeatWatch::Observe(const trace::TraceRecord& record) {
  Pass(record.at);
  now_ = record.at;
  const trace::Fact& fact = record.fact;
  if (const auto* ordered = std::get_if<trace::AgentOrdered>(&fact)) {
    On(*ordered);
  } else if (const auto* told = std::get_if<trace::AgentTold>(&fact)) {
    On(*told);
  } else if (const auto* am = std::get_if<trace::AmOrdered>(&fact)) {
    On(*am);
  } else if (const auto* heard = std::get_if<trace::AmTold>(&fact)) {
    On(*heard);
  } else if (const auto* gone = std::get_if<trace::ContainerGone>(&fact)) {
    Close(Sender::kAgent, gone->container);
    gone_.insert(gone->container);
    Close(Sender::kAm, gone->container, Saying::kEndAgent);
    const auto of_am = job_of_am_.find(gone->container);
    if (of_am == job_of_am_.end()) return;
    CloseAm(of_am->second);
    job_of_am_.erase(of_am);
  } else if (const auto* began = std::get_if<trace::FaultBegan>(&fact)) {
    On(*began);
  } else if (const auto* ended = std::get_if<trace::FaultEnded>(&fact)) {
    On(*ended);
  }
}

void RepeatWatch::Pass(Instant until) {
  while (!dues_.empty() && dues_.top().at < until) {
    const Due due = dues_.top();
    dues_.pop();
    const auto said = open_.find(due.key);
    if (said == open_.end()) continue;
    // A machine that is held up sends nothing, and then all overdue messages at once.
    const HeldUp& held_up = due.key.sender == Sender::kAm ? ams_ : agents_;
    Instant at = std::max(said->second.last, held_up.until) + BoundOf(due.key.saying);
    // Nor is a process started that may be one to stop by what the AM has yet to store, or one told
    // again to stop whose agent the AM may have given up: it tells so once that is stored.
    const bool is_start = due.key.saying == Saying::kStartProcess;
    const bool given_up =
        said->second.overdue && said->second.last + kOrderWithin >= *said->second.overdue;
    const bool decided = storing_.contains(due.key.job) && (is_start || given_up);
    if (!held_up.faults.empty() || decided) at = std::max(at, due.at + kAMinute);
    if (at > due.at) {
      dues_.push({.at = at, .order = ++order_, .key = due.key});
      continue;
    }
    broken_.push_back({.job = trace::JobIndex(due.key.job),
                       .at = due.at,
                       .what = Sentence(due.key, said->second)});
    open_.erase(said);
  }
}

std::string RepeatWatch::Sentence(const Key& key, const Said& said) {
  const auto of_container = [&](std::string_view what) {
    return fmt::format("{} {} to {}", key.sender == Sender::kAm ? "the AM has said" : "said", what,
                       ToString(key.container));
  };
  std::string what;
  switch (key.saying) {
    case Saying::kRegisterAgent:
      what = fmt::format("the agent in {} has registered", ToString(key.container));
      break;
    case Saying::kProcessRunning:
    case Saying::kProcessEnded:
      what = fmt::format("the agent in {} has told that attempt {} {}", ToString(key.container),
                         key.number, key.saying == Saying::kProcessEnded ? "has ended" : "runs");
      break;
    case Saying::kNews:
      what =
          fmt::format("the agent in {} has told its news {}", ToString(key.container), said.news);
      break;
    case Saying::kStartProcess:
      what = of_container(fmt::format("`start attempt {}`", key.number));
      break;
    case Saying::kStopProcess:
      what = of_container(fmt::format("`stop attempt {}`", key.number));
      break;
    case Saying::kEndAgent:
      what = of_container("`end`");
      break;
    case Saying::kRegisterAm:
      what = "the AM has registered with the RM";
      break;
    case Saying::kAllocate:
      what = "the AM has told the RM what it wants or gives back";
      break;
    case Saying::kFinish:
      what = "the AM has told the RM its final status";
      break;
    case Saying::kAppend:
      what = fmt::format("the AM has appended entry {} to its journal", key.number);
      break;
  }
  return fmt::format("{}, was not answered, and has not said so again within {}", what,
                     ToString(BoundOf(key.saying)));
}

// ---------------------------------------------------------------- what is open

void RepeatWatch::Open(Key key, std::uint32_t news) {
  const bool is_new = open_.insert_or_assign(key, Said{.last = now_, .news = news}).second;
  if (!is_new) return;
  ++judged_;
  dues_.push({.at = now_ + BoundOf(key.saying), .order = ++order_, .key = std::move(key)});
}

template <typename Ends>
void RepeatWatch::CloseWhere(Sender sender, const ContainerId& container, Ends ends) {
  auto entry = open_.lower_bound(Key{.sender = sender, .container = container});
  while (entry != open_.end() && entry->first.sender == sender &&
         entry->first.container == container) {
    entry = ends(entry->first, entry->second) ? open_.erase(entry) : std::next(entry);
  }
}

void RepeatWatch::Close(Sender sender, const ContainerId& container) {
  CloseWhere(sender, container, [](const Key&, const Said&) { return true; });
}

void RepeatWatch::Close(Sender sender, const ContainerId& container, Saying saying) {
  CloseWhere(sender, container, [&](const Key& key, const Said&) { return key.saying == saying; });
}

void RepeatWatch::PutOff(Sender sender, const ContainerId& container) {
  CloseWhere(sender, container, [&](const Key& key, Said& said) {
    if (key.saying != Saying::kRegisterAgent) said.last = now_;
    return false;
  });
}

void RepeatWatch::CloseAm(std::uint32_t job) {
  std::erase_if(open_, [&](const auto& entry) {
    return entry.first.sender == Sender::kAm && entry.first.job == job;
  });
}

void RepeatWatch::Forget(trace::JobIndex job) {
  std::erase_if(open_, [&](const auto& entry) { return entry.first.job == job.value; });
  am_.erase(job.value);
  storing_.erase(job.value);
  unregisters_.erase(job.value);
  allocates_.erase(job.value);
  ended_.erase(job.value);
  idle_.erase(job.value);
}

void RepeatWatch::CloseOrders(const ContainerId& container, TaskAttempt up_to) {
  CloseWhere(Sender::kAm, container, [&](const Key& key, const Said&) {
    return (key.saying == Saying::kStartProcess || key.saying == Saying::kStopProcess) &&
           key.number <= up_to.value;
  });
}

// ---------------------------------------------------------------- agents

void RepeatWatch::On(const trace::AgentOrdered& fact) {
  if (const auto* send = std::get_if<SendToAm>(&fact.action)) {
    Says(fact.job.value, fact.container, send->message);
  } else if (std::holds_alternative<ExitAgent>(fact.action)) {
    Close(Sender::kAgent, fact.container);
  } else if (std::holds_alternative<ReadAmAddress>(fact.action)) {
    // It looks for an AM that would hear it.
    PutOff(Sender::kAgent, fact.container);
    looking_.insert(fact.container);
  } else if (std::holds_alternative<SignalProcess>(fact.action) &&
             looking_.contains(fact.container)) {
    // It has looked for as long as it may, and leaves: an AM that comes now hears of its container.
    Close(Sender::kAgent, fact.container);
  }
}

void RepeatWatch::Says(std::uint32_t job, const ContainerId& container, const AgentToAm& message) {
  Key key{.sender = Sender::kAgent, .container = container, .job = job};
  const auto news = [&](ReportKind kind, std::uint32_t number) {
    key.saying = Saying::kNews;
    key.number = static_cast<std::uint64_t>(kind);
    Open(key, number);
  };
  if (std::holds_alternative<RegisterAgent>(message)) {
    key.saying = Saying::kRegisterAgent;
    Open(key);
    PutOff(Sender::kAgent, container);  // Until an AM has accepted it, it sends nothing else.
  } else if (const auto* running = std::get_if<ProcessRunning>(&message)) {
    key.saying = Saying::kProcessRunning;
    key.number = running->process.attempt.value;
    if (!IsAnsweredNow(key)) Open(key);
  } else if (const auto* ended = std::get_if<ProcessEnded>(&message)) {
    key.saying = Saying::kProcessEnded;
    key.number = ended->process.attempt.value;
    if (!IsAnsweredNow(key)) Open(key);
  } else if (const auto* address = std::get_if<AddressChanged>(&message)) {
    news(ReportKind::kAddressChanged, address->number);
  } else if (const auto* stalled = std::get_if<ProgressStalled>(&message)) {
    news(ReportKind::kProgressStalled, stalled->number);
  } else if (const auto* signs = std::get_if<ProcessSigns>(&message)) {
    news(ReportKind::kProcessSigns, signs->number);
  } else if (const auto* port = std::get_if<PortReport>(&message)) {
    news(ReportKind::kPortReport, port->number);
  }
}

/// An agent that hears its AM again says first what is open, and only then reads the very answer.
bool RepeatWatch::IsAnsweredNow(const Key& key) const {
  return answered_at_ == now_ && answered_.container == key.container &&
         answered_.saying == key.saying && answered_.number == key.number;
}

void RepeatWatch::On(const trace::AgentTold& fact) {
  if (const auto* said = std::get_if<AmSaid>(&fact.event))
    return Hears(fact.container, said->message);
  if (std::holds_alternative<ProgressSeen>(fact.event)) {
    // It moves again: that it does not would be false now.
    open_.erase({.sender = Sender::kAgent,
                 .container = fact.container,
                 .job = fact.job.value,
                 .saying = Saying::kNews,
                 .number = static_cast<std::uint64_t>(ReportKind::kProgressStalled)});
  } else if (std::holds_alternative<ProcessExited>(fact.event)) {
    // Of a process that has ended only its end, and the agent's address, are of interest.
    CloseWhere(Sender::kAgent, fact.container, [](const Key& key, const Said&) {
      const bool news = key.saying == Saying::kNews && !key.TellsAddress();
      return news || key.saying == Saying::kProcessRunning;
    });
  }
}

void RepeatWatch::Hears(const ContainerId& container, const AmToAgent& message) {
  looking_.erase(container);
  if (std::holds_alternative<AgentAccepted>(message)) {
    bool registers = false;
    CloseWhere(Sender::kAgent, container, [&](const Key& key, const Said&) {
      const bool its_own = key.saying == Saying::kRegisterAgent;
      registers = registers || its_own;
      return its_own;
    });
    // A registration tells the address that the AM before did not answer. What it does not tell
    // comes with this answer.
    CloseWhere(Sender::kAgent, container,
               [&](const Key& key, const Said&) { return registers && key.TellsAddress(); });
  } else if (std::holds_alternative<AgentRefused>(message)) {
    Close(Sender::kAgent, container);
  } else if (std::holds_alternative<EndAgent>(message)) {
    Close(Sender::kAgent, container, Saying::kRegisterAgent);
  } else if (const auto* seen = std::get_if<ReportSeen>(&message)) {
    const Saying saying =
        seen->kind == ReportKind::kProcessRunning ? Saying::kProcessRunning : Saying::kProcessEnded;
    answered_at_ = now_;
    answered_ = {.sender = Sender::kAgent,
                 .container = container,
                 .saying = saying,
                 .number = seen->attempt.value};
    CloseWhere(Sender::kAgent, container, [&](const Key& key, const Said&) {
      return key.saying == saying && key.number == seen->attempt.value;
    });
  } else if (const auto* news = std::get_if<NewsSeen>(&message)) {
    CloseWhere(Sender::kAgent, container, [&](const Key& key, const Said& said) {
      return key.saying == Saying::kNews && said.news == news->number;
    });
  }
}

// ---------------------------------------------------------------- the AM

void RepeatWatch::On(const trace::AmOrdered& fact) {
  const std::uint32_t job = fact.job.value;
  if (Am(fact.am_attempt, fact.resubmission) != am_[job]) return;  // One that has been replaced.
  if (const auto* send = std::get_if<SendToAgent>(&fact.action)) {
    Says(job, send->container, send->message);
  } else if (const auto* call = std::get_if<CallRm>(&fact.action)) {
    Calls(job, *call);
  } else if (const auto* node = std::get_if<CallNm>(&fact.action)) {
    if (const auto* stop = std::get_if<yarn::StopContainersRequest>(&node->request)) {
      for (const ContainerId& container : stop->containers) Close(Sender::kAm, container);
    }
  } else if (const auto* append = std::get_if<AppendJournal>(&fact.action)) {
    open_.erase(OfAm(job, Saying::kAppend, append->seq.value));
    storing_.insert(job);
  } else if (std::holds_alternative<ReadJournal>(fact.action)) {
    // Another attempt has taken its journal: first it reads what that one has written.
    for (auto& [key, said] : open_) {
      if (key.sender == Sender::kAm && key.job == job && key.saying == Saying::kAppend)
        said.last = now_;
    }
  } else if (const auto* ended = std::get_if<TaskAttemptEnded>(&fact.action)) {
    CloseOrders(ended->container, ended->process.attempt);
    ended_[job][ended->container] = ended->process.attempt;
  } else if (std::holds_alternative<VerdictReached>(fact.action)) {
    // Nothing starts any more.
    std::erase_if(open_, [&](const auto& entry) {
      return entry.first.job == job && entry.first.saying == Saying::kStartProcess;
    });
  } else if (std::holds_alternative<ExitAm>(fact.action)) {
    CloseAm(job);
  }
}

void RepeatWatch::Says(std::uint32_t job, const ContainerId& container, const AmToAgent& message) {
  Key key{.sender = Sender::kAm, .container = container, .job = job};
  if (const auto* start = std::get_if<StartProcess>(&message)) {
    key.saying = Saying::kStartProcess;
    key.number = start->process.attempt.value;
    idle_[job].erase(container);
    Open(key);
  } else if (const auto* stop = std::get_if<StopProcess>(&message)) {
    key.saying = Saying::kStopProcess;
    key.number = stop->attempt.value;
    const auto before = open_.find(key);
    const auto overdue = before == open_.end() ? std::nullopt : before->second.overdue;
    // Whether it runs is of no interest any more.
    CloseOrders(container, stop->attempt);
    // It waited for the journal, and the process was faster.
    const std::map<ContainerId, TaskAttempt>& ends = ended_[job];
    const auto ended = ends.find(container);
    if (ended != ends.end() && ended->second >= stop->attempt) return;
    // The same for one that never was, as its agent has told this AM since.
    if (idle_[job].contains(container)) return;
    Open(key);
    open_.at(key).overdue =
        std::min(overdue.value_or(Instant::max()), now_ + stop->grace + kStopSlack);
  } else if (std::holds_alternative<EndAgent>(message)) {
    Close(Sender::kAm, container);
    if (unregisters_.contains(job) || gone_.contains(container)) return;
    key.saying = Saying::kEndAgent;
    Open(key);
  } else if (std::holds_alternative<AgentRefused>(message)) {
    Close(Sender::kAm, container);
  }
}

void RepeatWatch::Calls(std::uint32_t job, const CallRm& call) {
  if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(call.request)) {
    Open(OfAm(job, Saying::kRegisterAm));
  } else if (std::holds_alternative<yarn::FinishApplicationMasterRequest>(call.request)) {
    Open(OfAm(job, Saying::kFinish));
    // What is still told to end is alone in its container, which the RM takes with the application.
    std::erase_if(open_, [&](const auto& entry) {
      return entry.first.job == job && entry.first.saying == Saying::kEndAgent;
    });
    unregisters_.insert(job);
  } else if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&call.request)) {
    for (const ContainerId& container : allocate->release) Close(Sender::kAm, container);
    // Open only once all calls that have told it are known to have failed.
    open_.erase(OfAm(job, Saying::kAllocate));
    if (!HasNews(*allocate)) return;
    Allocate& told = allocates_[job];
    if (told.response_id != allocate->response_id) told = {.response_id = allocate->response_id};
    told.calls.insert(call.call);
  }
}

void RepeatWatch::On(const trace::AmTold& fact) {
  const std::uint32_t job = fact.job.value;
  if (const auto* started = std::get_if<AmStarted>(&fact.event)) {
    CloseAm(job);
    storing_.erase(job);
    unregisters_.erase(job);
    allocates_.erase(job);  // Each attempt numbers its calls from the start.
    idle_.erase(job);
    am_[job] = {started->attempt.attempt, fact.resubmission};
    job_of_am_[started->container] = job;
  }
  if (Am(fact.am_attempt, fact.resubmission) != am_[job]) return;
  if (const auto* said = std::get_if<AgentSaid>(&fact.event)) {
    Hears(job, said->message);
  } else if (const auto* reply = std::get_if<RmReplied>(&fact.event)) {
    RmAnswers(job, *reply);
  } else if (std::holds_alternative<JournalAppended>(fact.event)) {
    storing_.erase(job);
  } else if (const auto* failed = std::get_if<JournalFailed>(&fact.event)) {
    if (failed->seq.value > 0) Open(OfAm(job, Saying::kAppend, failed->seq.value));
  }
}

void RepeatWatch::Hears(std::uint32_t job, const AgentToAm& message) {
  const ContainerId& container = FenceOf(message).container;
  const auto ran = [&](TaskAttempt attempt) {
    CloseWhere(Sender::kAm, container, [&](const Key& key, const Said&) {
      return key.saying == Saying::kStartProcess && key.number <= attempt.value;
    });
  };
  if (const auto* registers = std::get_if<RegisterAgent>(&message)) {
    if (registers->running) {
      ran(registers->running->attempt);
    } else {
      // What an AM before had written down, and this one stops, was never started.
      Close(Sender::kAm, container, Saying::kStopProcess);
      idle_[job].insert(container);
    }
    if (registers->ended) CloseOrders(container, registers->ended->attempt);
  } else if (const auto* running = std::get_if<ProcessRunning>(&message)) {
    ran(running->process.attempt);
  } else if (const auto* ended = std::get_if<ProcessEnded>(&message)) {
    CloseOrders(container, ended->process.attempt);
  }
}

void RepeatWatch::RmAnswers(std::uint32_t job, const RmReplied& reply) {
  const auto answered = [&](Saying saying) { open_.erase(OfAm(job, saying)); };
  if (const auto* error = std::get_if<yarn::RpcError>(&reply.response)) {
    // What the RM refuses is not said again as it was; what it did not hear is.
    if (error->code == yarn::RpcErrorCode::kUnavailable) {
      const auto news = allocates_.find(job);
      if (news != allocates_.end() && news->second.calls.erase(reply.call) > 0 &&
          news->second.calls.empty())
        Open(OfAm(job, Saying::kAllocate));
      return;
    }
    for (const Saying saying : {Saying::kRegisterAm, Saying::kAllocate, Saying::kFinish})
      answered(saying);
  } else if (std::holds_alternative<yarn::RegisterApplicationMasterResponse>(reply.response)) {
    answered(Saying::kRegisterAm);
  } else if (const auto* allocated = std::get_if<yarn::AllocateResponse>(&reply.response)) {
    for (const yarn::ContainerStatus& status : allocated->completed_containers)
      Close(Sender::kAm, status.id);
  } else if (std::holds_alternative<yarn::FinishApplicationMasterResponse>(reply.response)) {
    answered(Saying::kFinish);
  }
}

// ---------------------------------------------------------------- who stands still

namespace {

/// Messages take their time, or an AM stands still, or a NodeManager that is away does not see how
/// its agents and AMs end.
bool HoldsUpAgents(const config::FaultTraits& traits) {
  return traits.takes_nms_away || traits.delays_messages;
}
bool HoldsUpAms(const config::FaultTraits& traits) {
  return traits.stops_am || HoldsUpAgents(traits);
}

}  // namespace

void RepeatWatch::On(const trace::FaultBegan& fact) {
  const config::FaultTraits& traits = config::TraitsOf(fact.kind);
  if (HoldsUpAms(traits)) ams_.faults.insert({fact.fault, fact.instance});
  if (HoldsUpAgents(traits)) agents_.faults.insert({fact.fault, fact.instance});
}

void RepeatWatch::On(const trace::FaultEnded& fact) {
  for (HeldUp* held_up : {&ams_, &agents_}) {
    if (held_up->faults.erase({fact.fault, fact.instance}) > 0) held_up->until = now_;
  }
}

}  // namespace tfyarn::sim
