#include "tests/exhaustive/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/journal/journal.h"
#include "core/model/text.h"
#include "core/model/visit.h"
#include "oracles/reference_verdict.h"
#include "tests/exhaustive/arena.h"
#include "tests/exhaustive/books.h"

namespace tfyarn::exhaustive {
namespace {

std::string Spaced(std::string kebab) {
  for (char& c : kebab) c = c == '-' ? ' ' : c;
  return kebab;
}

std::string EndText(const ProcessExit& exit) {
  if (exit.code) return fmt::format("with {}", *exit.code);
  return fmt::format("by signal {}", exit.signal.value_or(0));
}

std::string Names(const std::vector<TaskId>& tasks) {
  std::vector<std::string> names;
  for (const TaskId& task : tasks) names.push_back(ToString(task));
  return fmt::format("{}", fmt::join(names, " "));
}

/// What an agent says, for people.
std::string Said(const AgentToAm& message) {
  return std::visit(Overloaded{
                        [](const RegisterAgent& m) {
                          std::string text = "registers";
                          if (m.running)
                            text += fmt::format(", attempt {} runs", m.running->attempt.value);
                          if (m.ended)
                            text += fmt::format(", attempt {} has ended {}", m.ended->attempt.value,
                                                m.exit ? EndText(*m.exit) : "");
                          return text;
                        },
                        [](const ProcessRunning& m) {
                          return fmt::format("says that attempt {} runs", m.process.attempt.value);
                        },
                        [](const ProcessEnded& m) {
                          return fmt::format(
                              "says that attempt {} has ended {}{}", m.process.attempt.value,
                              m.launch_error.empty() ? EndText(m.exit) : m.launch_error,
                              m.exit.stopped_by_agent ? ", on the AM's order" : "");
                        },
                        [](const auto& m) { return "says " + ToText(m); },
                    },
                    message);
}

std::string Said(const AmToAgent& message) {
  return std::visit(
      Overloaded{
          [](const AgentAccepted&) { return std::string("it is accepted"); },
          [](const AgentRefused& m) { return "it is refused: " + m.reason; },
          [](const StartProcess& m) {
            return fmt::format("start attempt {} in epoch {}", m.process.attempt.value,
                               m.process.epoch.value);
          },
          [](const StopProcess& m) {
            return fmt::format("stop attempt {} within {}", m.attempt.value, ToString(m.grace));
          },
          [](const WarnProcess& m) { return fmt::format("warn attempt {}", m.attempt.value); },
          [](const EndAgent&) { return std::string("end"); },
          [](const ReportSeen& m) {
            return fmt::format("{} of attempt {} was heard", Spaced(KebabName(m.kind)),
                               m.attempt.value);
          },
          [](const auto& m) { return ToText(m); },
      },
      message);
}

std::string Replied(const yarn::RmResponse& response) {
  const auto* allocated = std::get_if<yarn::AllocateResponse>(&response);
  if (allocated == nullptr) {
    if (const auto* error = std::get_if<yarn::RpcError>(&response))
      return fmt::format("the RM has not answered ({})", KebabName(error->code));
    return std::holds_alternative<yarn::RegisterApplicationMasterResponse>(response)
               ? "the RM registers it"
               : "the RM confirms the final status";
  }
  std::string text = "the RM answers";
  for (const yarn::Container& container : allocated->allocated_containers)
    text += fmt::format(", c{} is granted on {}", container.id.id, container.node.host);
  for (const yarn::ContainerStatus& status : allocated->completed_containers)
    text += fmt::format(", c{} has ended with {}", status.id.id, status.exit_status);
  for (const ContainerId& container : allocated->preempt_strict)
    text += fmt::format(", c{} will be taken", container.id);
  for (const yarn::NodeReport& node : allocated->updated_nodes)
    text += fmt::format(", {} is {}", node.node.host, KebabName(node.state));
  return text;
}

/// What the AM hears; empty: nothing worth a line.
std::string Heard(const AmEvent& event) {
  return std::visit(
      Overloaded{
          [](const AmStarted& e) { return fmt::format("starts as attempt {}", e.attempt.attempt); },
          [](const DeadlineReached&) { return std::string("a deadline has come"); },
          [](const JournalRead& e) {
            return fmt::format("reads {} entries in the journal",
                               journal::ReadJournalBytes(e.bytes).entries.size());
          },
          [](const JournalAppended& e) {
            return fmt::format("hears that entry {} is stored", e.seq.value);
          },
          [](const JournalFailed& e) {
            return fmt::format("hears that entry {} is not stored", e.seq.value);
          },
          [](const RmReplied& e) { return "hears: " + Replied(e.response); },
          [](const NmReplied& e) {
            const auto* error = std::get_if<yarn::RpcError>(&e.response);
            return fmt::format("hears: the NM on {} {}", e.node.host,
                               error == nullptr ? "has done it" : "is away");
          },
          [](const AgentSaid& e) {
            return fmt::format("hears: the agent of {} {}", ToString(FenceOf(e.message).task),
                               Said(e.message));
          },
          [](const auto&) { return std::string(); },
      },
      event);
}

std::string EntryText(const journal::JournalEntry& entry) {
  return std::visit(
      Overloaded{
          [](const journal::RestartPaid& e) {
            return fmt::format("RestartPaid ({}) for {}", KebabName(e.budget), Names(e.tasks));
          },
          [](const journal::TaskEnded& e) { return "TaskEnded " + ToString(e.task); },
          [](const journal::EpochBegan& e) {
            return fmt::format("EpochBegan {}", e.spec.epoch.value);
          },
          [](const journal::VerdictDecided& e) { return "VerdictDecided " + e.rule; },
          [](const auto& e) { return std::string(TypeName<std::decay_t<decltype(e)>>()); },
      },
      entry);
}

/// What the AM orders or says; empty: nothing worth a line.
std::string Ordered(const AmAction& action) {
  return std::visit(
      Overloaded{
          [](const CallRm& a) {
            if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(a.request))
              return std::string("registers with the RM");
            const auto* finish = std::get_if<yarn::FinishApplicationMasterRequest>(&a.request);
            if (finish != nullptr)
              return "tells the RM its final status: " + KebabName(finish->final_status);
            const auto* allocate = std::get_if<yarn::AllocateRequest>(&a.request);
            if (allocate == nullptr || yarn::IsIdle(*allocate)) return std::string();
            std::string text = "calls the RM";
            std::int32_t asks = 0;
            for (const yarn::ResourceRequest& row : allocate->ask)
              asks += row.resource_name == "*" ? row.num_containers : 0;
            if (asks > 0) text += fmt::format(", asks for {} containers", asks);
            for (const ContainerId& id : allocate->release)
              text += fmt::format(", gives back c{}", id.id);
            return text;
          },
          [](const CallNm& a) {
            const auto* start = std::get_if<yarn::StartContainersRequest>(&a.request);
            const ContainerId id =
                start != nullptr
                    ? start->containers.front().container
                    : std::get<yarn::StopContainersRequest>(a.request).containers.front();
            return fmt::format("tells {} to {} c{}", a.node.host,
                               start != nullptr ? "start" : "stop", id.id);
          },
          [](const SendToAgent& a) {
            return fmt::format("to the agent in c{}: {}", a.container.id, Said(a.message));
          },
          [](const ExitAm& a) { return fmt::format("ends with {}", a.code); },
          [](const RestartDecided& a) {
            return fmt::format("RESTART of {}, paid by {}, because {} is {}", Names(a.tasks),
                               KebabName(a.paid), ToString(a.cause.task),
                               KebabName(a.cause.exit_class));
          },
          [](const VerdictReached& a) {
            return fmt::format("VERDICT {} by {}", KebabName(a.status), a.rule);
          },
          [](const TaskAttemptEnded& a) {
            return fmt::format("counts {} attempt {} as {}", ToString(a.task),
                               a.process.attempt.value, KebabName(a.exit_class));
          },
          [](const Note& a) { return "notes: " + a.text; },
          [](const JobStateChanged& a) { return "is " + KebabName(a.state); },
          [](const auto&) { return std::string(); },
      },
      action);
}

class Teller : public World::Listener {
 public:
  explicit Teller(Told& told) : told_(&told) {}

  void OnMove(const World& world, const Move& move) override {
    if (move.kind == MoveKind::kTimePasses) return;
    const std::string text = world.TextOf(move);
    if (!text.empty()) Line(world.now(), text);
  }
  void OnRecord(const trace::TraceRecord& record) override {
    if (const auto* told = std::get_if<trace::AmTold>(&record.fact)) {
      const std::string text = Heard(told->event);
      if (!text.empty()) Line(record.at, "AM  " + text);
    } else if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
      const auto* append = std::get_if<AppendJournal>(&ordered->action);
      const std::string text = append != nullptr ? Appended(*append) : Ordered(ordered->action);
      if (!text.empty()) Line(record.at, "AM    " + text);
    }
  }

 private:
  void Line(Instant at, const std::string& text) {
    told_->lines.push_back(fmt::format("{:>8.3f} s  {}", SecondsOf(at), text));
  }
  std::string Appended(const AppendJournal& append) {
    journal_ += append.bytes;
    const std::vector<journal::ReadEntry> entries = journal::ReadJournalBytes(journal_).entries;
    std::string text = "appends";
    for (; entries_ < entries.size(); ++entries_) text += " " + EntryText(entries[entries_].entry);
    return fmt::format("{} as entry {}", text, append.seq.value);
  }

  Told* told_;
  std::string journal_;  ///< All that was to be appended.
  std::size_t entries_ = 0;
};

/// The reference model looks on.
class Referee : public World::Listener {
 public:
  explicit Referee(const Scope& scope) : model_(scope.LosesMail()) {
    model_.JobSubmitted(trace::JobIndex(0), scope.job);
  }
  void OnMove(const World& world, const Move& move) override {
    if (move.kind != MoveKind::kFault) return;
    // It is over at once; what it left behind is not.
    const trace::FaultBegan began{.kind = WordFor(move.fault)};
    model_.Observe({.at = world.now(), .fact = began});
    model_.Observe({.at = world.now(), .fact = trace::FaultEnded{}});
  }
  void OnRecord(const trace::TraceRecord& record) override { model_.Observe(record); }

  [[nodiscard]] oracles::ReferenceVerdict& model() { return model_; }

 private:
  /// As scenarios name it.
  static std::string WordFor(Fault fault) {
    switch (fault) {
      case Fault::kExit1:
      case Fault::kExit0:
        return "container_exit";
      case Fault::kKilled:
      case Fault::kAgentKilled:
        return "container_signal";
      case Fault::kContainerLost:
        return "container_lost";
      case Fault::kPreempted:
      case Fault::kPreemptedWithNotice:
        return "preempt";
      case Fault::kNodeLost:
        return "node_crash";
      case Fault::kAmKilled:
        return "am_crash";
      case Fault::kAppendFails:
      case Fault::kAppendUnanswered:
        return "hdfs_down";
      case Fault::kMessageLost:
      case Fault::kMessageRepeated:
        return "loss";
    }
    return "";
  }

  oracles::ReferenceVerdict model_;
};

/// Takes the path in a world that is in ordinary memory.
std::size_t Follow(World& world, const Path& path) {
  constexpr std::size_t kLongest = 5000;
  std::size_t taken = 0;
  for (; taken < kLongest; ++taken) {
    const std::span<const Move> moves = world.Moves();
    if (moves.empty()) break;
    const std::size_t choice = taken < path.size() ? path[taken] : 0;
    const Move move = moves[choice < moves.size() ? choice : 0];
    world.Take(move);
  }
  return taken;
}

}  // namespace

Told Tell(const Scope& scope, const Path& path) {
  const Arena::Leave leave;
  Told told;
  Teller teller(told);
  World world(scope, &teller);
  told.moves = Follow(world, path);
  told.broken = world.HowBroken();
  told.outcome = world.outcome();
  told.facts = world.facts();
  return told;
}

Judged JudgeByReference(const Scope& scope, const Path& path) {
  const Arena::Leave leave;
  Referee referee(scope);
  World world(scope, &referee);
  Follow(world, path);
  return {.broken = world.HowBroken(),
          .outcome = world.outcome(),
          .facts = world.facts(),
          .alarms = referee.model().TakeNew(),
          .decisions = referee.model().judged()};
}

// ---------------------------------------------------------------- moves

std::string World::TextOf(const Move& move) const {
  const std::size_t item = move.item;
  const auto of = [&](std::size_t container) {
    const Container& one = containers_[container];
    if (one.task < 0) return fmt::format("c{}", container + 1);
    return fmt::format("{} (c{})", ToString(TaskOf(*scope_.job, one.task)), container + 1);
  };
  const auto mail = [&]() -> std::string {
    const Mail& what = mail_[item];
    if (const auto* event = std::get_if<AmEvent>(&what.what)) return "to the AM: " + Heard(*event);
    return fmt::format("to the agent of {}: {}", of(static_cast<std::size_t>(what.container)),
                       Said(std::get<AmToAgent>(what.what)));
  };
  switch (move.kind) {
    case MoveKind::kAmStarts:
    case MoveKind::kAmTimer:
      return "";  // Its own account follows.
    case MoveKind::kDelivered:
      return std::holds_alternative<AmEvent>(mail_[item].what)
                 ? ""
                 : "agent of " + of(static_cast<std::size_t>(mail_[item].container)) +
                       " hears: " + Said(std::get<AmToAgent>(mail_[item].what));
    case MoveKind::kStored:
      return fmt::format("the journal stores up to entry {}", append_->order.seq.value);
    case MoveKind::kEnds:
      return fmt::format(
          "the process of {} {}", of(item),
          containers_[item].process.told_to_end ? "ends as it was told" : "has done its work: 0");
    case MoveKind::kPeerless:
      return fmt::format("the process of {} cannot go on without its peer: 1", of(item));
    case MoveKind::kTaken:
      return fmt::format("the RM takes the container of {}", of(item));
    case MoveKind::kNodeGivenUp:
      return fmt::format("the RM gives up the node of {}", of(item));
    case MoveKind::kAgentTimer:
      return fmt::format("a deadline of the agent of {} has come", of(item));
    case MoveKind::kTimePasses:
      return "time passes";
    case MoveKind::kFault:
      break;
  }
  const std::string name = "FAULT  " + Spaced(KebabName(move.fault));
  switch (move.fault) {
    case Fault::kMessageLost:
    case Fault::kMessageRepeated:
      return name + " " + mail();
    case Fault::kAmKilled:
    case Fault::kAppendFails:
    case Fault::kAppendUnanswered:
      return name;
    case Fault::kExit1:
    case Fault::kExit0:
    case Fault::kKilled:
    case Fault::kContainerLost:
    case Fault::kPreempted:
    case Fault::kPreemptedWithNotice:
    case Fault::kAgentKilled:
    case Fault::kNodeLost:
      return name + ": " + of(item);
  }
  return name;
}

}  // namespace tfyarn::exhaustive
