// The table of fault kinds: what each does, whom it may strike, its parameters. What a scenario may
// say, `tfsim faults` prints and the simulator carries out.
//
// How a kind is carried out is the simulator's; this table is its contract: FaultSpec.numbers and
// .words have an entry for every parameter that was given or has a default here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/scenario.h"

namespace tfyarn::config {

/// What a fault happens to; decides which selectors its `target` may be.
enum class FaultTarget {
  kNode,  ///< Nodes; {job, task} and {am} mean the node that holds it when the fault strikes.
  kTask,  ///< The container of a task, or of all tasks of a job.
  kJob,   ///< A job's client.
  kAm,    ///< A job's ApplicationMaster.
  kRm,
  kHdfs,
  kCaller,   ///< Whose messages: nodes, tasks, jobs, AMs; without a target everybody's.
  kNothing,  ///< Takes no target: partition has `between`, a trace its nodes.
};
BOOST_DESCRIBE_ENUM(FaultTarget, kNode, kTask, kJob, kAm, kRm, kHdfs, kCaller, kNothing)

enum class FaultParamKind {
  kWhole,     ///< numbers
  kNumber,    ///< numbers
  kDuration,  ///< numbers, seconds
  kBytes,     ///< numbers, bytes
  kBool,      ///< numbers, 0 or 1
  kSignal,    ///< numbers, the signal's number; words, its name
  kWord,      ///< words, one of choices
  kText,      ///< words
};
BOOST_DESCRIBE_ENUM(FaultParamKind, kWhole, kNumber, kDuration, kBytes, kBool, kSignal, kWord,
                    kText)

struct FaultParam {
  std::string name;
  FaultParamKind kind = FaultParamKind::kWhole;
  std::string
      default_text;  ///< As in a file; "" = none, and then the parameter is absent unless given.
  std::string doc;
  bool required = false;
  std::vector<std::string> choices;  ///< kWord.
  double least = 0;                  ///< kWhole, kNumber.
  double most = 1e9;
  double step = 0;  ///< kNumber: the value is a multiple of it; 0 = any.
};

enum class ForRule { kNever, kOptional, kRequired };
BOOST_DESCRIBE_ENUM(ForRule, kNever, kOptional, kRequired)

struct FaultKind {
  std::string name;
  std::string doc;
  FaultTarget target = FaultTarget::kNode;
  bool target_required = true;
  ForRule lasts =
      ForRule::kNever;  ///< Whether `for` applies; kOptional without `for` and default: for ever.
  std::string default_for;      ///< "" = none.
  bool armed_at_start = false;  ///< Without `at`, `when` and `every` it is there from the start.
  std::vector<FaultParam> params;
  std::string
      example;  ///< One line of a `faults:` list that decodes, for jobs a and nodes n-1 and up.
};

/// In the order of the documentation.
[[nodiscard]] const std::vector<FaultKind>& FaultKinds();
/// nullptr when there is no such kind, or not yet.
[[nodiscard]] const FaultKind* FindFaultKind(std::string_view name);
/// Kinds that a later version brings.
[[nodiscard]] const std::vector<std::string>& LaterFaultKinds();
/// The messages that drop, delay and duplicate know: names of core/model/channel.h, and calls of
/// core/model/yarn.h without "Request".
[[nodiscard]] const std::vector<std::string>& MessageNames();
/// Those that a fault can wait for with `when: {message: ...}`: of the job's own processes, and new
/// each time.
[[nodiscard]] const std::vector<std::string>& MomentMessageNames();
/// Names of JobState, in its order: `when: {job: ..., state: ...}`.
[[nodiscard]] const std::vector<std::string>& JobStateNames();
/// What a task comes into, in this order: `when: {job: ..., task: ..., state: ...}`.
[[nodiscard]] const std::vector<std::string>& TaskStateNames();
/// What `target` may be for a kind, for people: "a node, rack or label, ...".
[[nodiscard]] std::string TargetText(FaultTarget target);

}  // namespace tfyarn::config
