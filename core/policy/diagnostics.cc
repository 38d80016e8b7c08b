#include "core/policy/diagnostics.h"

#include <fmt/format.h>

#include <string_view>

#include "core/model/text.h"

namespace tfyarn::policy {
namespace {

constexpr std::size_t kLongestLine = 200;

/// The last line that says something, without the full stop that follows it anyway: of a Python
/// traceback it is the error. All of what a process wrote is the cause's detail.
std::string_view LastLine(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto last = text.find_last_not_of(kBlank);
  if (last == std::string_view::npos) return {};
  text = text.substr(0, last + 1);
  if (const auto line = text.rfind('\n'); line != std::string_view::npos)
    text.remove_prefix(line + 1);
  text.remove_prefix(text.find_first_not_of(kBlank));
  if (text.size() > kLongestLine) {
    std::size_t end = kLongestLine;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end);
  }
  if (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

/// `why` may say the same.
std::string CausePart(const Cause& cause, std::string_view why) {
  std::string text = fmt::format("Cause: {}.", CauseText(cause));
  if (cause.detail == why) return text;
  if (const auto line = LastLine(cause.detail); !line.empty())
    text += fmt::format(" Details: {}.", line);
  return text;
}

std::string RulePart(const std::string& rule) {
  return fmt::format(" Rule: {}. ", rule);
}

/// ", or raise retries.user", where that is what kept the task from starting again.
std::string OrRaise(const Tried& tried) {
  if (!tried.unpaid || tried.unpaid->empty()) return "";
  return fmt::format(", or raise {}", *tried.unpaid);
}

std::string AdviceForUserPermanent(const Tried& tried) {
  if (!tried.unpaid) return "Look at the task's log.";
  if (tried.restarts > 0) return "Look at the task's log: restarts did not help.";
  if (tried.unpaid->empty()) return "Look at the task's log.";
  return fmt::format("Look at the task's log; {} lets it try again.", *tried.unpaid);
}

std::string AdviceForOom(const Tried& tried) {
  if (tried.most_memory) return "Let the program use less memory: no container is larger.";
  if (tried.unpaid) return "Give the task more memory.";
  return "Give the task more memory, or use on_exit with raise-memory.";
}

}  // namespace

std::string CauseText(const Cause& cause) {
  const bool master = cause.exit_class == ExitClass::kAmLost;
  std::string text = !cause.task.type.empty() ? ToString(cause.task)
                     : master                 ? "the ApplicationMaster"
                                              : "the job";
  if (!cause.node.empty()) text += fmt::format(" on {}", cause.node);
  if (cause.exit) text += fmt::format(" ended with {}", *cause.exit);
  return text + fmt::format(" ({})", KebabName(cause.exit_class));
}

std::string FailureText(const VerdictReached& verdict, const std::string& why, const Tried& tried) {
  std::string text;
  if (verdict.cause) text = CausePart(*verdict.cause, why);
  if (!why.empty()) text += fmt::format(" Why: {}.", why);
  return text + RulePart(verdict.rule) + AdviceFor(verdict.cause.value_or(Cause{}), tried);
}

std::string SuccessText(const std::string& rule, const std::string& why) {
  return fmt::format("Succeeded by {}{}{}.", rule, why.empty() ? "" : ": ", why);
}

std::string WhyAlone(const std::string& diagnostics, const std::optional<Cause>& cause,
                     const std::string& rule) {
  if (!cause) return diagnostics;
  if (diagnostics == cause->detail) return "";
  std::string_view rest = diagnostics;
  const std::string with_details = CausePart(*cause, "");
  const std::string without = fmt::format("Cause: {}.", CauseText(*cause));
  if (rest.starts_with(with_details)) {
    rest.remove_prefix(with_details.size());
  } else if (rest.starts_with(without)) {
    rest.remove_prefix(without.size());
  } else {
    return diagnostics;
  }
  const std::string rule_part = RulePart(rule);
  const auto at = rest.rfind(rule_part);
  if (at == std::string_view::npos) return diagnostics;
  constexpr std::string_view kWhy = " Why: ";
  std::string_view why = rest.substr(0, at);
  if (why.starts_with(kWhy)) why.remove_prefix(kWhy.size());
  return fmt::format("{}{}{}", why, why.empty() ? "" : " ", rest.substr(at + rule_part.size()));
}

std::string AdviceFor(const Cause& cause, const Tried& tried) {
  const bool of_job = cause.task.type.empty();
  switch (cause.exit_class) {
    case ExitClass::kOk:
    case ExitClass::kKilledByUs:
      return "Look at what the other tasks said.";
    case ExitClass::kUserPermanent:
      return AdviceForUserPermanent(tried);
    case ExitClass::kUserRetryable:
      if (OrRaise(tried).empty()) return "Look at the task's log.";
      return fmt::format("Raise {} if the program asks to be run again this often.", *tried.unpaid);
    case ExitClass::kOom:
      return AdviceForOom(tried);
    case ExitClass::kSignalCrash:
      return "The program crashed: look at its log and core file.";
    case ExitClass::kKilledExternal:
      return fmt::format("Something outside the job killed it: find out what{}.", OrRaise(tried));
    case ExitClass::kPreempted:
      return "The queue took the container back: use another queue or priority.";
    case ExitClass::kNodeLost:
    case ExitClass::kNodeBad:
    case ExitClass::kHeartbeatLost:
      return fmt::format("The cluster lost the node: submit again{}.", OrRaise(tried));
    case ExitClass::kPortConflict:
      return "Another program took the task's port; submit again.";
    case ExitClass::kLaunchError:
      return "The container could not be started: look at files, archives and image.";
    case ExitClass::kTimeout:
      if (of_job)
        return "Raise the deadline if the job only needs longer; else look for a hang in its logs.";
      return "Look for a hang in its log; if the task only needs longer, raise the deadline or "
             "`watch`.";
    case ExitClass::kAmLost:
      if (of_job)
        return "Every attempt of the ApplicationMaster that am.attempts allows has ended: look at "
               "its log.";
      return "The ApplicationMaster was away too long: look at its log, or raise deadlines.orphan.";
    case ExitClass::kGangTimeout:
      return "The cluster had no room for the whole job in time: ask for less, or raise "
             "gang.deadline.";
    case ExitClass::kInfeasible:
      return "The cluster can never run this job as it is: ask for less, or another queue or "
             "label.";
    case ExitClass::kUnknown:
      return of_job ? "Look at the tasks' logs." : "Look at the task's log.";
  }
  return "";
}

}  // namespace tfyarn::policy
