// A kind of fault: what it does, whom it may strike, its parameters, and what others may ask about
// it. What a scenario may say, `tfsim faults` prints, the simulator and this machine carry out,
// checkers allow for and exploration draws.
//
// Each kind is a file in config/faults. How a kind is carried out is the simulator's (sim/faults)
// and the local host's; this is the contract: FaultSpec.numbers and .words have an entry for every
// parameter that was given or has a default here. Other code asks for a trait of a kind, and
// never compares its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/describe.h"
#include "core/model/time.h"

namespace tfyarn::config {

enum class FaultId : std::uint8_t;  // config/fault_id.h
class Decoder;
struct FaultSpec;
struct Node;

/// What a fault happens to; decides which selectors its `target` may be.
enum class FaultTarget {
  kNode,  ///< Nodes; {job, task} and {am} mean the node that holds it when the fault strikes.
  kTask,  ///< The container of a task, or of all tasks of a job.
  kJob,   ///< A job's client.
  kAm,    ///< A job's ApplicationMaster.
  kRm,
  kHdfs,
  kCaller,    ///< Whose messages: nodes, tasks, jobs, AMs; without a target the whole cluster's.
  kGroups,    ///< Takes no target: `between` names the groups.
  kRecorded,  ///< Takes neither target nor time: a file has nodes and times, and it strikes as
              ///< node_crash.
};
BOOST_DESCRIBE_ENUM(FaultTarget, kNode, kTask, kJob, kAm, kRm, kHdfs, kCaller, kGroups, kRecorded)

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

/// What must be there, besides what it names, for a fault to do something.
enum class FaultNeeds {
  kTarget,   ///< Nothing else; of nodes one that is up.
  kProcess,  ///< A process of the user's in the container.
  kRm,       ///< A ResourceManager that runs, wherever the target is.
  kSuspendedClient,
};

/// A trap does nothing when it strikes: it lies in wait for what comes.
enum class FaultTrap {
  kNone,
  kStart,    ///< A container that is started on the node.
  kProcess,  ///< A process of the task that starts.
  kMessage,  ///< A message of the target.
};

enum class RmOutage {
  kNone,
  kStandsStill,  ///< The RM answers nothing, and has all it had when it goes on.
  kRestarts,     ///< Its successor has what is stored and what nodes and AMs say again.
};

/// What those who judge a run, or look for the reason of what they see in it, may ask of a kind.
/// The defaults are of a fault of which nothing is known.
struct FaultTraits {
  /// It strikes single nodes or containers: it keeps no other job, node or daemon from
  /// ending, answering or cleaning up.
  bool strikes_only_its_target = false;
  /// It goes on for ever when no `for` ends it. Others without `for` are over when they have
  /// struck.
  bool goes_on_for_ever = false;
  /// Nothing reaches the AM, or nothing that it says, while it is under way.
  bool keeps_news_from_am = true;
  /// Nothing keeps an agent from being heard by the AM that there is.
  bool spares_agents = false;
  /// What else a node of the target holds is struck with it.
  bool strikes_what_nodes_hold = false;
  bool strikes_gpus = false;  ///< A node without GPUs has nothing to lose.
  bool takes_nodes_down = false;
  bool takes_nms_away = false;
  RmOutage rm = RmOutage::kNone;
  bool strikes_answers_of_rm = false;
  bool stops_am = false;         ///< An AM stands still, and goes on.
  bool stops_processes = false;  ///< They stand still, and do not end.
  bool loses_containers = false;
  bool delays_messages = false;
  bool strikes_by_chance = false;  ///< Which messages is drawn.
  bool slows_hdfs = false;         ///< So many times as the parameter `factor` says.
};

/// What this machine does where a job runs with real processes (hosts/local). On a YARN cluster no
/// fault is made: it is not ours to break.
enum class RealEffect {
  kNone,
  kKillAm,
  kStopAm,
  kKillAgent,
  kSignalProcess,
  kStopProcesses,
  kPreempt,
  kTakePort,
  kKillJob,
  kFillDisk,
};

struct RealFault {
  RealEffect effect = RealEffect::kNone;
  std::string why_not;  ///< Without an effect; continues "cannot be made real on one machine: ".
  /// What of the kind is for the simulator alone; the decoder is told. nullptr: nothing is.
  void (*check)(Decoder& decoder, const Node& node, const FaultSpec& fault) = nullptr;
};

/// What a healthy job pays for one, with the budgets that it has.
enum class FaultCost {
  kMore,      ///< It may end it: by design (client_kill, a limit in HDFS, memory), because the user
              ///< pays for it, or as it takes capacity away that another job may need.
  kRestarts,  ///< Restarts that infrastructure pays for.
  kTime,      ///< Nothing that runs is touched, and what is lost on the way is said again.
};

/// Members of a collective that cannot reach each other for 10 s end by themselves, with 1, and no
/// machine can tell that from an error of the program.
inline constexpr Duration kPeersWait = 8s;

/// How exploration draws it.
struct FaultDrawing {
  std::int64_t weight = 1;  ///< Beside other kinds; 0: never.
  /// It may stay so until the end of the run, ...
  bool may_stay = false;
  /// ... but takes a node away. YARN waits for ever for a node on which it can start an AM, so one
  /// must be left.
  bool takes_node = false;
  FaultCost cost = FaultCost::kMore;
  /// With longer ones a job does not survive, or pays more than time. 0 = as long as any.
  Duration longest_that_is_survived{};
  Duration longest_that_costs_time{};
  /// Where it must cost nothing but time it strikes a job that runs: what is being started, and
  /// what its node has not reported yet, ends by it.
  bool of_running = false;
  bool kills_am = false;
  /// What is launched while its node is not heard of ends with its AM, however long it has run.
  bool hides_launches = false;
  /// The same of a node that waits for an answer: an AM that may die is its only target.
  bool hides_launches_of_nodes = false;
  /// On each node of a rack, twice, or for a time, it is more than an AM has attempts.
  bool only_once = false;
  /// YARN starts no AM meanwhile, and fails an application whose AMs do not start.
  bool keeps_ams_from_starting = false;
};

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
  FaultNeeds needs = FaultNeeds::kTarget;
  FaultTrap trap = FaultTrap::kNone;
  FaultTraits traits;
  RealFault here;
  FaultDrawing drawing;
  FaultId id{};  ///< Set by FaultKinds.
};

/// By FaultId, which is the order of the documentation.
[[nodiscard]] const std::vector<FaultKind>& FaultKinds();
[[nodiscard]] const FaultKind& KindWith(FaultId id);
/// nullptr when there is no such kind.
[[nodiscard]] const FaultKind* FindFaultKind(std::string_view name);
/// Of a fault as a run's trace names it: also of one that no scenario can have.
[[nodiscard]] const FaultTraits& TraitsOf(std::string_view name);
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
