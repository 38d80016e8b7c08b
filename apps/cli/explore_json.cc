#include "apps/cli/explore_json.h"

#include <fmt/format.h>

#include <string>

namespace tfyarn::cli {

using nlohmann::json;

json ToJson(const explore::Problem& problem) {
  json out = {
      {"key", problem.key}, {"sentence", problem.sentence}, {"expectation", problem.expectation}};
  if (problem.at) out["at"] = problem.at->time_since_epoch().count();
  return out;
}

explore::Problem ProblemFrom(const json& value) {
  explore::Problem problem{.key = value.at("key"),
                           .sentence = value.at("sentence"),
                           .at = std::nullopt,
                           .expectation = value.at("expectation")};
  if (value.contains("at")) problem.at = Instant(Duration(value.at("at").get<std::int64_t>()));
  return problem;
}

explore::Problem CrashOf(const ChildOutcome& outcome) {
  std::string words = outcome.words;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  const std::string last = words.substr(words.rfind('\n') + 1);
  return explore::ProblemOf(
      fmt::format("the simulator crashed: {}{}{}", outcome.crash, last.empty() ? "" : ": ", last));
}

}  // namespace tfyarn::cli
