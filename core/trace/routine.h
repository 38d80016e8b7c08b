// What no trace has: idle heartbeats, their answers, polls, and the deadlines that only caused
// them.
//
// A run that skips idle heartbeats and one that carries each of them must leave the same trace. So
// these steps are told apart by what they are, without memory: a heartbeat without news, the answer
// without news, a question for the application's report (what the client
// makes of the answer is in its actions), a deadline reached (what came of it is in the actions),
// and the bookkeeping of elision.
#pragma once

#include "core/trace/record.h"

namespace tfyarn::trace {

/// True for facts that are left out of the trace. Facts of the world never are.
[[nodiscard]] bool IsRoutine(const Fact& fact);

[[nodiscard]] bool IsRoutine(const AmEvent& event);
[[nodiscard]] bool IsRoutine(const AmAction& action);
[[nodiscard]] bool IsRoutine(const AgentEvent& event);
[[nodiscard]] bool IsRoutine(const AgentAction& action);
[[nodiscard]] bool IsRoutine(const ClientEvent& event);
[[nodiscard]] bool IsRoutine(const ClientAction& action);

}  // namespace tfyarn::trace
