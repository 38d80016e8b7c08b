// Gang allocation against a model RM, in seeded random order of events: whatever happens, we stay a
// good citizen (the model checks that), hold nothing for too long, lose track of nothing, and get
// there in the end.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/allocation/gang_allocator.h"
#include "core/allocation/rm_session.h"
#include "core/model/random_stream.h"
#include "core/placement/feasibility.h"
#include "tests/unit/core/allocation/rm_model.h"

namespace tfyarn::allocation::gang_allocator_property_test {
namespace {

constexpr Instant kStart{};
constexpr Duration kTick = 100ms;

struct Trouble {
  std::uint64_t lost_requests_percent = 0;
  std::uint64_t lost_answers_percent = 0;
  bool losses = false;    // containers end by themselves
  bool restarts = false;  // of the RM
  bool exclusions = false;
};

/// One job's allocator and session in front of the model.
class Job {
 public:
  Job(int number, RmModel& rm, GangAllocatorOptions options, Trouble trouble, std::uint64_t seed)
      : number_(number),
        rm_(rm),
        options_(options),
        gang_(options),
        trouble_(trouble),
        random_(seed, "job") {
    session_.Register({});
  }

  GangAllocator& gang() { return gang_; }
  RmSession& session() { return session_; }
  void EndTrouble() {
    trouble_ = {};
    SetExcluded({});
  }

  void Tick(Instant now) {
    now_ = now;
    Deliver();
    const GangTimeouts timeouts = gang_.OnTime(now);
    if (timeouts.given_back.has_value()) ++given_back_;
    if (timeouts.deadline_missed.has_value()) ++deadlines_missed_;
    if (trouble_.exclusions && random_.Below(200) == 0) Exclude();
    Settle();
    CheckInvariants();
  }

  void Want(const std::vector<SlotRequest>& slots, bool kept = false) {
    gang_.Want(now_, slots, kept);
    for (const SlotRequest& slot : slots) requests_[slot.task] = slot;
  }

  /// Everything that the RM thinks we have is a task's, or on its way to us or back.
  void ExpectNothingLeaked() {
    std::set<ContainerId> ours;
    for (const auto& [task, request] : requests_) {
      const yarn::Container* container = gang_.ContainerOf(task);
      if (container != nullptr) ours.insert(container->id);
    }
    for (const auto& [id, container] : rm_.live(number_))
      EXPECT_TRUE(ours.contains(id)) << ToString(id);
    EXPECT_EQ(ours.size(), rm_.live(number_).size());
  }

  int given_back() const { return given_back_; }
  int deadlines_missed() const { return deadlines_missed_; }
  bool constrained = false;

 private:
  struct Answer {
    Instant at{};
    RmReplied reply;
  };

  void Deliver() {
    std::vector<Answer> due;
    for (const Answer& answer : answers_) {
      if (answer.at <= now_) due.push_back(answer);
    }
    std::erase_if(answers_, [&](const Answer& answer) { return answer.at <= now_; });
    for (const Answer& answer : due) {
      waiting_ = waiting_ && std::holds_alternative<yarn::RpcError>(answer.reply.response);
      const RmNews news = session_.OnReplied(now_, answer.reply);
      if (news.allocated.has_value()) Take(*news.allocated);
    }
  }

  void Take(const yarn::AllocateResponse& response) {
    for (const yarn::ContainerStatus& status : response.completed_containers) {
      EXPECT_NE(gang_.OnCompleted(now_, status.id), CompletedContainer::kUsed);
    }
    std::set<TaskId> granted;
    for (const Grant& grant : gang_.OnAllocated(now_, response.allocated_containers)) {
      EXPECT_TRUE(granted.insert(grant.task).second);
      EXPECT_TRUE(granted_at_.emplace(grant.container.id, now_).second) << "granted twice";
      EXPECT_FALSE(excluded_.contains(grant.container.node.host));
    }
  }

  void Exclude() {
    const auto& nodes = rm_.inventory().nodes();
    std::set<std::string> hosts;
    if (random_.Below(2) == 0) hosts.insert(nodes[random_.Below(nodes.size())].id.host);
    SetExcluded(hosts);
  }

  void SetExcluded(const std::set<std::string>& hosts) {
    excluded_ = hosts;
    gang_.SetExcludedHosts(excluded_);
    session_.SetBlacklist(excluded_);
  }

  void Settle() {
    for (const ContainerId& container : gang_.TakeReleases()) {
      EXPECT_TRUE(released_.insert(container).second) << "released twice";
      session_.Release(container);
    }
    session_.SetAsks(gang_.asks());
    std::vector<AmAction> actions;
    session_.OnTime(now_, actions);
    for (const AmAction& action : actions) Carry(std::get<CallRm>(action));
  }

  void Carry(const CallRm& call) {
    if (const auto* allocate = std::get_if<yarn::AllocateRequest>(&call.request);
        allocate != nullptr) {
      // A repeated call is the same to the letter, even if a host was excluded in between.
      const bool again = allocate->response_id == latest_response_id_;
      latest_response_id_ = allocate->response_id;
      for (const yarn::ResourceRequest& row : allocate->ask) {
        EXPECT_FALSE(!again && row.num_containers > 0 && excluded_.contains(row.resource_name))
            << row.resource_name;
      }
    }
    waiting_ = true;
    const Duration latency = random_.Between(1ms, 300ms);
    if (random_.Below(100) < trouble_.lost_requests_percent) {
      if (random_.Below(2) == 0)
        answers_.push_back({now_ + latency, {call.call, yarn::RpcError{}}});
      return;
    }
    yarn::RmResponse response = rm_.Call(number_, call.request);
    if (random_.Below(100) < trouble_.lost_answers_percent) return;
    answers_.push_back({now_ + latency, {call.call, std::move(response)}});
  }

  void CheckInvariants() {
    std::int64_t asked = 0;
    for (const Ask& ask : gang_.asks()) {
      asked += ask.count;
      EXPECT_EQ(ask.hosts.empty(), ask.racks.empty());
      for (const AskHost& host : ask.hosts) EXPECT_FALSE(excluded_.contains(host.host));
    }
    EXPECT_LE(asked, static_cast<std::int64_t>(gang_.wanted_count()));
    if (!gang_.backing_off() && !constrained) {
      EXPECT_EQ(asked, static_cast<std::int64_t>(gang_.wanted_count()));
    }
    if (session_.everything_told() && rm_.registered(number_) && rm_.undelivered(number_) == 0 &&
        !waiting_) {
      EXPECT_EQ(rm_.outstanding(number_), asked);
    }
    const bool must_let_go = options_.gang.policy == GangPolicy::kAll && !gang_.complete();
    for (const auto& [task, request] : requests_) {
      const yarn::Container* container = gang_.ContainerOf(task);
      if (container == nullptr) continue;
      EXPECT_TRUE(FitsIn(request.resource, container->resource));
      if (must_let_go) {
        EXPECT_LT(now_ - granted_at_.at(container->id), options_.gang.hold);
      }
    }
  }

  int number_;
  RmModel& rm_;
  GangAllocatorOptions options_;
  GangAllocator gang_;
  RmSession session_;
  Trouble trouble_;
  RandomStream random_;
  Instant now_ = kStart;
  std::map<TaskId, SlotRequest> requests_;
  std::vector<Answer> answers_;
  std::map<ContainerId, Instant> granted_at_;
  std::set<ContainerId> released_;
  std::set<std::string> excluded_;
  int given_back_ = 0;
  int deadlines_missed_ = 0;
  std::int32_t latest_response_id_ = -1;
  bool waiting_ = false;  // for an answer, which may say what the RM has granted
};

placement::Inventory Cluster(int nodes, int racks, std::int64_t gpus) {
  std::vector<placement::Node> list;
  for (int i = 0; i < nodes; ++i) {
    const Resource size{.memory_mb = 1 << 16, .vcores = 64, .gpus = gpus};
    list.push_back({.id = {"n" + std::to_string(100 + i), 1},
                    .rack = "/r" + std::to_string(i % racks),
                    .capability = size,
                    .free = size});
  }
  return placement::Inventory(std::move(list));
}

std::vector<yarn::NodeReport> Reports(const placement::Inventory& inventory) {
  std::vector<yarn::NodeReport> reports;
  for (const placement::Node& node : inventory.nodes()) {
    reports.push_back({.node = node.id,
                       .rack = node.rack,
                       .state = yarn::NodeState::kRunning,
                       .capability = node.capability});
  }
  return reports;
}

SlotRequest Slot(const std::string& type, std::int32_t index, std::int32_t priority,
                 std::int64_t gpus, PlacementSpec placement = {}) {
  return {.task = {type, index},
          .resource = {.memory_mb = 1024, .vcores = 1, .gpus = gpus},
          .placement = std::move(placement),
          .priority = priority};
}

/// One tick of the model's nodes: each heartbeats once a second, at its own time.
void BeatNodes(RmModel& rm, Instant now) {
  const auto& nodes = rm.inventory().nodes();
  const auto tick = static_cast<std::size_t>(now.time_since_epoch() / kTick);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if ((tick + i) % 10 == 0) rm.Heartbeat(nodes[i].id);
  }
}

PlacementSpec DrawPlacement(RandomStream& random) {
  switch (random.Below(8)) {
    case 0:
      return {.spread = PlacementScope::kNode};
    case 1:
      return {.spread = PlacementScope::kRack};
    case 2:
      return {.pack_rack = true};
    case 3:
      return {.avoid = {"ps"}};
    default:
      return {};
  }
}

void RunToTheEnd(std::uint64_t seed, GangPolicy policy) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomStream random(seed, "allocator-property");
  RmModel rm(
      Cluster(3 + static_cast<int>(random.Below(6)), 1 + static_cast<int>(random.Below(3)), 4));
  const Trouble trouble{.lost_requests_percent = random.Below(10),
                        .lost_answers_percent = random.Below(10),
                        .losses = random.Below(2) == 0,
                        .restarts = random.Below(3) == 0,
                        .exclusions = random.Below(3) == 0};
  Job job(1, rm,
          {.gang = {.policy = policy, .deadline = 24h, .hold = 20s, .backoff = {1s, 10s}},
           .seed = seed},
          trouble, seed);
  job.gang().SetNodes(kStart, Reports(rm.inventory()));
  std::vector<SlotRequest> slots;
  const PlacementSpec placement = DrawPlacement(random);
  const auto workers = static_cast<std::int32_t>(1 + random.Below(3));
  for (std::int32_t i = 0; i < workers; ++i) slots.push_back(Slot("worker", i, 2, 1, placement));
  for (std::int32_t i = 0; i < 2; ++i) slots.push_back(Slot("ps", i, 1, 0));
  job.constrained = placement != PlacementSpec{};
  job.Want(slots);
  if (placement::FindInfeasible(job.gang().WantedGroups(), rm.inventory(), {}).has_value()) return;

  Instant now = kStart;
  const Instant calm = kStart + 120s;
  const Instant end = kStart + 600s;
  for (; now < end; now += kTick) {
    if (now == calm) job.EndTrouble();
    if (now < calm) {
      if (trouble.losses && random.Below(100) == 0 && !rm.live(1).empty()) {
        auto victim = rm.live(1).begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(random.Below(rm.live(1).size())));
        rm.Lose(1, ContainerId(victim->first));
      }
      if (trouble.restarts && random.Below(400) == 0) rm.Restart();
    }
    BeatNodes(rm, now);
    job.Tick(now);
    // What was lost on the wire before the calm is repeated by then.
    if (now > calm + 30s && job.gang().complete() && job.session().everything_told() &&
        rm.undelivered(1) == 0)
      break;
  }
  EXPECT_TRUE(job.gang().complete()) << job.gang().Missing();
  for (int i = 0; i < 30; ++i, now += kTick) job.Tick(now);
  job.ExpectNothingLeaked();
}

TEST(GangAllocatorPropertyTest, WithPolicyAllEveryGangThatFitsIsCompleteInTheEnd) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) RunToTheEnd(seed, GangPolicy::kAll);
}

TEST(GangAllocatorPropertyTest, WithoutAGangEveryContainerComesInTheEnd) {
  for (std::uint64_t seed = 1000; seed < 1050; ++seed) RunToTheEnd(seed, GangPolicy::kNone);
}

/// Two jobs of four workers each on four places; true when both had all of theirs within the hour.
bool TwoHalfGangs(std::uint64_t seed, GangPolicy policy) {
  RmModel rm(Cluster(4, 1, 1));
  std::vector<std::unique_ptr<Job>> jobs;
  for (int number = 1; number <= 2; ++number) {
    jobs.push_back(std::make_unique<Job>(
        number, rm,
        GangAllocatorOptions{
            .gang = {.policy = policy, .deadline = 24h, .hold = 20s, .backoff = {2s, 60s}},
            .seed = seed * 2 + static_cast<std::uint64_t>(number)},
        Trouble{}, seed));
  }
  std::set<int> done;
  Instant now = kStart;
  for (; now < kStart + 1h && done.size() < 2; now += kTick) {
    BeatNodes(rm, now);
    for (int i = 0; i < 2; ++i) {
      Job& job = *jobs[static_cast<std::size_t>(i)];
      // The second one starts while the first has half of what it needs.
      if (now == kStart + i * 200ms) {
        job.Tick(now);
        job.Want({Slot("worker", 0, 1, 1), Slot("worker", 1, 1, 1), Slot("worker", 2, 1, 1),
                  Slot("worker", 3, 1, 1)});
      }
      job.Tick(now);
      if (!job.gang().complete() || done.contains(i) || now < kStart + 1s) continue;
      done.insert(i);
      for (std::int32_t index = 0; index < 4; ++index) job.gang().Cancel(now, {"worker", index});
    }
  }
  return done.size() == 2;
}

TEST(GangAllocatorPropertyTest, TwoHalfGangsBothFinishWithPolicyAllAndSomeNeverDoWithHold) {
  int stuck = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(TwoHalfGangs(seed, GangPolicy::kAll)) << seed;
    stuck += !TwoHalfGangs(seed, GangPolicy::kHold);
  }
  EXPECT_GT(stuck, 0);
}

}  // namespace
}  // namespace tfyarn::allocation::gang_allocator_property_test
