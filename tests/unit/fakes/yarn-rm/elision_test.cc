// Leaving out idle node heartbeats changes nothing: the RM grants and frees the same at the same
// instants.
#include <gtest/gtest.h>

#include "core/model/random_stream.h"
#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::elision_test {
namespace {

struct Outcome {
  std::vector<std::string> log;
  std::uint64_t beats = 0;
  std::uint64_t news = 0;
  std::size_t grants = 0;
};

class RandomScript {
 public:
  RandomScript(FakeCluster& cluster, std::uint64_t seed)
      : cluster_(cluster), random_(seed, "script") {}

  void Act() {
    const std::uint64_t draw = random_.Below(100);
    if (draw < 12) {
      Submit();
    } else if (draw < 45) {
      Ask();
    } else if (draw < 55) {
      AskForHosts();
    } else if (draw < 65) {
      Release();
    } else if (draw < 85) {
      ExitSome();
    } else if (draw < 90) {
      End();
    } else if (draw < 95) {
      Blacklist();
    } else {
      Preempt();
    }
  }

 private:
  void Submit() {
    if (apps_.size() > 25) return;
    yarn::SubmitApplicationRequest request;
    request.queue = random_.Below(2) == 0 ? "a" : "b";
    request.user = "user" + std::to_string(random_.Below(2));
    request.priority = static_cast<std::int32_t>(random_.Below(2));
    apps_.push_back(cluster_.Submit(request));
  }
  ScriptedAm* SomeAm() {
    if (apps_.empty()) return nullptr;
    const ApplicationId id = apps_[random_.Below(apps_.size())];
    return cluster_.HasAm(id) ? &cluster_.Am(id) : nullptr;
  }
  Resource SomeShape() {
    const std::uint64_t kind = random_.Below(4);
    if (kind == 0) return Amount(2, 1);
    if (kind == 1) return Amount(4, 2, 1);
    if (kind == 2) return Amount(8, 2, 4);
    return Amount(16, 4, 8);
  }
  void Ask() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr) return;
    yarn::ResourceRequest row = fakes::Ask(static_cast<std::int32_t>(random_.Below(9)), SomeShape(),
                                           1 + static_cast<std::int32_t>(random_.Below(3)));
    if (random_.Below(5) == 0) row.node_label_expression = "gpu";
    am->next.ask.push_back(row);
  }
  void AskForHosts() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr) return;
    const bool relax = random_.Below(2) == 0;
    const Resource shape = SomeShape();
    const std::uint64_t host = 1 + random_.Below(9);
    const auto count = static_cast<std::int32_t>(1 + random_.Below(3));
    const auto row = [&](const std::string& name, bool relaxed) {
      yarn::ResourceRequest r = fakes::Ask(count, shape, 5);
      r.resource_name = name;
      r.relax_locality = relaxed;
      r.allocation_request_id = static_cast<std::int64_t>(random_.Below(3));
      return r;
    };
    auto host_row = row("n" + std::to_string(host), true);
    auto rack_row = row(host % 2 == 0 ? "/r0" : "/r1", relax);
    auto any_row = row("*", relax);
    rack_row.allocation_request_id = any_row.allocation_request_id = host_row.allocation_request_id;
    am->next.ask.insert(am->next.ask.end(), {host_row, rack_row, any_row});
  }
  void Release() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr || am->granted.empty()) return;
    am->next.release.push_back(am->granted[random_.Below(am->granted.size())].id);
  }
  void ExitSome() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr || am->granted.empty()) return;
    const ContainerId id = am->granted[random_.Below(am->granted.size())].id;
    if (cluster_.Runs(id)) cluster_.Exit(id, static_cast<std::int32_t>(random_.Below(3)));
  }
  void End() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr) return;
    const std::uint64_t how = random_.Below(3);
    const ApplicationId id = am->attempt.application;
    if (how == 0) {
      (void)cluster_.CallRm({}, yarn::KillApplicationRequest{.application = id});
    } else if (how == 1) {
      cluster_.FinishAm(id, yarn::FinalApplicationStatus::kSucceeded);
    } else if (cluster_.Runs(am->container)) {
      cluster_.Exit(am->container, 1);
    }
  }
  void Blacklist() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr) return;
    const std::string host = "n" + std::to_string(1 + random_.Below(9));
    (random_.Below(2) == 0 ? am->next.blacklist_additions : am->next.blacklist_removals)
        .push_back(host);
  }
  void Preempt() {
    ScriptedAm* am = SomeAm();
    if (am == nullptr || am->granted.empty()) return;
    const ContainerId id = am->granted[random_.Below(am->granted.size())].id;
    cluster_.StepRm(PreemptContainer{.container = id,
                                     .notice = 1s * static_cast<std::int64_t>(random_.Below(3))});
  }

  FakeCluster& cluster_;
  RandomStream random_;
  std::vector<ApplicationId> apps_;
};

Outcome OutcomeOf(std::uint64_t seed, bool elide) {
  ClusterOptions options{
      .rm = {.queues = {{.path = "root.a", .capacity_permille = 600},
                        {.path = "root.b", .capacity_permille = 400, .max_capacity_permille = 700}},
             .preemption = seed % 2 == 0,
             .node_locality_delay = 5},
      .elide = elide};
  options.rm.queues[0].user_limit_factor_permille = 2000;
  FakeCluster cluster(options);
  for (int i = 1; i <= 9; ++i) {
    cluster.AddNode("n" + std::to_string(i), i <= 6 ? Amount(64, 16, 8) : Amount(32, 8),
                    i == 6 ? "gpu" : "", i % 2 == 0 ? "/r0" : "/r1", 97003us * i);
  }
  cluster.RunFor(3s);
  RandomScript script(cluster, seed);
  for (int step = 0; step < 400; ++step) {
    cluster.RunFor(317789us);
    script.Act();
  }
  cluster.RunFor(60s);
  Outcome outcome{
      .log = cluster.log(), .beats = cluster.node_beats, .news = cluster.news_for_nodes};
  for (const std::string& line : outcome.log)
    outcome.grants += line.find("granted") != std::string::npos ? 1 : 0;
  return outcome;
}

TEST(ElisionTest, TheSameIsGrantedAndFreedAtTheSameInstants) {
  std::uint64_t full_beats = 0;
  std::uint64_t elided_beats = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const Outcome full = OutcomeOf(seed, false);
    const Outcome elided = OutcomeOf(seed, true);
    ASSERT_GT(full.grants, 10U);
    const std::size_t lines = std::max(full.log.size(), elided.log.size());
    for (std::size_t i = 0; i < lines; ++i) {
      const std::string a = i < full.log.size() ? full.log[i] : "(end)";
      const std::string b = i < elided.log.size() ? elided.log[i] : "(end)";
      ASSERT_EQ(a, b) << "seed " << seed << " line " << i;
    }
    full_beats += full.beats;
    elided_beats += elided.beats;
  }
  EXPECT_LT(elided_beats, full_beats);
  RecordProperty("full_beats", std::to_string(full_beats));
  RecordProperty("elided_beats", std::to_string(elided_beats));
  std::printf("beats: %llu full, %llu elided\n", static_cast<unsigned long long>(full_beats),
              static_cast<unsigned long long>(elided_beats));
}

}  // namespace
}  // namespace tfyarn::fakes::elision_test
