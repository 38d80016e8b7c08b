// The rows and columns of sim/coverage.h's tables: their names, and what of a run belongs to which.
// Used by sim/coverage.cc only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/model/agent.h"
#include "core/model/am.h"
#include "core/model/describe.h"

namespace tfyarn::sim {

template <DescribedEnum E>
[[nodiscard]] std::vector<std::string> EnumWords() {
  std::vector<std::string> words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto described) { words.push_back(KebabName(described.value)); });
  return words;
}

/// "running", and "running-again" of an application attempt after the first.
[[nodiscard]] std::vector<std::string> AmStateWords();
[[nodiscard]] std::size_t AmStateColumn(JobState state, std::int32_t am_attempt);

/// What the ResourceManager answers may be several things at once.
[[nodiscard]] std::vector<std::string> AmEventWords();
[[nodiscard]] std::vector<std::size_t> AmEventRows(const AmEvent& event);

/// Link and process: "searching.running"; "leaving.stopping"; "new", "leasing".
[[nodiscard]] std::vector<std::string> AgentPhaseWords();
[[nodiscard]] std::size_t AgentPhaseColumn(const agent::AgentSnapshot& agent);

[[nodiscard]] std::vector<std::string> AgentEventWords();
[[nodiscard]] std::size_t AgentEventRow(const AgentEvent& event);

/// What there may be several of in one job, as Coverage::Again orders them.
[[nodiscard]] std::vector<std::string> TimesWords();

/// Every rule that a verdict may name; the last one stands for any other.
[[nodiscard]] std::vector<std::string> RuleWords();

}  // namespace tfyarn::sim
