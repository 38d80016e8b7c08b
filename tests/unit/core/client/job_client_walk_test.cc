// Random walks: a JobClient between an RM and an HDFS that lose calls and answers, refuse, forget
// and repeat, and a user who may kill the job at any time. Services mend in the end, and then every
// job must end, cleanly and once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "core/client/job_client.h"
#include "core/model/random_stream.h"
#include "fakes/hdfs/name_node.h"

namespace tfyarn::client::job_client_walk_test {
namespace {

constexpr Duration kTroubled = 30min;  // Then all is well.

/// What the RM knows of one application.
struct Application {
  Instant runs_at{};
  Instant ends_at{};
  bool killed = false;
  bool fails = false;
};

using Seen = std::set<std::string>;

class Walk {
 public:
  Walk(std::uint64_t seed, Seen& seen)
      : random_(seed, "walk"), client_(Job(random_), Options(), seed), seen_(seen) {
    name_node_.SetQuota("/staging",
                        random_.Below(16) == 0 ? std::optional<std::int64_t>(0) : std::nullopt);
    queue_exists_ = random_.Below(16) != 0;
    if (random_.Below(2) == 0) kill_at_ = now_ + random_.Between(0s, 20min);
  }

  void Run() {
    Step(SubmitRequested{.user = "ann", .staging_directory = "/staging"});
    for (int i = 0; !exited_; ++i) {
      ASSERT_LT(i, 20'000) << "it never ends";
      Advance();
    }
    EXPECT_EQ(ended_, 1);
    EXPECT_EQ(client_.next_deadline(), std::nullopt);
    // Sixty seconds of cleaning are all there is; what was refused by a service in trouble may
    // stay.
    if (now_ > Instant{} + kTroubled + 2min) {
      EXPECT_LE(name_node_.directory_count(), 1) << "staging directories are left";
    }
    for (const auto& [id, application] : applications_) {
      EXPECT_TRUE(application.killed || application.ends_at <= now_)
          << ToString(id) << " is left running";
    }
  }

 private:
  static std::shared_ptr<const JobSpec> Job(RandomStream& random) {
    JobSpec job;
    job.name = "walk";
    job.retries.resubmit = static_cast<std::int32_t>(random.Below(3));
    return std::make_shared<const JobSpec>(job);
  }
  static ClientOptions Options() {
    ClientOptions options;
    options.job_file_size = 100;
    options.unreachable = 5min;
    options.hdfs_deadline = 5min;
    return options;
  }
  [[nodiscard]] bool troubled() { return now_ < Instant{} + kTroubled && random_.Below(3) == 0; }

  /// To the next thing that happens: an answer, the kill, or a deadline.
  void Advance() {
    Instant next = kNever;
    if (!answers_.empty()) next = answers_.begin()->first;
    if (kill_at_) next = std::min(next, *kill_at_);
    if (client_.next_deadline()) next = std::min(next, *client_.next_deadline());
    ASSERT_NE(next, kNever) << "nothing will ever happen";
    now_ = std::max(now_, next);
    if (kill_at_ && *kill_at_ <= now_) {
      kill_at_.reset();
      return Step(KillRequested{.reason = "walk"});
    }
    if (!answers_.empty() && answers_.begin()->first <= now_) {
      const ClientEvent event = answers_.begin()->second;
      answers_.erase(answers_.begin());
      return Step(event);
    }
    Step(DeadlineReached{});
  }

  void Step(const ClientEvent& event) {
    std::vector<ClientAction> actions;
    const ClientState before = client_.snapshot().state;
    client_.Step(now_, event, actions);
    const ClientState after = client_.snapshot().state;
    if (before != after)
      seen_.insert(fmt::format("{} {}", EnumeratorName(before), EnumeratorName(after)));
    for (const ClientAction& action : actions) {
      EXPECT_FALSE(exited_);
      std::visit([this](const auto& a) { Obey(a); }, action);
    }
    if (client_.next_decision()) {
      EXPECT_LE(client_.next_deadline().value(), *client_.next_decision());
    }
  }
  void Answer(ClientEvent event) {
    const Duration wait = random_.Between(1ms, troubled() ? 20s : 100ms);
    if (random_.Below(20) == 0)
      answers_.emplace(now_ + wait + random_.Between(0s, 5s), event);  // Twice.
    answers_.emplace(now_ + wait, std::move(event));
  }

  void Obey(const CallRm& call) {
    const bool lost = troubled();
    yarn::RmResponse response =
        yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable, .message = "lost"};
    if (!lost || random_.Below(2) == 0) {  // Half of what is lost is lost on the way back.
      yarn::RmResponse served =
          std::visit([this](const auto& request) { return Serve(request); }, call.request);
      if (!lost) response = std::move(served);
    }
    Answer(RmReplied{.call = call.call, .response = std::move(response)});
  }
  void Obey(const CallHdfs& call) {
    name_node_.set_down(troubled());
    name_node_.set_safe_mode(troubled());
    Answer(HdfsReplied{.call = call.call, .response = name_node_.Call(WallTime{}, call.request)});
  }
  void Obey(const ApplicationSubmitted&) {}
  void Obey(const ClusterFacts&) {}
  void Obey(const JobEnded& ended) {
    EXPECT_NE(ended.status, JobStatus::kUnfinished);
    ++ended_;
  }
  void Obey(const ExitClient&) { exited_ = true; }
  void Obey(const Note& note) { EXPECT_FALSE(note.text.empty()); }

  yarn::RmResponse Serve(const yarn::GetNewApplicationRequest&) {
    return yarn::GetNewApplicationResponse{
        .application = {.cluster_timestamp = 0, .id = ++last_id_}, .maximum_capability = {}};
  }
  yarn::RmResponse Serve(const yarn::GetClusterNodesRequest&) {
    return yarn::GetClusterNodesResponse{};
  }
  yarn::RmResponse Serve(const yarn::GetQueueInfoRequest&) {
    return yarn::GetQueueInfoResponse{
        .path = "root.default", .is_leaf = true, .exists = queue_exists_, .limits = {}};
  }
  yarn::RmResponse Serve(const yarn::SubmitApplicationRequest& request) {
    if (applications_.count(request.application) != 0) return yarn::SubmitApplicationResponse{};
    if (random_.Below(16) == 0) {
      return yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidLabelResourceRequest,
                            .message = "label"};
    }
    Application application;
    application.runs_at = now_ + (random_.Below(8) == 0 ? Duration(1h) : random_.Between(0s, 30s));
    application.ends_at = application.runs_at + random_.Between(0s, 30min);
    application.fails = random_.Below(2) == 0;
    applications_[request.application] = application;
    return yarn::SubmitApplicationResponse{};
  }
  yarn::RmResponse Serve(const yarn::GetApplicationReportRequest& request) {
    if (troubled() && random_.Below(50) == 0)
      applications_.erase(request.application);  // It restarts and forgets.
    const auto entry = applications_.find(request.application);
    if (entry == applications_.end()) {
      return yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationNotFound, .message = "who?"};
    }
    const Application& application = entry->second;
    yarn::ApplicationReport report{.application = request.application, .diagnostics = "walk"};
    if (application.killed) {
      report.state = yarn::YarnApplicationState::kKilled;
    } else if (now_ >= application.ends_at) {
      report.state = yarn::YarnApplicationState::kFinished;
      report.final_status = application.fails ? yarn::FinalApplicationStatus::kFailed
                                              : yarn::FinalApplicationStatus::kSucceeded;
    } else {
      report.state = now_ >= application.runs_at ? yarn::YarnApplicationState::kRunning
                                                 : yarn::YarnApplicationState::kAccepted;
    }
    return yarn::GetApplicationReportResponse{.report = report};
  }
  yarn::RmResponse Serve(const yarn::KillApplicationRequest& request) {
    const auto entry = applications_.find(request.application);
    if (entry == applications_.end()) {
      return yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationNotFound, .message = "who?"};
    }
    const bool done = now_ >= entry->second.ends_at || random_.Below(2) == 0;
    if (now_ < entry->second.ends_at && done) entry->second.killed = true;
    return yarn::KillApplicationResponse{.is_kill_completed = done};
  }
  template <class Other>
  yarn::RmResponse Serve(const Other&) {
    ADD_FAILURE() << "no call of a client";
    return yarn::RpcError{};
  }

  RandomStream random_;
  JobClient client_;
  Seen& seen_;
  fakes::NameNode name_node_{fakes::NameNodeOptions{}};
  Instant now_{};
  std::multimap<Instant, ClientEvent> answers_;
  std::map<ApplicationId, Application> applications_;
  std::optional<Instant> kill_at_;
  std::int32_t last_id_ = 0;
  bool queue_exists_ = true;
  int ended_ = 0;
  bool exited_ = false;
};

TEST(JobClientWalkTest, EveryJobEndsOnceAndLeavesNothingBehind) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk(seed, seen).Run();
    if (testing::Test::HasFailure()) return;
  }
  for (const Transition& row : JobClientTransitions()) {
    // What has no directory to delete passes through Cleaning within one step.
    const bool at_once =
        row.to == "Cleaning" && (row.from == "Obtaining" || row.from == "Surveying");
    const std::string change =
        fmt::format("{} {}", row.from, at_once ? std::string_view("Exited") : row.to);
    EXPECT_EQ(seen.count(change), 1U) << change << " never happened";
  }
}

}  // namespace
}  // namespace tfyarn::client::job_client_walk_test
