// Sequences of operations that a seed draws, as the lock-step of the fake ResourceManager has them
// (tests/lockstep), on a whole cluster behind Hadoop's ports: the model judges every answer.
//
//   yarn_contract --sequences N --seed S     N sequences; the I-th follows from S and I
#include "tests/contract/sequences.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "tests/contract/contract.h"
#include "tests/lockstep/world.h"

namespace tfyarn::contract {

SequenceOptions& Sequenced() {
  static SequenceOptions options;
  return options;
}

namespace {

using lockstep::Life;
using yarn::RpcErrorCode;

constexpr std::size_t kOperations = 60;
constexpr Duration kHeartbeats = 400ms;  ///< After which the ResourceManager has heard of a start.

class Sequences : public Contract {
 protected:
  class WireWorld;
};

class Sequences::WireWorld final : public lockstep::World {
 public:
  explicit WireWorld(Sequences& test) : test_(test) {
    for (const yarn::NodeReport& node : test_.Nodes())
      hosts_.push_back({node.node.host, {.rack = node.rack, .partition = node.partition}});
  }
  ~WireWorld() override {
    for (const auto& application : applications_) {
      if (!application->model.over()) Kill(*application);
    }
  }

  const std::vector<std::pair<std::string, lockstep::Place>>& hosts() const override {
    return hosts_;
  }
  std::string partition() const override { return "gpu"; }
  Resource unit() const override { return {.memory_mb = 200, .vcores = 1}; }

  void Submit(bool keep_containers, std::size_t) override {
    auto request = test_.Waiting();
    request.max_app_attempts = kMaxAttempts;
    request.keep_containers_across_application_attempts = keep_containers;
    auto slot = std::make_unique<Slot>(lockstep::Terms{.exact = false,
                                                       .keep_containers = keep_containers,
                                                       .minimum = {.memory_mb = 16, .vcores = 1},
                                                       .maximum = {.memory_mb = 2048, .vcores = 8},
                                                       .places = {hosts_.begin(), hosts_.end()}});
    slot->id = request.application;
    slot->am = test_.Run(request);
    slot->model.AttemptBegins(slot->am->attempt());
    applications_.push_back(std::move(slot));
  }

  void Register(lockstep::Application& application) override {
    const auto answer = AmOf(application).Register();
    application.model.Judge(answer);
  }

  void Allocate(lockstep::Application& application, const yarn::AllocateRequest& request) override {
    HandAm& am = AmOf(application);
    application.model.ReleasesAreKept(true);
    const auto answer = am.Allocate(request);
    if (answer) {
      for (const auto& [node, token] : answer->nm_tokens) am.nm_tokens[node] = token;
    }
    application.model.Judge(request, answer);
  }

  void Finish(lockstep::Application& application) override {
    application.model.Judge(AmOf(application).Finish());
  }

  void Start(lockstep::Application& application, const ContainerId& id) override {
    HandAm& am = AmOf(application);
    const auto& container = application.model.Find(id)->container;
    const auto token = am.nm_tokens.find(container.node);
    if (token == am.nm_tokens.end() || !application.model.attempt_runs()) return;
    const std::filesystem::path sign = FileOf("runs", id);
    const auto answer = am.Start(
        container,
        {"bash", "-c",
         fmt::format(": > {}; while [ ! -e {} ]; do sleep 0.05; done; exit "
                     "$(cat {})",
                     sign.string(), FileOf("end", id).string(), FileOf("end", id).string())});
    if (!answer || !answer->failed.empty()) return;
    test_.WaitUntil("a container's process", [&] { return std::filesystem::exists(sign); });
    RunFor(test_.io_, kHeartbeats);
    application.model.Runs(id);
  }

  void End(lockstep::Application& application, const ContainerId& id, std::int32_t code) override {
    const std::filesystem::path file = FileOf("end", id);
    std::ofstream(file.string() + ".new") << code;
    std::filesystem::rename(file.string() + ".new", file);
    application.model.Ends(id, code);
  }

  void EndAm(lockstep::Application& application, std::int32_t) override {
    auto& slot = static_cast<Slot&>(application);
    if (!slot.model.attempt_runs()) return;
    slot.am->KillProcess();
    test_.WaitUntil("the end of an attempt", [&] { return !Lives(slot); });
    ++slot.failures;
    if (slot.model.finishing() || slot.failures >= kMaxAttempts)
      return slot.model.ApplicationEnds();
    slot.model.AttemptEnds();
    ApplicationAttemptId next = slot.model.attempt();
    ++next.attempt;
    slot.am = test_.NextAm(next);
    slot.model.AttemptBegins(next);
  }

  void Kill(lockstep::Application& application) override {
    test_.WaitUntil("a kill", [&] {
      const auto answer = test_.AskClient<yarn::KillApplicationResponse>(
          yarn::KillApplicationRequest{.application = application.id});
      return !answer || answer->is_kill_completed;
    });
    auto& slot = static_cast<Slot&>(application);
    if (slot.model.finishing()) {
      slot.am->KillProcess();
      test_.WaitUntil("the end of an attempt", [&] { return !Lives(slot); });
    }
    application.model.ApplicationEnds();
  }

  void RestartRm() override {
    test_.subject_->StopRm();
    test_.subject_->StartRm();
    std::vector<std::pair<lockstep::Application*, ContainerId>> running;
    std::vector<std::pair<lockstep::Application*, lockstep::Held>> ended;
    for (const auto& application : applications_) {
      lockstep::AllocateModel& model = application->model;
      for (const auto& [id, held] : model.containers()) {
        if (held.life == Life::kRunning) running.emplace_back(application.get(), id);
        const bool untold = held.life == Life::kEnded || held.life == Life::kTold;
        if (untold && *held.statuses.rbegin() >= 0) ended.emplace_back(application.get(), held);
      }
      if (model.over()) continue;
      model.RmRestarts();
    }
    test_.WaitUntil("all nodes", [&] {
      const auto nodes =
          test_.AskClient<yarn::GetClusterNodesResponse>(yarn::GetClusterNodesRequest{});
      return nodes && nodes->nodes.size() == hosts_.size();
    });
    RunFor(test_.io_, kHeartbeats);
    for (const auto& application : applications_) AmOf(*application).Reconnect();
    for (const auto& [application, id] : running) application->model.Returns(id);
    for (const auto& [application, held] : ended)
      application->model.Ends(held.container.id, *held.statuses.rbegin());
  }

  /// Losing nodes takes as long as their expiry: the lock-step by hand does it.
  void TurnNode(std::size_t) override { Pass(1); }
  void Pass(std::size_t rounds) override { RunFor(test_.io_, 150ms * rounds); }
  void Special(lockstep::Draws& draws) override {
    if (applications_.empty()) return;
    AmOf(*draws.Of(applications_)).Reconnect();
  }

  /// Nothing but the models speaks here; AMs whose turn did not come are kept from expiring.
  std::vector<std::string> Check() override {
    for (const auto& application : applications_) (void)Lives(static_cast<Slot&>(*application));
    return {};
  }

  /// Beats until every end that is owed has been told.
  std::vector<std::string> Settle() {
    std::vector<std::string> missing;
    for (const auto& application : applications_) {
      lockstep::AllocateModel& model = application->model;
      if (!model.registered() || model.finishing() || model.over()) continue;
      const auto owed = [&] {
        const auto ids = model.In(Life::kEnded);
        return std::any_of(ids.begin(), ids.end(),
                           [&](const ContainerId& id) { return model.Find(id)->owed; });
      };
      const auto limit = std::chrono::steady_clock::now() + Patience();
      while (owed() && std::chrono::steady_clock::now() < limit && model.broken().empty()) {
        Pass(1);
        Allocate(*application, {.response_id = model.response_id()});
      }
      if (owed()) missing.push_back(ToString(application->id) + ": an end was never told");
      missing.insert(missing.end(), model.broken().begin(), model.broken().end());
    }
    return missing;
  }

 private:
  struct Slot : lockstep::Application {
    using Application::Application;
    std::unique_ptr<HandAm> am;
  };

  static HandAm& AmOf(lockstep::Application& application) {
    return *static_cast<Slot&>(application).am;
  }
  std::filesystem::path FileOf(const char* what, const ContainerId& id) const {
    return test_.folder_ / fmt::format("{}.{}", what, ToString(id));
  }
  /// Asked with an id that is refused: nothing is changed by it, and the AM counts as alive.
  static bool Lives(Slot& slot) {
    if (slot.model.over()) return false;
    const auto answer = slot.am->Allocate({.response_id = slot.model.response_id() + 7});
    return answer || (answer.error().code != RpcErrorCode::kApplicationAttemptNotFound &&
                      answer.error().code != RpcErrorCode::kInvalidToken);
  }

  Sequences& test_;
  std::vector<std::pair<std::string, lockstep::Place>> hosts_;
};

// Source: tests/lockstep/allocate_model.h, rule by rule.
TEST_F(Sequences, EveryAnswerIsOneThatTheModelAllows) {
  for (std::uint64_t i = 0; i < Sequenced().count; ++i) {
    const std::string bytes = lockstep::BytesOf(Sequenced().seed * 1'000'003 + i, 1024);
    lockstep::Draws draws(bytes);
    WireWorld world(*this);
    lockstep::Outcome outcome = lockstep::RunSequence(world, draws, kOperations);
    if (outcome.broken.empty()) outcome.broken = world.Settle();
    ASSERT_TRUE(outcome.broken.empty())
        << "sequence " << i << " of seed " << Sequenced().seed << "\n"
        << lockstep::ToText(outcome);
    ASSERT_FALSE(HasFatalFailure());
  }
}

}  // namespace
}  // namespace tfyarn::contract
