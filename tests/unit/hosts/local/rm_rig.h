// A LocalRm with a node that only notes what it is told: no process is started.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/exit.h"
#include "core/model/text.h"
#include "hosts/local/local_rm.h"

namespace tfyarn::hosts {

class RmRig : public testing::Test {
 protected:
  static constexpr ApplicationId kApplication{.cluster_timestamp = 5, .id = 1};

  /// 8 GiB, 4 vcores; the AM's container takes 1 GiB and 1 vcore of it.
  static LocalRmOptions Options() {
    return {.node = {.host = "here", .port = 1},
            .rack = "/local",
            .capacity = {.memory_mb = 8192, .vcores = 4, .gpus = 1},
            .cluster_timestamp = 5,
            .am_expiry = 60s};
  }
  static ApplicationAttemptId Attempt(std::int32_t attempt) {
    return {.application = kApplication, .attempt = attempt};
  }
  static ContainerId IdOf(std::int32_t attempt, std::int64_t id) {
    return {.application_attempt = Attempt(attempt), .id = id};
  }
  static yarn::SubmitApplicationRequest Submission(std::int32_t attempts = 2, bool keep = true) {
    return {.application = kApplication,
            .am_container = {.command = {"./tfyarn-am"}},
            .am_resource = {.memory_mb = 1024, .vcores = 1},
            .max_app_attempts = attempts,
            .keep_containers_across_application_attempts = keep};
  }
  static yarn::ResourceRequest Row(std::int32_t count, const std::string& where = "*",
                                   bool relax = true,
                                   Resource unit = {.memory_mb = 1024, .vcores = 1}) {
    return {.priority = 1,
            .resource_name = where,
            .capability = std::move(unit),
            .num_containers = count,
            .relax_locality = relax};
  }

  // ---- as a client
  yarn::RmResponse User(const yarn::RmRequest& request) {
    return rm_.Answer(std::nullopt, request, now_);
  }
  void Submit(std::int32_t attempts = 2, bool keep = true) {
    EXPECT_EQ(ToText(User(Submission(attempts, keep))), "SubmitApplicationResponse{}");
    started_.insert(IdOf(1, 1));
  }
  yarn::ApplicationReport Report() {
    const auto response = User(yarn::GetApplicationReportRequest{.application = kApplication});
    return std::get<yarn::GetApplicationReportResponse>(response).report;
  }

  // ---- as the AM of an attempt
  yarn::RmResponse Am(std::int32_t attempt, const yarn::RmRequest& request) {
    return rm_.Answer(Attempt(attempt), request, now_);
  }
  yarn::RegisterApplicationMasterResponse Register(std::int32_t attempt = 1) {
    response_id_ = 0;
    const auto response = Am(attempt, yarn::RegisterApplicationMasterRequest{.host = "here"});
    const auto* registered = std::get_if<yarn::RegisterApplicationMasterResponse>(&response);
    EXPECT_NE(registered, nullptr) << ToText(response);
    return registered == nullptr ? yarn::RegisterApplicationMasterResponse{} : *registered;
  }
  yarn::AllocateResponse Allocate(std::vector<yarn::ResourceRequest> ask = {},
                                  std::vector<ContainerId> release = {}, std::int32_t attempt = 1) {
    const auto response = Am(attempt, yarn::AllocateRequest{.response_id = response_id_,
                                                            .ask = std::move(ask),
                                                            .release = std::move(release)});
    const auto* allocated = std::get_if<yarn::AllocateResponse>(&response);
    EXPECT_NE(allocated, nullptr) << ToText(response);
    if (allocated == nullptr) return {};
    response_id_ = allocated->response_id;
    return *allocated;
  }
  /// Asks and starts what is granted.
  std::vector<ContainerId> Run(std::vector<yarn::ResourceRequest> ask) {
    std::vector<ContainerId> ids;
    for (const yarn::Container& container : Allocate(std::move(ask)).allocated_containers) {
      started_.insert(container.id);
      ids.push_back(container.id);
    }
    return ids;
  }
  void Finish(std::int32_t attempt = 1) {
    const auto response = Am(attempt, yarn::FinishApplicationMasterRequest{
                                          .final_status = yarn::FinalApplicationStatus::kSucceeded,
                                          .diagnostics = "fine"});
    EXPECT_EQ(ToText(response), "FinishApplicationMasterResponse{is_unregistered=yes}");
  }

  // ---- as the node
  void End(ContainerId id, std::int32_t status, const std::string& why = "") {
    started_.erase(id);
    rm_.ContainerEnded(id, status, why, now_);
  }
  /// Everything that runs ends, as if it had been stopped.
  void EndAll(std::int32_t status = container_exit::kKilledAfterAppCompletion) {
    while (!started_.empty()) End(*started_.begin(), status);
  }
  /// What was ordered and seen since the last call.
  std::vector<std::string> Orders() { return std::exchange(orders_, {}); }
  [[nodiscard]] int Seen(const std::string& type) const {
    return static_cast<int>(seen_.count(type));
  }

  Instant now_{1000s};
  std::set<ContainerId> started_;  ///< What the node runs.
  std::vector<std::string> orders_;
  std::multiset<std::string> seen_;  ///< Types of the facts.
  std::int32_t response_id_ = 0;
  LocalRm rm_{Options(),
              {.launch_am =
                   [this](const ContainerId& id, const Resource&,
                          const yarn::ContainerLaunchContext& context) {
                     orders_.push_back("launch " + ToString(id) + " " + context.command.front());
                   },
               .stop =
                   [this](const ContainerId& id, std::int32_t status, const std::string&) {
                     if (!started_.contains(id)) return false;
                     orders_.push_back("stop " + ToString(id) + " " + std::to_string(status));
                     return true;
                   },
               .started = [this](const ContainerId& id) { return started_.contains(id); },
               .observe =
                   [this](const trace::Fact& fact) {
                     std::visit(
                         [this](const auto& one) {
                           seen_.emplace(TypeName<std::decay_t<decltype(one)>>());
                         },
                         fact);
                   }}};
};

}  // namespace tfyarn::hosts
