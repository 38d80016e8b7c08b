// The JobClient: stage a job, submit it, watch it, submit it again, kill it.
//
// One machine for one job, as long as its user waits. It judges only what it knows better than the
// AM: that a queue does not exist, that the AM can never start, that the application has ended and
// how. What the tasks do is the AM's. It does no I/O and knows no clock.
//
// Source of the steps: YarnClientImpl.submitApplication of hadoop-yarn-client (submission, the wait
// for acceptance, the second submission after an RM failover, the repeated kill).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/client.h"
#include "core/model/describe.h"
#include "core/model/job_spec.h"
#include "core/model/random_stream.h"
#include "core/model/time.h"
#include "core/model/transition.h"

namespace tfyarn::client {

/// Exit codes of the client process; those of the command line (`tfyarn help exit-codes`).
namespace exit_code {
inline constexpr std::int32_t kSucceeded = 0;
inline constexpr std::int32_t kRefused =
    3;  ///< Nothing was started: unknown queue, AM too large, refused.
inline constexpr std::int32_t kUnreachable =
    5;  ///< Before the submission RM or HDFS gave no answer for too long, or HDFS refused.
inline constexpr std::int32_t kFailed = 10;
inline constexpr std::int32_t kKilled = 11;
}  // namespace exit_code

/// Name of the job file in an application's staging directory.
inline constexpr const char* kJobFileName = "job.yaml";

/// Whether an AM's diagnostics give the class `infeasible`: a job that can never get its gang is
/// not submitted again. The class stands in the first parentheses of what an AM says about a
/// failure, "Cause: the job (infeasible). ...".
[[nodiscard]] bool NamesInfeasible(std::string_view diagnostics);

/// Why an application has ended: its diagnostics, or what is known where YARN gives none. "" for
/// one that succeeded and says nothing.
[[nodiscard]] std::string WhyEnded(const yarn::ApplicationReport& report);

struct ClientOptions {
  std::string job_file;  ///< Content of the job file; may be empty when only its size matters.
  std::int64_t job_file_size = 0;  ///< Bytes; at least that of `job_file`, or it counts as that.
  std::map<std::string, yarn::LocalResource>
      am_files;  ///< What else the AM's container needs, staged by the host.
  std::vector<std::string> am_command{
      "./tfyarn-am"};  ///< Plain words: the NM pastes them into a shell script.
  std::map<std::string, std::string>
      am_environment;  ///< Variables of the AM's container, beside those that core sets.
  /// Whether the NM brings the job file into the AM's container; else the AM fetches it.
  bool localize_job_file = true;
  /// Period of the report query: half of it is what a user waits too long for the end, and an RM
  /// answers thousands of such questions a second.
  Duration poll = 500ms;
  Duration retry_first = 1s;  ///< After a call that was not answered, with jitter; doubles.
  Duration retry_max = 30s;
  Duration unreachable =
      10min;  ///< Longest time without an answer of the RM before the submission.
  Duration hdfs_deadline = 10min;  ///< Longest time that staging is tried.
  std::optional<Duration> am_start =
      15min;  ///< From the submission, or the end of an AM, to the next that registers, where the
              ///< job's deadlines.am_start does not say; nullopt = for ever. Only an RM's word that
              ///< there is no AM ends it: the client goes on asking one that does not answer, and
              ///< an AM has 30 s to find it when it is back.
  Duration clean_up = 1min;  ///< Longest time that deleting the staging directory is tried.
};
BOOST_DESCRIBE_STRUCT(ClientOptions, (),
                      (job_file, job_file_size, am_files, am_command, am_environment,
                       localize_job_file, poll, retry_first, retry_max, unreachable, hdfs_deadline,
                       am_start, clean_up))

enum class ClientState {
  kNew,
  kObtaining,  ///< GetNewApplication.
  kSurveying,  ///< GetClusterNodes, then GetQueueInfo.
  kStaging,    ///< Mkdirs, then Create.
  kSubmitting,
  kWatching,
  kKilling,   ///< KillApplication is repeated; the report is still polled.
  kCleaning,  ///< Delete of the staging directory.
  kExited,    ///< Terminal.
};
BOOST_DESCRIBE_ENUM(ClientState, kNew, kObtaining, kSurveying, kStaging, kSubmitting, kWatching,
                    kKilling, kCleaning, kExited)

struct ClientSnapshot {
  ClientState state = ClientState::kNew;
  std::optional<ApplicationId> application;  ///< The current one; set once obtained.
  std::int32_t resubmission = 0;
  std::string application_directory;              ///< Of the current application.
  std::optional<Instant> submitted;               ///< When the RM took the current application.
  bool am_seen = false;                           ///< The current application was RUNNING.
  std::optional<yarn::ApplicationReport> report;  ///< The last one of the current application.
  bool kill_requested = false;
  JobStatus status = JobStatus::kUnfinished;  ///< Final once not kUnfinished.
  std::string diagnostics;
};
BOOST_DESCRIBE_STRUCT(ClientSnapshot, (),
                      (state, application, resubmission, application_directory, submitted, am_seen,
                       report, kill_requested, status, diagnostics))

/// What changes the state: the words of the transition table.
enum class ClientTrigger {
  kSubmitRequested,
  kApplicationObtained,
  kFactsGathered,
  kStaged,
  kSubmitted,
  kRefused,      ///< The job can never be submitted like this.
  kUnreachable,  ///< No answer for too long.
  kKillRequested,
  kAmTooLate,  ///< No AM, or no other, registered within deadlines.am_start.
  kForgotten,  ///< The RM does not know the application any more.
  kApplicationEnded,
  kResubmission,
  kCleaned,
};
BOOST_DESCRIBE_ENUM(ClientTrigger, kSubmitRequested, kApplicationObtained, kFactsGathered, kStaged,
                    kSubmitted, kRefused, kUnreachable, kKillRequested, kAmTooLate, kForgotten,
                    kApplicationEnded, kResubmission, kCleaned)

/// Every change of state there is.
[[nodiscard]] const std::vector<Transition>& JobClientTransitions();

class JobClient {
 public:
  /// `job`: not null. `seed`: of the jitter of retries.
  JobClient(std::shared_ptr<const JobSpec> job, ClientOptions options, std::uint64_t seed);

  /// Advances by one event. Appends what the host must do, in this order. `now` never goes back.
  /// The first event is SubmitRequested. After ExitClient every event is ignored.
  void Step(Instant now, const ClientEvent& event, std::vector<ClientAction>& actions);
  /// When the host must step with DeadlineReached at the latest; nullopt = nothing pending.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// The next deadline at which it would do more than ask for the report again.
  [[nodiscard]] std::optional<Instant> next_decision() const;
  [[nodiscard]] const ClientSnapshot& snapshot() const { return state_; }
  /// The answer to that report query, or to a later one, was heard: another changes nothing.
  [[nodiscard]] bool HasHeardLater(CallId poll) const { return poll <= last_answered_poll_; }

 private:
  using Actions = std::vector<ClientAction>;
  /// The one call besides polls that may be under way.
  enum class Operation {
    kNone,
    kNewApplication,
    kNodes,
    kQueue,
    kMkdirs,
    kCreate,
    kSubmit,
    kKill,
    kDelete
  };

  void On(Instant now, const SubmitRequested& event, Actions& actions);
  void On(Instant now, const KillRequested& event, Actions& actions);
  void On(Instant now, const RmReplied& event, Actions& actions);
  void On(Instant now, const HdfsReplied& event, Actions& actions);
  void On(Instant now, const DeadlineReached& event, Actions& actions);
  void On(Instant now, const HeartbeatsElided& event, Actions& actions);

  void Move(ClientState to, ClientTrigger trigger);
  void Obtain(Instant now, ClientTrigger trigger, Actions& actions);
  void Begin(Instant now, Operation operation, Actions& actions);
  void Issue(Actions& actions);
  void EndOperation();
  void RetryLater(Instant now, std::string reason, Actions& actions);
  void Poll(Instant now, Actions& actions);

  void OnOperationReply(Instant now, const yarn::RmResponse& response, Actions& actions);
  void OnOperationError(Instant now, const yarn::RpcError& error, Actions& actions);
  void OnPollReply(Instant now, const yarn::RmResponse& response, Actions& actions);
  void OnHdfsError(Instant now, const hdfs::HdfsError& error, Actions& actions);
  void Got(Instant now, const yarn::GetNewApplicationResponse& response, Actions& actions);
  void Got(Instant now, const yarn::GetClusterNodesResponse& response, Actions& actions);
  void Got(Instant now, const yarn::GetQueueInfoResponse& response, Actions& actions);
  void Got(Instant now, const yarn::SubmitApplicationResponse& response, Actions& actions);
  void Got(Instant now, const yarn::KillApplicationResponse& response, Actions& actions);
  void GatheredFacts(Instant now, Actions& actions);
  void OnForgotten(Instant now, Actions& actions);
  void OnEnded(Instant now, const yarn::ApplicationReport& report, Actions& actions);

  void ObeyKill(Instant now, Actions& actions);
  void GiveUpOnAm(Instant now, Actions& actions);
  void Kill(Instant now, ClientTrigger trigger, std::string reason, Actions& actions);
  void ApplicationFailed(Instant now, ClientTrigger trigger, std::string diagnostics,
                         Actions& actions);
  void Refuse(Instant now, std::string diagnostics, Actions& actions);
  void Conclude(Instant now, ClientTrigger trigger, JobStatus status, std::string diagnostics,
                std::int32_t code, Actions& actions);
  void Clean(Instant now, ClientTrigger trigger, Actions& actions);
  void Cleaned(Instant now, Actions& actions);

  [[nodiscard]] bool before_watching() const;
  [[nodiscard]] yarn::RmRequest SubmissionRequest() const;
  [[nodiscard]] std::optional<Duration> am_start_limit() const;
  [[nodiscard]] std::optional<Instant> am_start_deadline() const;

  std::shared_ptr<const JobSpec> job_;
  ClientOptions options_;
  RandomStream jitter_;
  ClientSnapshot state_;

  std::string user_;
  std::string staging_directory_;
  ClusterFacts facts_;
  hdfs::FileStatus staged_;      ///< The job file of the current application.
  bool directory_made_ = false;  ///< Of the current application; perhaps.
  /// Since the RM may have heard of the current application, or said that its AM no longer runs.
  std::optional<Instant> without_am_since_;

  CallId last_call_;
  Operation operation_ = Operation::kNone;
  std::optional<CallId> operation_call_;  ///< Under way.
  std::optional<Instant> next_try_;       ///< Of the operation while it is not under way.
  Duration retry_wait_{};
  Instant operation_started_{};

  std::optional<Instant> next_poll_;  ///< While the RM knows the application.
  std::optional<CallId> first_poll_;  ///< Of the current application.
  CallId last_poll_;
  /// The first that asks whether an AM has come after all, once deadlines.am_start is over.
  std::optional<CallId> overdue_poll_;
  bool rm_is_away_ = false;            ///< The latest poll got no answer.
  std::optional<Instant> rm_back_at_;  ///< When it answered one again.
  CallId last_answered_poll_;

  std::string kill_reason_;
  bool gave_up_on_am_ = false;
  std::string gave_up_because_;
  bool resubmit_ = false;  ///< After cleaning.
  std::int32_t exit_code_ = 0;
};

}  // namespace tfyarn::client
