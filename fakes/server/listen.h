// A port at which a daemon of the fakes is found.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "core/model/error.h"

namespace tfyarn::fakes {

/// Opens `acceptor` at an address; `port` 0 becomes the one that was free. Errors: kUnavailable; it
/// is closed then.
[[nodiscard]] Expected<void> Listen(boost::asio::ip::tcp::acceptor& acceptor,
                                    const std::string& host, std::uint16_t& port);

}  // namespace tfyarn::fakes
