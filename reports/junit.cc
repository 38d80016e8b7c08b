#include "reports/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

namespace tfyarn::reports {
namespace {

/// Length of the UTF-8 sequence at the beginning; 0: it is none that XML may hold.
std::size_t Sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  char32_t code = length == 1 ? first : first & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = (code << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
  const bool control = code < 0x20 && code != '\n' && code != '\t';
  return control || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

/// XML 1.0 has no form at all for most control characters, nor for bytes that are no UTF-8.
std::string XmlText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = Sequence(text);
    if (length == 0) {
      out += '?';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// A testsuite that counts what is put into it.
class Suite {
 public:
  explicit Suite(const std::string& name) : root_(document_.append_child("testsuites")) {
    suite_ = root_.append_child("testsuite");
    suite_.append_attribute("name") = XmlText(name).c_str();
  }

  /// `failure` empty: it passed.
  void Add(const std::string& kind, const std::string& name, double seconds,
           const std::string& failure) {
    pugi::xml_node test = suite_.append_child("testcase");
    test.append_attribute("classname") = XmlText(kind).c_str();
    test.append_attribute("name") = XmlText(name).c_str();
    test.append_attribute("time") = fmt::format("{}", seconds).c_str();
    ++tests_;
    if (failure.empty()) return;
    ++failures_;
    pugi::xml_node node = test.append_child("failure");
    node.append_attribute("message") = XmlText(failure).c_str();
    node.append_attribute("type") = XmlText(kind).c_str();
    node.text() = XmlText(failure).c_str();
  }

  void Skip(const std::string& kind, const std::string& name, const std::string& because) {
    pugi::xml_node test = suite_.append_child("testcase");
    test.append_attribute("classname") = XmlText(kind).c_str();
    test.append_attribute("name") = XmlText(name).c_str();
    test.append_child("skipped").append_attribute("message") = XmlText(because).c_str();
    ++tests_;
    ++skipped_;
  }

  [[nodiscard]] std::string Finish(double seconds) {
    for (pugi::xml_node node : {root_, suite_}) {
      node.append_attribute("tests") = tests_;
      node.append_attribute("failures") = failures_;
      node.append_attribute("errors") = 0;
      node.append_attribute("skipped") = skipped_;
      node.append_attribute("time") = fmt::format("{}", seconds).c_str();
    }
    std::ostringstream out;
    document_.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return out.str();
  }

 private:
  pugi::xml_document document_;
  pugi::xml_node root_;
  pugi::xml_node suite_;
  std::int64_t tests_ = 0;
  std::int64_t failures_ = 0;
  std::int64_t skipped_ = 0;
};

std::string FailureOf(const trace::ExpectationResult& expectation) {
  return expectation.passed ? "" : "got " + expectation.got;
}

std::string FailureOf(const trace::JobResult& job) {
  switch (job.status) {
    case JobStatus::kSucceeded:
      return "";
    case JobStatus::kUnfinished:
      return "unfinished at the end of the run";
    case JobStatus::kFailed:
      return "failed: " + job.diagnostics;
    case JobStatus::kKilled:
      return "killed: " + job.diagnostics;
  }
  return "";
}

}  // namespace

std::string JUnitXml(const trace::Result& result) {
  Suite suite(fmt::format("{} seed {}", result.scenario, result.seed));
  for (const trace::ExpectationResult& expectation : result.expectations) {
    suite.Add("expectation", expectation.text, 0, FailureOf(expectation));
  }
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (!invariant.off_because.empty()) {
      suite.Skip("invariant", invariant.name, invariant.off_because);
      continue;
    }
    suite.Add("invariant", invariant.name, 0,
              invariant.violations == 0
                  ? ""
                  : fmt::format("{} violations, the first: {}", invariant.violations,
                                invariant.first_detail));
  }
  const bool jobs_decide =
      result.exit_code == 10 || result.exit_code == 11 || result.exit_code == 20;
  for (const trace::JobResult& job : result.jobs) {
    const std::optional<Duration> took = job.completion_time();
    const double seconds = took ? SecondsOf(*took) : 0;
    suite.Add("job", job.name, seconds, jobs_decide ? FailureOf(job) : "");
  }
  return suite.Finish(result.wall_seconds);
}

std::string JUnitXml(const trace::Ensemble& ensemble) {
  Suite suite(
      fmt::format("{} seeds {}..{}", ensemble.scenario, ensemble.first_seed, ensemble.last_seed));
  for (const trace::ExpectationResult& expectation : ensemble.expectations) {
    suite.Add("expectation", expectation.text, 0, FailureOf(expectation));
  }
  for (const trace::ExpectationResult& expectation : ensemble.all.expectations) {
    suite.Add("expectation", expectation.text, 0, FailureOf(expectation));
  }
  for (const trace::FailedRun& run : ensemble.all.failed) {
    suite.Add("run", fmt::format("seed {}", run.seed), 0,
              fmt::format("{} (replay: {})", run.reason, run.replay));
  }
  const std::uint64_t good = ensemble.all.runs - ensemble.all.failed_runs;
  if (good > 0) suite.Add("run", fmt::format("{} other seeds", good), 0, "");
  return suite.Finish(ensemble.wall_seconds);
}

}  // namespace tfyarn::reports
