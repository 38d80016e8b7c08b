#include "core/trace/sentence.h"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

#include "core/model/describe.h"
#include "core/model/port_use.h"
#include "core/model/visit.h"

namespace tfyarn::trace {
namespace {

template <class... T>
struct SaysNothing {
  template <class U>
  requires(std::is_same_v<T, U> || ...) std::string operator()(const U&) const { return ""; }
};

std::string TasksOf(const RestartDecided& decided) {
  return decided.tasks.size() == 1 ? ToString(decided.tasks.front())
                                   : fmt::format("{} tasks", decided.tasks.size());
}

std::string InWords(const RestartDecided& decided) {
  return fmt::format("restart of {} for {} ({})", TasksOf(decided),
                     decided.cause.task.type.empty() ? "the job" : ToString(decided.cause.task),
                     KebabName(decided.cause.exit_class));
}

}  // namespace

std::string SentenceOf(const AmAction& action) {
  return std::visit(
      Overloaded{SaysNothing<ReadJournal, AppendJournal, PublishAddress, CallRm, CallNm, CallHdfs,
                             SendToAgent>{},
                 [](const ExitAm& exit) { return fmt::format("the AM ends with {}", exit.code); },
                 [](const JobStateChanged& changed) {
                   return fmt::format("the job is {}", KebabName(changed.state));
                 },
                 [](const GangCompleted& gang) {
                   return fmt::format("the gang is complete: {} containers", gang.containers);
                 },
                 [](const GangReleased& gang) {
                   return fmt::format("{} containers of an incomplete gang are given back",
                                      gang.containers);
                 },
                 [](const SpecAssembled& spec) {
                   return fmt::format("epoch {} has its cluster spec", spec.epoch.value);
                 },
                 [](const TaskAttemptStarted& started) {
                   return fmt::format("{} runs, attempt {}", ToString(started.task),
                                      started.process.attempt.value);
                 },
                 [](const TaskAttemptEnded& ended) {
                   return fmt::format("{} attempt {} ended{} ({})", ToString(ended.task),
                                      ended.process.attempt.value,
                                      ended.exit ? fmt::format(" with {}", *ended.exit) : "",
                                      KebabName(ended.exit_class));
                 },
                 [](const RestartDecided& decided) { return InWords(decided); },
                 [](const RestartTakenOver& over) {
                   return InWords(over.decided) + ", which the AM before had decided";
                 },
                 [](const VerdictReached& verdict) {
                   return fmt::format("{}: {}", KebabName(verdict.status), verdict.diagnostics);
                 },
                 [](const NodesAwaited& nodes) -> std::string {
                   return nodes.limit.empty() ? "nodes are not waited for any more" : "";
                 },
                 [](const PortUseFound& found) { return PortUseInWords(found); },
                 [](const Note& note) { return note.text; }},
      action);
}

std::string SentenceOf(const Fact& fact) {
  return std::visit(
      Overloaded{[](const AmTold& told) -> std::string {
                   const auto* started = std::get_if<AmStarted>(&told.event);
                   if (started == nullptr) return "";
                   return fmt::format("AM attempt {} starts", started->attempt.attempt);
                 },
                 [](const AmOrdered& ordered) { return SentenceOf(ordered.action); },
                 [](const FaultBegan& fault) {
                   return fmt::format("fault {} strikes {}", fault.kind, fault.target);
                 },
                 [](const FaultEnded& fault) { return fmt::format("fault {} ends", fault.fault); },
                 [](const ApplicationEnded& ended) {
                   return fmt::format("{} ends {}", ToString(ended.application),
                                      KebabName(ended.final_status));
                 },
                 [](const InvariantBroken& broken) {
                   return fmt::format("invariant {} breaks: {}", broken.invariant, broken.detail);
                 },
                 [](const auto&) { return std::string(); }},
      fact);
}

}  // namespace tfyarn::trace
