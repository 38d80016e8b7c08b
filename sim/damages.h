// In which ways each kind of effect can go wrong, so that a job must survive it.
//
// What a kind is (a call to whom, a message, an order without an answer) decides that. A kind
// without a row is a mistake, which tests/unit/sim/sabotage_test.cc finds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// The ways in which the `nth` effect of that kind goes wrong, one at a time.
[[nodiscard]] std::vector<Sabotage> DamagesOf(const EffectName& effect, std::uint64_t nth);

}  // namespace tfyarn::sim
