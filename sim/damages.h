// Which effects a run has, and in which ways each kind can go wrong so that a job must survive it.
//
// What a kind is (a call and its callee, a message, an order without an answer) decides that. A
// kind without a row is a mistake, which tests/unit/sim/sabotage_test.cc finds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/record.h"
#include "sim/effects.h"

namespace tfyarn::sim {

enum class EffectSort {
  kAccount,  ///< Orders nothing.
  kUnsent,   ///< No machine of that sort sends it; should one do so, it needs another row.
  kRmCall,
  kNmCall,
  kHdfsCall,
  kJournal,
  kMessage,
  kOrder,   ///< To its host, without an answer.
  kAnswer,  ///< To its host, which answers.
  kLast,    ///< Its sender ends.
};

struct EffectRow {
  EffectActor actor = EffectActor::kAm;
  EffectSort sort = EffectSort::kAccount;
  std::vector<std::string> kinds;
};

[[nodiscard]] const std::vector<EffectRow>& EffectRows();

/// nullopt: it has no row.
[[nodiscard]] std::optional<EffectSort> SortOf(const EffectName& effect);

/// How many actions of each kind all machines of a run have.
using EffectCounts = std::map<EffectName, std::uint64_t>;

/// nullopt: the record is no action of ours.
[[nodiscard]] std::optional<EffectName> EffectOf(const trace::TraceRecord& record);

/// Every way in which one of so many actions goes wrong, one at a time; of a kind with many actions
/// the first eight, and then every seventh.
[[nodiscard]] std::vector<Sabotage> DamagesOf(const EffectCounts& counts);

}  // namespace tfyarn::sim
