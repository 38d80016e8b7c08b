// What a name from the wire may look like. Hosts and task types end up in environments, logs and
// pages, so nothing but plain characters comes through.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfyarn::wire {

/// What is wrong with `type` as a task type; empty when nothing is.
[[nodiscard]] std::string TaskTypeFault(std::string_view type);
/// What is wrong with `host` and `port` as an address; empty when nothing is. A host may be empty
/// (not known) where the port is 0.
[[nodiscard]] std::string AddressFault(std::string_view host, std::int64_t port);
/// What is wrong with `host` as the name of one; empty when nothing is.
[[nodiscard]] std::string HostFault(std::string_view host);

}  // namespace tfyarn::wire
