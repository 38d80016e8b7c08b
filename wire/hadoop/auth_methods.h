// How a Hadoop daemon would know its clients, asked of it before anything else is said: it names
// the ways that it takes in the first message of a SASL negotiation, to every client.
//
// A client of a cluster without Kerberos does not negotiate, and from a daemon that wants more than
// a name it gets a refusal of its first call, which every caller words in its own way.
//
// Source: security/SaslRpcClient.java, ipc/Server.java (buildNegotiateResponse).
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/model/host_port.h"
#include "core/model/time.h"
#include "wire/hadoop/ipc_error.h"

namespace tfyarn::hadoop {

/// "TOKEN", "KERBEROS", "SIMPLE", as the daemon prefers them.
using AuthMethods = tl::expected<std::vector<std::string>, IpcError>;

/// Connects, asks and hangs up. `answer` comes once, from the event loop, after `limit` at the
/// latest. `io` must outlive that.
void AskAuthMethods(boost::asio::io_context& io, HostPort address, Duration limit,
                    std::function<void(AuthMethods)> answer);

}  // namespace tfyarn::hadoop
