// The exit codes of tfsim and tfyarn: one for each outcome, the same for both, and never used for
// anything else.
#pragma once

#include <string>

namespace tfyarn::cli {

enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,      ///< A bug of ours, or a result that could not be written.
  kUsage = 2,         ///< The command line is wrong.
  kInvalidInput = 3,  ///< A file is wrong; nothing was started.
  kCredentials = 4,   ///< A daemon does not take who we say to be.
  kCluster = 5,       ///< Unreachable or incompatible.
  kDeadline = 6,      ///< The caller's own; the job goes on.
  kNothingSelected = 7,
  kJobFailed = 10,  ///< And no expectation names its status.
  kJobKilled = 11,  ///< And no expectation names its status.
  kExpectationFailed = 20,
  kInvariantBroken = 21,
  kRunsDiffer = 22,   ///< Two runs of one seed, or two things that were compared.
  kSignalBase = 128,  ///< 128 + n: ended by signal n.
};

[[nodiscard]] constexpr int ToInt(ExitCode code) {
  return static_cast<int>(code);
}

/// What `help exit-codes` prints.
[[nodiscard]] std::string ExitCodesText();

}  // namespace tfyarn::cli
