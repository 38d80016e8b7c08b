// What was looked at before a job is submitted, and what came of it: lines that a newcomer
// understands, or objects for programs.
#pragma once

#include <string>
#include <vector>

namespace tfyarn::apps {

enum class CheckState {
  kOk,
  kNotChecked,  ///< What it would need is not there, or does not say.
  kWarning,     ///< Jobs run, but not as one might expect.
  kProblem,     ///< Jobs cannot run, or some of them.
};

struct Check {
  std::string subject;  ///< "queue root.default"
  CheckState state = CheckState::kOk;
  std::string text;    ///< What was found; one line.
  std::string advice;  ///< What to do; "" when there is nothing.
};

/// A line for each, and its advice below it.
[[nodiscard]] std::string RenderText(const std::vector<Check>& checks);
/// A list of {subject, state, text, advice}.
[[nodiscard]] std::string RenderJson(const std::vector<Check>& checks);
/// The worst of them; kOk without any. That something was not checked is no defect.
[[nodiscard]] CheckState WorstOf(const std::vector<Check>& checks);

}  // namespace tfyarn::apps
