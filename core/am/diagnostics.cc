#include "core/am/diagnostics.h"

#include <fmt/format.h>

#include "core/model/text.h"

namespace tfyarn::am {
namespace {

std::string CauseText(const Cause& cause) {
  std::string text = cause.task.type.empty() ? "the job" : ToString(cause.task);
  if (!cause.node.empty()) text += fmt::format(" on {}", cause.node);
  if (cause.exit) text += fmt::format(" ended with {}", *cause.exit);
  return text + fmt::format(" ({})", KebabName(cause.exit_class));
}

}  // namespace

std::string FailureText(const VerdictReached& verdict, const std::string& why) {
  std::string text;
  ExitClass exit_class = ExitClass::kUnknown;
  if (verdict.cause) {
    text = fmt::format("Cause: {}.", CauseText(*verdict.cause));
    exit_class = verdict.cause->exit_class;
    if (!verdict.cause->detail.empty() && verdict.cause->detail != why) {
      text += fmt::format(" Details: {}.", verdict.cause->detail);
    }
  }
  if (!why.empty()) text += fmt::format(" Why: {}.", why);
  text += fmt::format(" Rule: {}. {}", verdict.rule, AdviceFor(exit_class));
  return text;
}

std::string SuccessText(const std::string& rule, const std::string& why) {
  return fmt::format("Succeeded by {}{}{}.", rule, why.empty() ? "" : ": ", why);
}

std::string AdviceFor(ExitClass exit_class) {
  switch (exit_class) {
    case ExitClass::kOk:
    case ExitClass::kKilledByUs:
      return "Look at what the other tasks said.";
    case ExitClass::kUserPermanent:
      return "Look at the task's log; retries.user lets it try again.";
    case ExitClass::kUserRetryable:
      return "Raise retries.user if the program asks to be run again this often.";
    case ExitClass::kOom:
      return "Give the task more memory, or use on_exit with raise-memory.";
    case ExitClass::kSignalCrash:
      return "The program crashed: look at its log and core file.";
    case ExitClass::kKilledExternal:
      return "Something outside the job killed it: ask who, or raise retries.infrastructure.";
    case ExitClass::kPreempted:
      return "The queue took the container back: use another queue or priority.";
    case ExitClass::kNodeLost:
    case ExitClass::kNodeBad:
    case ExitClass::kHeartbeatLost:
      return "The cluster lost the node: submit again, or raise retries.infrastructure.";
    case ExitClass::kPortConflict:
      return "Another program took the task's port; submit again.";
    case ExitClass::kLaunchError:
      return "The container could not be started: look at files, archives and image.";
    case ExitClass::kTimeout:
      return "Raise the deadline if the task only needs longer; else look for a hang in its log.";
    case ExitClass::kAmLost:
      return "The ApplicationMaster was away too long: look at its log, or raise deadlines.orphan.";
    case ExitClass::kGangTimeout:
      return "The cluster had no room for the whole job in time: ask for less, or raise "
             "gang.deadline.";
    case ExitClass::kInfeasible:
      return "The cluster can never run this job as it is: ask for less, or another queue or "
             "label.";
    case ExitClass::kUnknown:
      return "Look at the task's log.";
  }
  return "";
}

}  // namespace tfyarn::am
