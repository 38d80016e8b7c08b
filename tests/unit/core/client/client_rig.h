// A JobClient at the bench, with an RM and HDFS that answer what a test tells them to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/client/job_client.h"
#include "core/model/text.h"

namespace tfyarn::client {

inline constexpr Instant kStart = Instant{} + 1000s;
inline constexpr ApplicationId kFirst{.cluster_timestamp = 0, .id = 7};

inline JobSpec Mnist() {
  JobSpec job;
  job.name = "mnist";
  job.queue = "ml";
  job.am.attempts = 3;
  return job;
}

/// Instants are given relative to kStart; actions come back as texts, of calls only the request.
class ClientRig {
 public:
  /// Whole seconds are easier to count in.
  static ClientOptions Options() {
    ClientOptions options;
    options.poll = 1s;
    return options;
  }

  explicit ClientRig(JobSpec job = Mnist(), ClientOptions options = Options(),
                     std::uint64_t seed = 1)
      : client_(std::make_shared<const JobSpec>(std::move(job)), std::move(options), seed) {}

  std::vector<std::string> Tell(Duration at, const ClientEvent& event) {
    std::vector<ClientAction> actions;
    client_.Step(kStart + at, event, actions);
    std::vector<std::string> texts;
    for (const ClientAction& action : actions) {
      if (const auto* call = std::get_if<CallRm>(&action)) {
        rm_calls_.push_back(*call);
        texts.push_back(ToText(call->request));
      } else if (const auto* hdfs_call = std::get_if<CallHdfs>(&action)) {
        hdfs_calls_.push_back(*hdfs_call);
        texts.push_back(ToText(hdfs_call->request));
      } else {
        texts.push_back(ToText(action));
      }
    }
    return texts;
  }
  /// Answers the latest call.
  std::vector<std::string> Rm(Duration at, yarn::RmResponse response) {
    return Tell(at, RmReplied{.call = rm_calls_.back().call, .response = std::move(response)});
  }
  std::vector<std::string> RmFails(Duration at, yarn::RpcErrorCode code) {
    return Rm(at, yarn::RpcError{.code = code, .message = "why"});
  }
  std::vector<std::string> Hdfs(Duration at, hdfs::HdfsResponse response) {
    return Tell(at, HdfsReplied{.call = hdfs_calls_.back().call, .response = std::move(response)});
  }
  std::vector<std::string> HdfsFails(Duration at, hdfs::HdfsErrorCode code) {
    return Hdfs(at, hdfs::HdfsError{.code = code, .message = "why"});
  }
  /// What the submission needs, which a host stages before it asks the RM.
  std::vector<std::string> SubmissionFailsInHdfs(Duration at, hdfs::HdfsErrorCode code) {
    return Tell(at, HdfsReplied{.call = rm_calls_.back().call,
                                .response = hdfs::HdfsError{.code = code, .message = "why"}});
  }
  std::vector<std::string> Submit(Duration at = 0s) {
    return Tell(at, SubmitRequested{.user = "ann", .staging_directory = "/user/ann/.tfyarn/"});
  }
  std::vector<std::string> Obtained(Duration at, ApplicationId id = kFirst) {
    return Rm(at,
              yarn::GetNewApplicationResponse{
                  .application = id,
                  .maximum_capability = {.memory_mb = 8192, .vcores = 4, .gpus = 0, .others = {}}});
  }
  /// From a new application to the first call to HDFS.
  std::vector<std::string> Survey(Duration at, ApplicationId id = kFirst) {
    (void)Obtained(at, id);
    (void)Rm(at, yarn::GetClusterNodesResponse{});
    return Rm(at, yarn::GetQueueInfoResponse{
                      .path = "root.ml", .is_leaf = true, .exists = true, .limits = {}});
  }
  /// From a new application to the submission call.
  std::vector<std::string> Stage(Duration at, ApplicationId id = kFirst) {
    (void)Survey(at, id);
    (void)Hdfs(at, hdfs::Done{});
    return Hdfs(at,
                hdfs::FileStatus{
                    .path = "/job.yaml", .directory = false, .size = 5, .modification_time = 77});
  }
  /// Submitted at `at`, watching.
  void Watch(Duration at = 0s) {
    (void)Submit(at);
    (void)Stage(at);
    (void)Rm(at, yarn::SubmitApplicationResponse{});
  }
  std::vector<std::string> Report(
      Duration at, yarn::YarnApplicationState state,
      yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined,
      std::string diagnostics = "", ApplicationId id = kFirst) {
    yarn::GetApplicationReportResponse response;
    response.report.application = id;
    response.report.state = state;
    response.report.final_status = final_status;
    response.report.diagnostics = std::move(diagnostics);
    return Rm(at, response);
  }
  std::vector<std::string> RunTo(Duration until) {
    std::vector<std::string> all;
    while (deadline() && *deadline() <= until) {
      const Duration at = *deadline();
      for (std::string& text : Tell(at, DeadlineReached{}))
        all.push_back(ToString(at) + " " + text);
    }
    return all;
  }
  [[nodiscard]] std::optional<Duration> deadline() const {
    const auto at = client_.next_deadline();
    return at ? std::optional<Duration>(*at - kStart) : std::nullopt;
  }
  [[nodiscard]] std::optional<Duration> decision() const {
    const auto at = client_.next_decision();
    return at ? std::optional<Duration>(*at - kStart) : std::nullopt;
  }
  [[nodiscard]] const ClientSnapshot& state() const { return client_.snapshot(); }
  [[nodiscard]] const std::vector<CallRm>& rm_calls() const { return rm_calls_; }

 private:
  JobClient client_;
  std::vector<CallRm> rm_calls_;
  std::vector<CallHdfs> hdfs_calls_;
};

}  // namespace tfyarn::client
