// Heartbeats that a host did not deliver, because each of them would only have said "I am alive".
//
// A host may skip the idle heartbeats of a sender up to the sender's next_decision(). Two machines
// must then learn what they missed: the sender, whose counters advance (HeartbeatsElided), and the
// receiver, which would otherwise take the silence for death (PeerVouched). Both are bookkeeping:
// stepping them yields no action, and no trace has them.
#pragma once

#include <cstdint>

#include "core/model/describe.h"
#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn {

/// To a sender, before the next event: it sent `count` idle heartbeats since its last step, the
/// latest at `last`, and as far as known every one was answered idly. (A late answer to the latest
/// may still arrive as an ordinary event.)
struct HeartbeatsElided {
  std::uint64_t count = 0;
  Instant last{};
};
BOOST_DESCRIBE_STRUCT(HeartbeatsElided, (), (count, last))

/// To the AM about the agent of a task, and (with an empty task) to an agent or client about its AM
/// or RM. `vouched` true: from now on the peer counts as heard all the time. False: that ended; it
/// was last heard at `last`.
struct PeerVouched {
  TaskId task;
  Incarnation incarnation;
  bool vouched = false;
  Instant last{};
};
BOOST_DESCRIBE_STRUCT(PeerVouched, (), (task, incarnation, vouched, last))

}  // namespace tfyarn
