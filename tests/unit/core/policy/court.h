// A job reduced to its tasks' ends: feeds them to a Engine and carries out its decisions on
// counters, as the ApplicationMaster does, but without containers, messages or time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/policy/budgets.h"
#include "core/policy/engine.h"

namespace tfyarn::policy {

/// JobView over a table of tasks that a test changes at will.
class TableView : public JobView {
 public:
  TableView() = default;
  explicit TableView(const JobSpec& job, const Engine* engine = nullptr);
  [[nodiscard]] const std::vector<TypeCounts>& types() const override { return types_; }
  [[nodiscard]] TaskFacts FactsOf(std::size_t type, std::int32_t index) const override {
    return tasks_[type][static_cast<std::size_t>(index)];
  }
  TypeCounts& Type(const std::string& name);
  void End(const TaskId& task, bool ok);
  void EndIgnored(const TaskId& task);
  void Restart(const TaskId& task);
  void RestartAll();

 private:
  [[nodiscard]] TaskFacts& Facts(const TaskId& task);

  std::vector<TypeCounts> types_;
  std::vector<std::vector<TaskFacts>> tasks_;
};

/// "4 workers and a chief" of a policy.
[[nodiscard]] JobSpec MakeJob(std::string policy,
                              const std::vector<std::pair<std::string, int>>& types,
                              std::map<std::string, std::string> options = {});

/// A chief and three workers, and one of each type that has a name of its own.
extern const std::vector<std::pair<std::string, int>> kOneOfEachType;
/// Of these, with policy `default`. `user`: retries.user.
[[nodiscard]] JobSpec DefaultJob(Strategy strategy, int user = 0);
/// What the job's policy decides on an end while no other task has ended.
[[nodiscard]] Decision Ask(const JobSpec& job, const std::string& task, ExitClass exit_class,
                           std::optional<std::int32_t> exit = {});

/// One end, as a test writes it: "worker:1", class, exit.
struct End {
  std::string task;
  ExitClass exit_class = ExitClass::kOk;
  std::optional<std::int32_t> exit;
  bool ever_registered = true;
};

/// End with the process status `code`, classified as an agent's report.
[[nodiscard]] End Exits(std::string task, std::int32_t code);

class Court {
 public:
  explicit Court(const JobSpec& job);
  /// All of one step: decided one after another, judged once. Returns the last decision.
  Decision Hear(const std::vector<End>& ends);
  Decision Hear(const End& end) { return Hear(std::vector<End>{end}); }
  void Waive(const std::string& type);
  /// "unfinished", "succeeded" or "failed".
  [[nodiscard]] std::string status() const;
  [[nodiscard]] const std::string& rule() const { return rule_; }
  /// Of a verdict that was judged; "" of one that an end decided.
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] int gang_restarts() const { return gang_restarts_; }
  [[nodiscard]] int task_restarts() const { return task_restarts_; }
  /// Restarts in another container, asked for by the policy.
  [[nodiscard]] int moves() const { return moves_; }
  /// The rules of all restarts so far.
  [[nodiscard]] const std::vector<std::string>& restart_rules() const { return rules_; }
  /// Time passes.
  void Wait(Duration time) { now_ += std::chrono::duration_cast<StoredTime::duration>(time); }
  [[nodiscard]] const Engine& engine() const { return engine_; }

 private:
  void Carry(const End& end, const TaskId& task, const Decision& decision);
  void Apply(ExitAction action, const TaskId& task, bool ok, const std::string& rule);
  void Judge();
  [[nodiscard]] bool Pay(const Decision& decision, const TaskId& task);
  void Finish(JobStatus status, const std::string& rule);

  Engine engine_;
  TableView view_;
  Budgets budgets_;
  StoredTime now_{};
  std::vector<std::string> rules_;
  int moves_ = 0;
  std::optional<JobStatus> status_;
  std::string rule_;
  std::string why_;
  int gang_restarts_ = 0;
  int task_restarts_ = 0;
};

}  // namespace tfyarn::policy
