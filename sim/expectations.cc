#include "sim/expectations.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/model/text.h"

namespace tfyarn::sim {
namespace {

constexpr std::string_view kJobPrefix = "job/";
constexpr std::string_view kNull = "null";
constexpr std::string_view kEnsembleFigure = "deadlock_rate";

std::string ValueText(const std::optional<trace::MetricValue>& value) {
  return value ? (value->text.empty() ? std::string(kNull) : value->text) : "no such name";
}

bool IsJobMetric(std::string_view metric) {
  return metric.substr(0, kJobPrefix.size()) == kJobPrefix;
}

bool IsEnsemble(const config::Expectation& expectation) {
  return !expectation.where.empty() ||
         std::any_of(expectation.all_of.begin(), expectation.all_of.end(),
                     [](const config::Comparison& comparison) {
                       return comparison.metric == kEnsembleFigure;
                     });
}

std::optional<std::uint32_t> FaultNamed(std::string_view after) {
  constexpr std::string_view kPrefix = "fault/";
  if (after.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  std::uint32_t index = 0;
  const char* end = after.data() + after.size();
  const auto [rest, error] = std::from_chars(after.data() + kPrefix.size(), end, index);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return index;
}

bool NumberHolds(const config::Comparison& comparison, double number) {
  switch (comparison.op) {
    case config::ExpectOp::kEquals:
      return number == comparison.low;
    case config::ExpectOp::kAtLeast:
      return number >= comparison.low;
    case config::ExpectOp::kAtMost:
      return number <= comparison.high;
    case config::ExpectOp::kBetween:
      return number >= comparison.low && number <= comparison.high;
    case config::ExpectOp::kIn:
      return false;
  }
  return false;
}

/// Whether the text is the word, in which each `*` stands for any text, or none.
bool Matches(std::string_view word, std::string_view text) {
  std::size_t star = word.find('*');
  if (star == std::string_view::npos) return word == text;
  if (text.substr(0, star) != word.substr(0, star)) return false;
  text.remove_prefix(star);
  while (true) {
    word.remove_prefix(star + 1);
    star = word.find('*');
    if (star == std::string_view::npos) return text.ends_with(word);
    const std::size_t found = text.find(word.substr(0, star));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + star);
  }
}

/// Facts after which no field of any job can have changed.
bool ChangesNoJob(const trace::Fact& fact) {
  return std::holds_alternative<trace::AgentTold>(fact) ||
         std::holds_alternative<trace::AgentOrdered>(fact) ||
         std::holds_alternative<trace::ContainerLocalizing>(fact) ||
         std::holds_alternative<trace::NodeDeclared>(fact) ||
         std::holds_alternative<trace::NodePower>(fact);
}

}  // namespace

bool Holds(const config::Comparison& comparison, const trace::MetricValue& value) {
  if (!comparison.words.empty()) {
    const std::string text = value.text.empty() ? std::string(kNull) : value.text;
    return std::any_of(comparison.words.begin(), comparison.words.end(),
                       [&](const std::string& word) { return Matches(word, text); });
  }
  return value.number && NumberHolds(comparison, *value.number);
}

trace::ExpectationResult Evaluate(const config::Expectation& expectation,
                                  const trace::Result& result) {
  trace::ExpectationResult verdict{.text = expectation.text, .passed = true, .got = ""};
  std::string found;
  for (const config::Comparison& comparison : expectation.all_of) {
    const std::optional<trace::MetricValue> value = trace::Lookup(result, comparison.metric);
    const bool holds = value && Holds(comparison, *value);
    const std::string text = comparison.metric + " = " + ValueText(value);
    if (!holds && verdict.passed) {
      verdict.passed = false;
      found.clear();  // From here on only what failed is of interest.
    }
    if (holds && !verdict.passed) continue;
    found += (found.empty() ? "" : ", ") + text;
  }
  verdict.got = std::move(found);
  return verdict;
}

// ---------------------------------------------------------------- online

OnlineExpectations::OnlineExpectations(const std::vector<config::Expectation>& expectations)
    : expectations_(expectations) {
  for (const config::Expectation& expectation : expectations) {
    if (expectation.kind == config::ExpectKind::kFinal || expectation.all_of.empty() ||
        IsEnsemble(expectation))
      continue;
    Watch watch{.expectation = &expectation};
    watch.online = IsJobMetric(expectation.all_of.front().metric);
    if (expectation.after.empty()) watch.from = Instant{};
    watches_.push_back(std::move(watch));
  }
}

void OnlineExpectations::Observe(const trace::TraceRecord& record,
                                 const trace::ResultBuilder& builder) {
  if (watches_.empty()) return;
  if (const auto* fault = std::get_if<trace::FaultBegan>(&record.fact))
    StartAfter(*fault, record.at);
  if (ChangesNoJob(record.fact)) return;
  for (Watch& watch : watches_) {
    if (watch.online && watch.from && !watch.decided) Look(watch, record.at, builder);
  }
}

void OnlineExpectations::StartAfter(const trace::FaultBegan& fault, Instant at) {
  for (Watch& watch : watches_) {
    if (!watch.from && FaultNamed(watch.expectation->after) == fault.fault) watch.from = at;
  }
}

void OnlineExpectations::Look(Watch& watch, Instant now, const trace::ResultBuilder& builder) {
  const config::Expectation& expectation = *watch.expectation;
  const config::Comparison& comparison = expectation.all_of.front();
  const std::optional<trace::MetricValue> value = builder.LookupJob(comparison.metric);
  if (!value) return;
  watch.got = comparison.metric + " = " + ValueText(value);
  const bool in_time = !expectation.within || now - *watch.from <= *expectation.within;
  if (expectation.kind == config::ExpectKind::kNever && !in_time) return;
  if (!Holds(comparison, *value)) return;
  watch.decided = now;
  watch.decided_in_time = in_time;
}

trace::ExpectationResult OnlineExpectations::Judge(const Watch& watch,
                                                   const trace::Result& result) const {
  const config::Expectation& expectation = *watch.expectation;
  const bool never = expectation.kind == config::ExpectKind::kNever;
  trace::ExpectationResult verdict{.text = expectation.text, .passed = false, .got = ""};
  const std::optional<trace::MetricValue> last =
      trace::Lookup(result, expectation.all_of.front().metric);
  if (!last) {
    verdict.got = expectation.all_of.front().metric + " = no such name";
  } else if (!watch.from) {
    verdict.passed = never;  // What it was to come after did not happen.
    verdict.got = expectation.after + " did not happen";
  } else if (!watch.online) {
    const bool holds = Holds(expectation.all_of.front(), *last);
    verdict.passed = holds != never;
    verdict.got = expectation.all_of.front().metric + " = " + ValueText(last) + " at the end";
  } else if (watch.decided) {
    verdict.passed = !never && watch.decided_in_time;
    verdict.got = watch.got + " at " + ToString(*watch.decided);
  } else {
    verdict.passed = never;
    verdict.got = expectation.all_of.front().metric + " = " + ValueText(last) + " at the end";
  }
  return verdict;
}

void OnlineExpectations::Finish(trace::Result& result) const {
  std::vector<trace::ExpectationResult> judged;
  auto watch = watches_.begin();
  for (const config::Expectation& expectation : expectations_) {
    if (IsEnsemble(expectation)) continue;
    if (watch != watches_.end() && watch->expectation == &expectation) {
      judged.push_back(Judge(*watch, result));
      ++watch;
    } else {
      judged.push_back(Evaluate(expectation, result));
    }
  }
  for (trace::ExpectationResult& one : judged) result.expectations.push_back(std::move(one));
}

}  // namespace tfyarn::sim
