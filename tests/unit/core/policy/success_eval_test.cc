#include "core/policy/success_eval.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::success_eval_test {
namespace {

constexpr SuccessValue kNever = SuccessValue::kNever;
constexpr SuccessValue kOpen = SuccessValue::kOpen;
constexpr SuccessValue kHolds = SuccessValue::kHolds;
constexpr SuccessValue kTrue = SuccessValue::kTrue;

/// States of tasks in the order of the types: 'r' runs, 'o' ended ok, 'f' failed, 'i' ignored.
TableView View(const std::vector<std::pair<std::string, std::string>>& types) {
  std::vector<std::pair<std::string, int>> shape;
  for (const auto& [name, states] : types)
    shape.emplace_back(name, static_cast<int>(states.size()));
  TableView view(MakeJob("default", shape));
  for (const auto& [name, states] : types) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      const TaskId task = {name, static_cast<std::int32_t>(i)};
      if (states[i] == 'i') view.EndIgnored(task);
      if (states[i] == 'o' || states[i] == 'f') view.End(task, states[i] == 'o');
    }
  }
  return view;
}

SuccessValue Value(const std::string& text,
                   const std::vector<std::pair<std::string, std::string>>& types) {
  return Evaluate(ParseSuccess(text).value(), View(types));
}

struct Case {
  std::string text;
  std::string workers;
  SuccessValue expected = kOpen;
};

TEST(SuccessEvalTest, LeavesAreThreeValued) {
  for (const Case& c : std::vector<Case>{
           {"ok(worker)", "rrr", kOpen},          {"ok(worker)", "oor", kOpen},
           {"ok(worker)", "ooo", kTrue},          {"ok(worker)", "frr", kNever},
           {"ok(worker)", "oio", kTrue},          {"ok(worker)", "iii", kNever},
           {"ok(worker:1)", "rrr", kOpen},        {"ok(worker:1)", "ror", kTrue},
           {"ok(worker:1)", "rfr", kNever},       {"ok(worker:1)", "fro", kOpen},
           {"any(worker)", "rrr", kOpen},         {"any(worker)", "fro", kTrue},
           {"any(worker)", "ffr", kOpen},         {"any(worker)", "fff", kNever},
           {"done(worker)", "oof", kTrue},        {"done(worker)", "oor", kOpen},
           {"done(worker:0)", "frr", kTrue},      {"done(worker:0)", "roo", kOpen},
           {"count(worker) >= 2", "oor", kTrue},  {"count(worker) >= 2", "orr", kOpen},
           {"count(worker) >= 2", "ofr", kOpen},  {"count(worker) >= 2", "ffr", kNever},
           {"count(worker) >= 0", "rrr", kTrue},  {"failed(worker) < 1", "rrr", kHolds},
           {"failed(worker) < 1", "ooo", kTrue},  {"failed(worker) < 1", "frr", kNever},
           {"failed(worker) < 2", "frr", kHolds}, {"failed(worker) < 2", "fof", kNever},
           {"failed(worker) < 9", "fff", kTrue},  {"failed(worker) < 1", "oio", kTrue}}) {
    EXPECT_EQ(Value(c.text, {{"worker", c.workers}}), c.expected) << c.text << " " << c.workers;
  }
}

TEST(SuccessEvalTest, TrackedSumsTheTrackedTypesOnly) {
  EXPECT_EQ(Value("ok(tracked)",
                  {{"worker", "oo"}, {"ps", "r"}, {"evaluator", "f"}, {"tensorboard", "r"}}),
            kTrue);
  EXPECT_EQ(Value("ok(tracked)", {{"worker", "oo"}, {"mine", "r"}}), kOpen);
  EXPECT_EQ(Value("count(tracked) >= 3", {{"worker", "oo"}, {"chief", "o"}}), kTrue);
  TableView view = View({{"chief", "o"}, {"worker", "rr"}});
  view.Type("worker").waived = true;
  EXPECT_EQ(Evaluate(ParseSuccess("ok(tracked)").value(), view), kTrue);
}

TEST(SuccessEvalTest, AnAndOfSomethingTrueAndSomethingThatHoldsIsTrue) {
  const std::string text = "ok(chief) and failed(worker) < 2";
  EXPECT_EQ(Value(text, {{"chief", "r"}, {"worker", "rrr"}}), kOpen);
  EXPECT_EQ(Value(text, {{"chief", "o"}, {"worker", "frr"}}), kTrue);
  EXPECT_EQ(Value(text, {{"chief", "o"}, {"worker", "ffr"}}), kNever);
  EXPECT_EQ(Value("failed(chief) < 1 and failed(worker) < 2", {{"chief", "r"}, {"worker", "rrr"}}),
            kHolds);
}

TEST(SuccessEvalTest, AnOrIsItsBestBranch) {
  EXPECT_EQ(Value("ok(chief) or any(worker)", {{"chief", "f"}, {"worker", "rr"}}), kOpen);
  EXPECT_EQ(Value("ok(chief) or any(worker)", {{"chief", "f"}, {"worker", "ff"}}), kNever);
  EXPECT_EQ(Value("ok(chief) or any(worker)", {{"chief", "r"}, {"worker", "fo"}}), kTrue);
  EXPECT_EQ(Value("ok(chief) or failed(worker) < 1", {{"chief", "r"}, {"worker", "rr"}}), kHolds);
}

/// Calls f with every completion of `states` in which each running task ends ok or failed.
template <class F>
void ForEachCompletion(const std::string& states, F&& f) {
  const std::size_t at = states.find('r');
  if (at == std::string::npos) return f(states);
  for (const char end : {'o', 'f'}) {
    std::string next = states;
    next[at] = end;
    ForEachCompletion(next, f);
  }
}

std::vector<std::string> AllStates(std::size_t length) {
  std::vector<std::string> all = {""};
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<std::string> longer;
    for (const std::string& prefix : all) {
      for (const char state : {'r', 'o', 'f'}) longer.push_back(prefix + state);
    }
    all = std::move(longer);
  }
  return all;
}

TEST(SuccessEvalTest, WhatIsDecidedStaysSoInEveryCompletion) {
  for (const std::string text :
       {"ok(worker)", "any(worker)", "count(worker) >= 2", "done(worker)",
        "ok(worker:0) or ok(worker:1)", "ok(chief) and any(worker)",
        "ok(chief) or count(worker) >= 2", "(ok(chief) or ok(worker)) and done(worker)"}) {
    for (const std::string& states : AllStates(4)) {
      const auto value = [&](const std::string& s) {
        return Value(text, {{"chief", s.substr(0, 1)}, {"worker", s.substr(1)}});
      };
      const SuccessValue now = value(states);
      ForEachCompletion(states, [&](const std::string& end) {
        const SuccessValue at_end = value(end);
        EXPECT_TRUE(at_end == kTrue || at_end == kNever) << text << " " << end;
        if (now == kOpen) return;
        EXPECT_EQ(at_end, now) << text << " " << states << " -> " << end;
      });
    }
  }
}

TEST(SuccessEvalTest, ALeafThatIsOpenCanStillBecomeTrue) {
  for (const std::string text : {"ok(worker)", "any(worker)", "count(worker) >= 2", "done(worker)",
                                 "ok(worker:1)", "failed(worker) < 1", "failed(worker) < 2"}) {
    for (const std::string& states : AllStates(3)) {
      const SuccessValue now = Value(text, {{"worker", states}});
      bool can = false;
      ForEachCompletion(states, [&](const std::string& end) {
        can = can || Value(text, {{"worker", end}}) == kTrue;
      });
      EXPECT_EQ(now != kNever, can) << text << " " << states;
    }
  }
}

}  // namespace
}  // namespace tfyarn::policy::success_eval_test
