// How fast gangs get their containers: ApplicationMasters and the fake ResourceManager under the
// capacity scheduler, on 10,000 nodes of which 70 % is taken, with gangs of 1 to 1,000 workers at
// once. Every node beats every second, nothing is skipped.
//
// Counted: all time of all machines, from the first submission until the last gang is complete, AM
// containers included. Not counted: registering the nodes and filling them. Agents are never
// started: this is about allocation. Usage: allocation_bench [REPEATS].
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "bench/job_world.h"
#include "bench/summary.h"
#include "core/model/check.h"
#include "fakes/yarn-rm/resource_manager.h"

namespace {

using namespace tfyarn;

constexpr std::int32_t kNodes = 10'000;
constexpr std::int64_t kSlotsPerNode = 16;
constexpr std::int64_t kFilled = kNodes * kSlotsPerNode * 7 / 10;
constexpr std::int32_t kGangSizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000};
constexpr int kRounds = 12;  // Every size once a round.

const Resource kSlot{.memory_mb = 4096, .vcores = 1, .gpus = 0, .others = {}};

class Cluster {
 public:
  Cluster() : rm_(Options(), 1) {
    for (std::int32_t i = 0; i < kNodes; ++i) {
      const NodeId node{.host = "node-" + std::to_string(i), .port = 8041};
      nodes_.push_back({.id = node, .response_id = 0});
      Call({.kind = fakes::CallerKind::kNm, .user = {}, .attempt = {}, .node = node},
           yarn::RegisterNodeManagerRequest{
               .node = node,
               .rack = "/r" + std::to_string(i % 50),
               .partition = {},
               // One slot more in memory: an AM or two fit beside a full node.
               .resource = {.memory_mb = 4096 * (kSlotsPerNode + 1),
                            .vcores = kSlotsPerNode + 4,
                            .gpus = 0,
                            .others = {}}});
    }
  }

  /// One application that is no AM of ours takes 70 % of the slots.
  void Fill() {
    const ApplicationId application = Submit(1);
    RunUntil([&] { return started_.contains(application); });
    const ApplicationAttemptId attempt{.application = application, .attempt = 1};
    const fakes::Caller caller{
        .kind = fakes::CallerKind::kAm, .user = {}, .attempt = attempt, .node = {}};
    (void)Call(caller, yarn::RegisterApplicationMasterRequest{.host = "filler"});
    yarn::AllocateRequest request;
    request.ask.push_back(
        {.priority = 1, .capability = kSlot, .num_containers = static_cast<std::int32_t>(kFilled)});
    std::int64_t got = 0;
    while (got < kFilled) {
      const auto response = Call(caller, request);
      const auto& allocated = std::get<yarn::AllocateResponse>(response);
      got += static_cast<std::int64_t>(allocated.allocated_containers.size());
      request = {.response_id = allocated.response_id};
      const Instant later = now_ + 1s;
      RunUntil([&] { return now_ >= later; });
    }
    started_.clear();
  }

  /// Submits all gangs, and runs until each is complete. Returns how many containers they are.
  std::int64_t Gangs() {
    std::int64_t containers = 0;
    std::map<ApplicationId, std::int32_t> sizes;
    for (int round = 0; round < kRounds; ++round) {
      for (const std::int32_t size : kGangSizes) {
        sizes[Submit(size)] = size;
        containers += size;
      }
    }
    std::size_t incomplete = sizes.size();
    std::set<ApplicationId> counted;
    RunUntil([&] {
      for (const ApplicationId& application : started_) StartAm(application, sizes.at(application));
      started_.clear();
      if (jobs_.size() < sizes.size()) return false;
      for (const auto& [application, job] : jobs_) {
        if (job->gang_complete() && counted.insert(application).second) --incomplete;
      }
      return incomplete == 0;
    });
    return containers;
  }

 private:
  struct Node {
    NodeId id;
    std::int32_t response_id = 0;
  };

  static fakes::RmOptions Options() {
    fakes::RmOptions options;
    options.queues = {};  // root.default has everything, AMs up to a tenth of it.
    return options;
  }

  yarn::RmResponse Call(const fakes::Caller& caller, yarn::RmRequest request) {
    yarn::RmResponse response;
    Step(
        fakes::RmCall{.id = ++calls_, .caller = caller, .token = {}, .request = std::move(request)},
        &response);
    return response;
  }

  void Step(const fakes::RmEvent& event, yarn::RmResponse* response) {
    std::vector<fakes::RmAction> actions;
    rm_.Step(now_, event, actions);
    for (fakes::RmAction& action : actions) {
      if (auto* reply = std::get_if<fakes::RmReply>(&action)) {
        if (response != nullptr) *response = std::move(reply->response);
      } else if (const auto* call = std::get_if<fakes::RmCallNm>(&action)) {
        StartAmContainer(*call);
      }
    }
  }

  void StartAmContainer(const fakes::RmCallNm& call) {
    const auto* start = std::get_if<yarn::StartContainersRequest>(&call.request);
    if (start == nullptr) return;
    yarn::StartContainersResponse response;
    for (const yarn::StartContainerRequest& one : start->containers) {
      response.succeeded.push_back(one.container);
      to_start_.push_back(one.container.application_attempt.application);
    }
    answers_.push_back({.id = call.id, .node = call.node, .response = std::move(response)});
  }

  ApplicationId Submit(std::int32_t workers) {
    const fakes::Caller client{
        .kind = fakes::CallerKind::kClient, .user = "bench", .attempt = {}, .node = {}};
    const auto fresh =
        std::get<yarn::GetNewApplicationResponse>(Call(client, yarn::GetNewApplicationRequest{}));
    yarn::SubmitApplicationRequest request{.application = fresh.application,
                                           .name = std::to_string(workers)};
    request.user = "bench";
    request.am_resource = {.memory_mb = 1024, .vcores = 1, .gpus = 0, .others = {}};
    const yarn::RmResponse response = Call(client, std::move(request));
    TF_CHECK(std::holds_alternative<yarn::SubmitApplicationResponse>(response));
    return fresh.application;
  }

  /// Every client asks before it submits.
  SharedList<yarn::NodeReport> NodesAsClientsSeeThem() {
    const fakes::Caller client{
        .kind = fakes::CallerKind::kClient, .user = "bench", .attempt = {}, .node = {}};
    return std::get<yarn::GetClusterNodesResponse>(Call(client, yarn::GetClusterNodesRequest{}))
        .nodes;
  }

  void StartAm(const ApplicationId& application, std::int32_t workers) {
    const ApplicationAttemptId attempt{.application = application, .attempt = 1};
    const fakes::Caller caller{
        .kind = fakes::CallerKind::kAm, .user = {}, .attempt = attempt, .node = {}};
    auto& description = descriptions_[workers];
    if (description == nullptr) description = bench::WorkersJob(workers);
    jobs_[application] = std::make_unique<bench::JobWorld>(
        now_,
        bench::JobWorldOptions{
            .job = description,
            .attempt = attempt,
            .rm = [this, caller](Instant, const yarn::RmRequest& r) { return Call(caller, r); },
            .nodes = [this] { return NodesAsClientsSeeThem(); },
            .agents = false});
    due_.insert({jobs_[application]->next_deadline().value_or(kNever), application});
  }

  /// Nodes beat one after the other, evenly over each second; AMs and the RM's own deadlines come
  /// when they are due.
  template <class Done>
  void RunUntil(Done done) {
    const Duration step = Duration(1s) / kNodes;
    while (!done()) {
      const Instant limit = now_ + 3600s;
      for (int i = 0; i < 256; ++i) {
        now_ += step;
        TF_CHECK(now_ < limit);
        Beat(nodes_[next_node_]);
        next_node_ = (next_node_ + 1) % nodes_.size();
        RunAms();
      }
    }
  }

  void Beat(Node& node) {
    const auto response =
        Call({.kind = fakes::CallerKind::kNm, .user = {}, .attempt = {}, .node = node.id},
             yarn::NodeHeartbeatRequest{.node = node.id, .response_id = node.response_id});
    node.response_id = std::get<yarn::NodeHeartbeatResponse>(response).response_id;
    if (const auto due = rm_.next_deadline(); due && *due <= now_)
      Step(fakes::RmDeadlineReached{}, nullptr);
    while (!answers_.empty()) {
      const fakes::NmAnswered answer = std::move(answers_.front());
      answers_.pop_front();
      Step(answer, nullptr);
    }
    for (const ApplicationId& application : std::exchange(to_start_, {}))
      started_.insert(application);
  }

  void RunAms() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const ApplicationId application = due_.begin()->second;
      due_.erase(due_.begin());
      bench::JobWorld& job = *jobs_.at(application);
      job.RunDue(now_);
      due_.insert({job.next_deadline().value_or(kNever), application});
    }
  }

  fakes::ResourceManager rm_;
  Instant now_{};
  std::uint64_t calls_ = 0;
  std::vector<Node> nodes_;
  std::size_t next_node_ = 0;
  std::deque<fakes::NmAnswered> answers_;
  std::vector<ApplicationId> to_start_;
  std::set<ApplicationId> started_;
  std::map<ApplicationId, std::unique_ptr<bench::JobWorld>> jobs_;
  std::map<std::int32_t, std::shared_ptr<const JobSpec>> descriptions_;
  std::set<std::pair<Instant, ApplicationId>> due_;
};

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  std::vector<double> rates;
  for (int i = 0; i < repeats; ++i) {
    Cluster cluster;
    cluster.Fill();
    const double start = bench::CpuNanoseconds();
    const std::int64_t containers = cluster.Gangs();
    const double seconds = (bench::CpuNanoseconds() - start) / 1e9;
    rates.push_back(static_cast<double>(containers) / seconds);
  }
  bench::PrintResult("allocation, 10,000 nodes 70 % full", "gangs of 1..1,000", "containers/s",
                     rates);
}
