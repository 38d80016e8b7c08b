#include "apps/cli/exit_codes.h"

#include <fmt/format.h>

#include <array>

namespace tfyarn::cli {
namespace {

struct Row {
  ExitCode code;
  const char* meaning;
};

constexpr std::array kRows{
    Row{ExitCode::kOk, "ok"},
    Row{ExitCode::kInternal, "internal error, or a result could not be written"},
    Row{ExitCode::kUsage, "wrong usage: unknown option, missing argument"},
    Row{ExitCode::kInvalidInput, "invalid input; nothing was started"},
    Row{ExitCode::kCredentials, "on a cluster: it wants Kerberos, or refuses the user"},
    Row{ExitCode::kCluster, "on a cluster: it is unreachable or incompatible"},
    Row{ExitCode::kDeadline, "on a cluster: the job goes on after `wait --timeout`"},
    Row{ExitCode::kNothingSelected, "on a cluster: the selection is empty"},
    Row{ExitCode::kJobFailed, "a job failed, and no expectation names its status"},
    Row{ExitCode::kJobKilled, "a job was killed, and no expectation names its status"},
    Row{ExitCode::kExpectationFailed,
        "an expectation failed, or a job was unfinished at the horizon (the simulated end)"},
    Row{ExitCode::kInvariantBroken,
        "an invariant broke: a check that every run makes (docs/invariants.md)"},
    Row{ExitCode::kRunsDiffer, "two runs of one seed, or two compared results, differ"},
};

}  // namespace

std::string ExitCodesText() {
  std::string text;
  for (const Row& row : kRows) text += fmt::format("{:>5}  {}\n", ToInt(row.code), row.meaning);
  text +=
      "128+n  ended by signal n (130: interrupted with Ctrl-C; results so far are written and "
      "marked)\n";
  return text;
}

}  // namespace tfyarn::cli
