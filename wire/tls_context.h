// The TLS rules of the channel between AM and agents: version 1.3 only, both ends show a
// certificate of the same application, nothing is resumed.
#pragma once

#include "wire/identity.h"
#include "wire/openssl_handles.h"

namespace tfyarn::wire {

enum class ChannelSide { kAm, kAgent };

/// For all connections of one process. `identity`: as identity.h says; anything else is a bug.
[[nodiscard]] ContextPtr MakeTlsContext(ChannelSide side, const Identity& identity);

}  // namespace tfyarn::wire
