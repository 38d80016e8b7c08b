#include "explore/problem.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace tfyarn::explore {
namespace {

/// Of a broken expectation about a job: why it ended so says which bug it is.
std::string EndOf(const trace::JobResult& job) {
  std::string end(trace::StatusName(job.status));
  if (job.status == JobStatus::kUnfinished)
    return end + " in state " + std::string(KebabName(job.state));
  if (!job.rule.empty()) end += " by " + job.rule;
  if (job.cause) end += " after " + std::string(KebabName(job.cause->exit_class));
  return end;
}

}  // namespace

Problem ProblemOf(std::string sentence, std::optional<Instant> at) {
  std::string key = KeyOf(sentence);
  return {.key = std::move(key), .sentence = std::move(sentence), .at = at};
}

std::string KeyOf(std::string_view sentence) {
  const std::size_t invariant = sentence.find(": invariant ");
  const bool of_pair = sentence.starts_with("relation ") && invariant == sentence.find(": ");
  return Anonymous(of_pair && invariant != std::string_view::npos ? sentence.substr(invariant + 2)
                                                                  : sentence);
}

std::string Anonymous(std::string_view sentence) {
  std::string key;
  bool in_number = false;
  for (const char c : sentence) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !in_number) key += '#';
    // 1m30.5s and 20s are one kind of thing.
    if (!digit && !(in_number && (c == '.' || c == 'm' || c == 's' || c == 'u'))) key += c;
    in_number = digit || (in_number && (c == '.' || c == 'm' || c == 's' || c == 'u'));
  }
  return key;
}

std::vector<Problem> ProblemsOf(const trace::Result& result) {
  std::vector<Problem> problems;
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations == 0 || !invariant.off_because.empty()) continue;
    problems.push_back(
        ProblemOf(fmt::format("invariant {}: {}", invariant.name, invariant.first_detail),
                  invariant.first_at));
  }
  for (const trace::ExpectationResult& expectation : result.expectations) {
    if (expectation.passed) continue;
    std::string end;
    std::optional<Instant> at;
    for (const trace::JobResult& job : result.jobs) {
      if (expectation.text.find("job/" + job.name + ".") == std::string::npos &&
          expectation.text.find("job: " + job.name + ",") == std::string::npos)
        continue;
      end = EndOf(job);
      at = job.finished;
    }
    // How it ended says which bug it is, unless it ended as it should and something else did not.
    const bool of_status = expectation.got.find(".status") != std::string::npos;
    if (!end.empty() && !of_status) end += ", " + expectation.got;
    problems.push_back(ProblemOf(
        fmt::format("expected {}; got {}", expectation.text, end.empty() ? expectation.got : end),
        at));
    problems.back().expectation = true;
  }
  return problems;
}

}  // namespace tfyarn::explore
