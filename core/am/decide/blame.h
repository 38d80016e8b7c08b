// Which task is to blame for failures that come together.
//
// The first report is often a victim's. A cause pays, and a victim does not; these functions tell
// one from the other by what is stored and seen, and change nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/am/decide/failure.h"
#include "core/am/ledger.h"
#include "core/journal/entries.h"
#include "core/model/am.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

/// Why the peer that a failed task could not reach had started again.
struct Excuse {
  Cause cause;
  journal::JournaledProcess by;  ///< The peer's process that excuses it.
};

/// The task is one of several that need each other.
[[nodiscard]] bool HasPeers(const AmCore& core, TaskIndex task);
/// The latest account of the same end: better ones may have come since it was reported.
[[nodiscard]] const AttemptEnd& BestAccountOf(const AmCore& core, const AttemptEnd& end);
/// A failure in the window is no peer's doing, or the first one counts by the policy.
[[nodiscard]] bool CauseIsKnown(const AmCore& core, const BlameWindow& window);
/// Position of the one to blame; there is one at least.
[[nodiscard]] std::size_t ChooseCause(const AmCore& core, const std::vector<Failure>& failures);
/// It failed because of the last cause that was decided.
[[nodiscard]] bool IsVictim(const AmCore& core, const Failure& failure);
/// Others that fail within deadlines.blame of the cause are its victims. `with_others`: others
/// start again with it, or may be lost with it.
[[nodiscard]] bool HasVictims(const AmCore& core, const Cause& cause, bool with_others);
/// The peer that a failed task's last words say fell silent.
[[nodiscard]] std::optional<TaskIndex> NamedBy(const AmCore& core, const Failure& failure);
/// Whom a process, by its own last words, could not reach. Only under parameter-server, where one
/// task drives all others; in a collective who cannot be reached may have ended for the same
/// reason.
[[nodiscard]] std::optional<TaskIndex> UnreachedBy(const AmCore& core, const AttemptEnd& end);
/// Why the peer that it could not reach had started again, with it or after it: TensorFlow's
/// servers keep their connections, and try a broken one again only each second. Each process of the
/// peer excuses one end, of a process that may still be starting; not one that starts by such a
/// restart itself: two that cannot reach each other would start again without end.
[[nodiscard]] std::optional<Excuse> ExcuseInPeer(const AmCore& core, const Failure& failure);

}  // namespace tfyarn::am
