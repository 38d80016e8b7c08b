// The parts of a drawn job, and what they need of each other. Private to job_drawer.cc (task types,
// deadlines), job_rules.cc (budgets, policies, rules) and job_workload.cc (what processes do).
#pragma once

#include <cstdint>
#include <string>

#include "core/policy/table.h"
#include "explore/job_drawer.h"

namespace tfyarn::explore {

class JobDrawer {
 public:
  JobDrawer(Draw& draw, const Swarm& swarm, const JobSurroundings& around, std::string name);
  DrawnJob Finish();

 private:
  [[nodiscard]] bool Some(bool feature, int chance) { return feature && draw_.Percent(chance); }
  [[nodiscard]] bool wild() const { return !around_.healthy; }

  // ---- job_drawer.cc
  void AddType(const std::string& name, std::int64_t instances);
  void DrawTasks();
  void LetAgentsRegister();
  void DrawDeadlines();
  void DrawGang();
  void DrawAm();
  void DrawHeartbeat();
  [[nodiscard]] Duration Bound() const;
  const std::string& AnyType() { return draw_.Of(job_.sketch.types).name; }
  /// For a rule: what happens aims at it.
  const std::string& NamedType();
  std::string AnyTask();

  // ---- job_rules.cc
  void DrawBudgets();
  void DrawRules();
  void DrawPolicy();
  void DrawPolicyByItsTable();
  [[nodiscard]] Node DrawOption(const policy::OptionRow& option);
  void DrawSuccess();
  void DrawWatch();
  void DrawDependency();
  [[nodiscard]] Node ExitRule();

  // ---- job_workload.cc
  void DrawTraining();
  std::int64_t AnyExit();
  [[nodiscard]] Node SomeTime();
  [[nodiscard]] Node Row();
  void AddTwin(const Node& row, Node& rows);
  [[nodiscard]] Node OnTerm();
  [[nodiscard]] std::string LastWords();
  void DrawStory(Node& rows);
  void DrawBehavior();
  void DrawFinish();

  Draw& draw_;
  const Swarm& swarm_;
  const JobSurroundings& around_;
  DrawnJob job_{.document = Map()};
  bool servers_ = false;
  bool independent_ = false;
  bool may_not_end_ = false;  ///< Only `deadlines.run` ends it for sure.
  Duration work_{};
  Duration registration_ = 5min;
  Duration run_deadline_{};
  Duration am_start_ = 7 * 24h;  ///< Its default in a scenario.
  Duration window_{};            ///< Of its budgets, where it has one of its own.
  std::int64_t user_ = 0;
  std::int64_t infrastructure_ = 20;
  std::int64_t resubmit_ = 0;
};

}  // namespace tfyarn::explore
