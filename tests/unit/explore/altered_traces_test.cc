// What the checkers say of runs in which something is not as it was: traces of explored runs, each
// altered in one place (a record left out, repeated or late, a later rest of the run, a value that
// another record has in that place). What they accuse is recorded: a checker that sees less, or
// more, than it did shows here, whether or not some test has just that case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/json.h"
#include "explore/draw.h"
#include "explore/generator.h"
#include "explore/guarded_run.h"
#include "sim/checkers.h"
#include "sim/run.h"
#include "tests/unit/digest.h"
#include "tests/unit/golden_file.h"

namespace tfyarn::explore::altered_traces_test {
namespace {

using nlohmann::json;
using Trace = std::vector<trace::TraceRecord>;

constexpr int kScenarios = 40, kGroups = 24, kAlterations = 10;  ///< Of a part; of each; of each.
constexpr std::size_t kLeast = 150, kMost = 1200;                ///< Records of a trace.

/// Checkers ask for it at the end of a job alone: nothing of it is left.
class EmptyWorld : public sim::WorldView {
 public:
  [[nodiscard]] std::vector<sim::LiveProcess> LiveProcesses() const override { return {}; }
  [[nodiscard]] std::vector<sim::HeldContainer> RmContainers() const override { return {}; }
  [[nodiscard]] std::vector<sim::HeldContainer> NodeContainers() const override { return {}; }
  [[nodiscard]] std::vector<std::string> RemainsOf(trace::JobIndex) const override { return {}; }
};

/// Tells the checkers what the simulator tells them beside the records.
class Judge {
 public:
  explicit Judge(const config::Scenario& scenario) : scenario_(scenario), checkers_(scenario) {}

  void Observe(const trace::TraceRecord& record) {
    if (const auto* created = std::get_if<trace::JobCreated>(&record.fact)) Submit(*created);
    if (const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact)) {
      if (const auto* append = std::get_if<AppendJournal>(&ordered->action))
        appends_[{ApplicationOf(*ordered), ordered->am_attempt}] = append->bytes;
    }
    if (const auto* told = std::get_if<trace::AmTold>(&record.fact)) {
      if (const auto* started = std::get_if<AmStarted>(&told->event))
        application_[ApplicationOf(*told)] = started->attempt.application;
      if (std::holds_alternative<JournalAppended>(told->event))
        Store(*told, appends_[{ApplicationOf(*told), told->am_attempt}]);
      // What was stored and whose sender did not live to hear of it.
      const auto* read = std::get_if<JournalRead>(&told->event);
      const std::size_t known = stored_[ApplicationOf(*told)];
      if (read != nullptr && read->bytes.size() > known) Store(*told, read->bytes.substr(known));
    }
    checkers_.Observe(record);
  }
  std::vector<sim::Violation> End(Instant now) {
    for (const auto& [name, index] : jobs_) checkers_.JobSettled(now, index, EmptyWorld());
    checkers_.Finish(now, trace::StopReason::kQuiescent);
    return checkers_.TakeNew();
  }

 private:
  void Submit(const trace::JobCreated& created) {
    for (const config::JobConfig& job : scenario_.jobs) {
      if (job.spec.name == created.name && jobs_.emplace(created.name, created.job).second)
        checkers_.JobSubmitted(created.job, std::make_shared<const JobSpec>(job.spec));
    }
  }

  /// Two applications of a job may live at once.
  using Application = std::pair<trace::JobIndex, std::int32_t>;
  template <class Fact>
  static Application ApplicationOf(const Fact& fact) {
    return {fact.job, fact.resubmission.value_or(0)};
  }

  void Store(const trace::AmTold& told, const std::string& bytes) {
    stored_[ApplicationOf(told)] += bytes.size();
    checkers_.JournalStored(told.job, application_[ApplicationOf(told)], bytes);
  }

  const config::Scenario& scenario_;
  sim::Checkers checkers_;
  std::map<std::string, trace::JobIndex> jobs_;
  std::map<Application, ApplicationId> application_;
  std::map<Application, std::size_t> stored_;  ///< Bytes.
  std::map<std::pair<Application, std::int32_t>, std::string> appends_;
};

// ---------------------------------------------------------------- alterations

enum class Kind { kNone, kLeftOut, kRepeated, kLate, kRestIsLate, kOtherValue };

struct Alteration {
  Kind kind = Kind::kNone;
  std::size_t at = 0;        ///< Of the record that is altered.
  std::size_t later = 0;     ///< After which it is repeated, or told late.
  Duration by{};             ///< By which the rest is late.
  trace::TraceRecord other;  ///< With another value.
};

std::vector<sim::Violation> Judged(const config::Scenario& scenario, const Trace& trace,
                                   const Alteration& alteration) {
  Judge judge(scenario);
  const bool late = alteration.kind == Kind::kRestIsLate;
  const auto observe = [&](std::size_t record, Duration by) {
    if (by == Duration{}) return judge.Observe(trace[record]);
    trace::TraceRecord copy = trace[record];
    copy.at += by;
    judge.Observe(copy);
  };
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool here = i == alteration.at;
    if (here && alteration.kind == Kind::kOtherValue)
      judge.Observe(alteration.other);
    else if (!here || (alteration.kind != Kind::kLeftOut && alteration.kind != Kind::kLate))
      observe(i, late && i >= alteration.at ? alteration.by : Duration{});
    const bool again = alteration.kind == Kind::kRepeated || alteration.kind == Kind::kLate;
    if (again && i == alteration.later)
      observe(alteration.at, trace[i].at - trace[alteration.at].at);
  }
  return judge.End(trace.back().at + (late ? alteration.by : Duration{}) + 1min);
}

/// The last name in a JSON pointer: what sort of value is there.
std::string SortOf(const std::string& pointer) {
  std::string at = pointer;
  while (!at.empty()) {
    const std::size_t slash = at.rfind('/');
    const std::string name = at.substr(slash + 1);
    if (name.find_first_not_of("0123456789") != std::string::npos) return name;
    at.resize(slash);
  }
  return at;
}

class Alterer {
 public:
  Alterer(const Trace& trace, std::uint64_t seed) : trace_(trace), draw_(seed, "altered") {
    for (const trace::TraceRecord& record : trace) {
      const json line = json::parse(trace::RecordJson(record)).flatten();
      for (const auto& [pointer, value] : line.items()) {
        std::vector<json>& known = values_[SortOf(pointer)];
        if (known.size() < 12 && std::find(known.begin(), known.end(), value) == known.end())
          known.push_back(value);
      }
    }
  }

  Alteration Next() {
    static const std::vector<Kind> kKinds = {
        Kind::kLeftOut,    Kind::kLeftOut,    Kind::kRepeated,   Kind::kLate,
        Kind::kRestIsLate, Kind::kRestIsLate, Kind::kOtherValue, Kind::kOtherValue,
        Kind::kOtherValue, Kind::kOtherValue, Kind::kOtherValue};
    const auto size = static_cast<std::int64_t>(trace_.size());
    Alteration next{.kind = draw_.Of(kKinds)};
    const std::int64_t at = draw_.Whole(1, size - 2);
    next.at = static_cast<std::size_t>(at);
    next.later = static_cast<std::size_t>(draw_.Whole(at + 1, std::min(at + 40, size - 1)));
    next.by = draw_.Time(100ms, 2h);
    if (next.kind == Kind::kOtherValue) next.other = WithOtherValue(trace_[next.at]);
    return next;
  }

 private:
  trace::TraceRecord WithOtherValue(const trace::TraceRecord& record) {
    json line = json::parse(trace::RecordJson(record));
    std::vector<std::string> pointers;
    const json flat = line.flatten();
    for (const auto& [pointer, value] : flat.items()) {
      const std::string sort = SortOf(pointer);
      if (sort != "at" && sort != "at_ns" && sort != "bytes" && sort != "text")
        pointers.push_back(pointer);
    }
    const std::string& pointer = draw_.Of(pointers);
    json& value = line[json::json_pointer(pointer)];
    const json other = draw_.Of(values_[SortOf(pointer)]);
    if (value.is_boolean())
      value = !value.get<bool>();
    else if (value.is_number_integer() && (other == value || draw_.Percent(50)))
      value = value.get<std::int64_t>() +
              (pointer.ends_with("_ns") ? draw_.Time(100ms, 1h).count() : draw_.Whole(-1, 1));
    else
      value = other;
    // Some values are none where they are now: then the record is left out, as all that it says.
    if (const auto read = trace::RecordFromJson(line.dump()))
      return {.at = record.at, .fact = read->record.fact};
    return {.at = record.at, .fact = trace::NodePower{}};
  }

  const Trace& trace_;
  Draw draw_;
  std::map<std::string, std::vector<json>> values_;
};

bool IsRefused(const trace::TraceRecord& record) {
  const auto* ordered = std::get_if<trace::AmOrdered>(&record.fact);
  const auto* verdict =
      ordered == nullptr ? nullptr : std::get_if<VerdictReached>(&ordered->action);
  return verdict != nullptr && verdict->rule == "policy/invalid";
}

/// The records of a run; empty: it is too long or too short, or no search would draw it.
Trace TraceOf(const config::Scenario& scenario) {
  Trace trace;
  sim::RunOptions options;
  options.seed = scenario.seed;
  options.sink = [&](const trace::TraceRecord& record) {
    if (trace.size() <= kMost) trace.push_back(record);
  };
  static_cast<void>(sim::RunScenario(scenario, options));
  const bool fits = trace.size() >= kLeast && trace.size() <= kMost;
  return fits && std::none_of(trace.begin(), trace.end(), IsRefused) ? trace : Trace{};
}

class AlteredTracesTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AlteredTracesTest, WhatIsAccusedIsWhatWasAccused) {
  // Under sanitizers, which another compiler makes, it is only looked for what crashes.
  const bool sanitized = std::getenv("TFYARN_SANITIZED") != nullptr;
  if (sanitized && GetParam() > 0) GTEST_SKIP() << "under sanitizers one part is enough";
  std::string text;
  std::map<std::string, int> accused;
  int tried = 0;
  for (std::uint64_t seed = 1000 * GetParam(); tried < (sanitized ? 2 : kScenarios); ++seed) {
    const Loaded loaded = Load(DrawScenario(seed));
    ASSERT_TRUE(loaded.scenario) << loaded.error;
    const Trace trace = TraceOf(*loaded.scenario);
    if (trace.empty()) continue;
    ++tried;
    for (const sim::Violation& violation : Judged(*loaded.scenario, trace, {}))
      ADD_FAILURE() << "run " << seed << ": " << violation.invariant << " " << violation.detail;
    text += fmt::format("{}", seed);
    Alterer alterer(trace, seed);
    for (int group = 0; group < (sanitized ? 2 : kGroups); ++group) {
      std::uint64_t digest = kDigestOfNothing;
      for (int i = 0; i < kAlterations; ++i) {
        for (const sim::Violation& violation : Judged(*loaded.scenario, trace, alterer.Next())) {
          digest =
              DigestOf(digest, fmt::format("{} {} {} {}", i, violation.invariant, violation.detail,
                                           violation.at.time_since_epoch().count()));
          ++accused[violation.invariant];
        }
      }
      text += fmt::format(" {:04x}", digest & 0xffff);
    }
    text += "\n";
  }
  for (const auto& [invariant, times] : accused) text += fmt::format("{} {}\n", invariant, times);
  if (!sanitized) ExpectGolden(fmt::format("checkers/altered_traces_{}.txt", GetParam()), text);
}

INSTANTIATE_TEST_SUITE_P(Parts, AlteredTracesTest, testing::Range<std::uint64_t>(0, 6));

}  // namespace
}  // namespace tfyarn::explore::altered_traces_test
