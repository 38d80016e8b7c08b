#include "explore/amnesia.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/model/job_spec.h"

namespace tfyarn::explore {
namespace {

/// Both YARN's and the job's own limit.
constexpr std::int64_t kStandardAttempts = 2;
constexpr std::int64_t kDeaths = 2;

void RaiseAttemptsOf(Node& job) {
  const std::int64_t attempts = NumberAt(job, "am.attempts", kStandardAttempts);
  Set(MapAt(job, "am"), "attempts", Number(attempts + kDeaths));
}

Node Death(const std::string& job, std::uint64_t append, Duration after) {
  Node when = Map({{"job", Text(job)}, {"append", Number(static_cast<std::int64_t>(append))}});
  Node fault = Map({{"kind", Text("am_crash")},
                    {"when", std::move(when)},
                    {"target", Map({{"am", Text(job)}})}});
  if (after > Duration::zero()) Set(fault, "after", Time(after));
  return fault;
}

Variant With(const Node& document, const std::string& job, std::string name,
             std::vector<Node> deaths) {
  Variant variant{.name = std::move(name),
                  .document = document,
                  .options = {},
                  .same = Sameness::kTally,
                  .job = job};
  for (Node& death : deaths) ListAt(variant.document, "faults").items.push_back(std::move(death));
  return variant;
}

}  // namespace

Node WithMoreAttempts(Node document) {
  Node& yarn = MapAt(document, "yarn");
  Set(yarn, "am_max_attempts",
      Number(NumberAt(yarn, "am_max_attempts", kStandardAttempts) + kDeaths));
  for (Node& job : ListAt(document, "jobs").items) RaiseAttemptsOf(job);
  if (document.Find("arrivals") != nullptr) {
    for (Node& arrival : ListAt(document, "arrivals").items)
      RaiseAttemptsOf(MapAt(arrival, "template"));
  }
  return document;
}

Node FirstJobAlone(Node document) {
  Remove(document, "faults");
  std::vector<Node>& jobs = ListAt(document, "jobs").items;
  if (jobs.empty()) return document;
  jobs.resize(1);
  const std::string name = TextAt(jobs.front(), "name");
  // Which of its agents come before `deadlines.registration` would be drawn by chance.
  const Duration registration =
      TimeAt(jobs.front(), "deadlines.registration", DeadlineSpec{}.registration);
  for (const char* delay : {"localize", "launch"}) {
    if (TimeAt(document, fmt::format("yarn.{}.max", delay)) > registration / 5)
      Remove(MapAt(document, "yarn"), delay);
  }
  // Nor is it the same messages that are lost.
  if (document.FindPath("cluster.network.loss") != nullptr)
    Remove(MapAt(MapAt(document, "cluster"), "network"), "loss");
  // A task that waits for one that the next AM starts makes no progress.
  Remove(jobs.front(), "watch");
  const bool apart = jobs.front().FindPath("tasks.ps") != nullptr;
  std::vector<Node>& rows = ListAt(jobs.front(), "behavior").items;
  const bool has_first = std::any_of(
      rows.begin(), rows.end(), [](const Node& row) { return row.Find("attempt") != nullptr; });
  std::erase_if(rows, [&](const Node& row) {
    const bool fails = NumberAt(row, "exit", 0) != 0 || row.Find("signal") != nullptr;
    // Of tasks that end at once and start again one by one, whose end comes first says how often.
    const bool all = apart && row.Find("task") == nullptr && fails;
    // An attempt more than the plain run has would meet what is said of later ones.
    const bool later = has_first && row.Find("attempt") == nullptr && fails;
    return all || later || NumberAt(row, "attempt", 0) > 0;
  });
  std::erase_if(ListAt(document, "expect").items,
                [&](const Node& row) { return TextAt(row, "job") != name; });
  return document;
}

std::variant<std::vector<Variant>, Skipped> AmnesiaOf(const Node& document,
                                                      const RunRecord& plain) {
  if (document.FindPath("cluster.network.loss") != nullptr)
    return Skipped{"messages are lost by chance: others are, where an AM dies"};
  std::vector<Variant> variants;
  for (const auto& [job, appends] : plain.appends) {
    for (std::uint64_t k = 1; k <= appends; ++k) {
      // As the entry is under way, and when it is stored and what rests on it has been ordered.
      variants.push_back(With(document, job,
                              fmt::format("the AM of {} dies as it appends {}", job, k),
                              {Death(job, k, 0s)}));
      variants.push_back(With(document, job,
                              fmt::format("the AM of {} dies after its append {}", job, k),
                              {Death(job, k, 8ms)}));
      for (std::uint64_t j = 1; j <= 3; ++j) {
        variants.push_back(With(
            document, job, fmt::format("the AMs of {} die at appends {} and {}", job, k, k + j),
            {Death(job, k, 0s), Death(job, k + j, 0s)}));
      }
    }
  }
  return variants;
}

}  // namespace tfyarn::explore
