// Why a connection between AM and agent ended, or never came about.
#pragma once

#include "core/model/describe.h"

namespace tfyarn::wire {

enum class ChannelEnd {
  kPeerClosed,        ///< Closed or reset by the peer or the network.
  kConnectFailed,     ///< No process answers at the address, or its host is not known.
  kTls,               ///< Not TLS 1.3, or a damaged stream.
  kCertificate,       ///< The peer's certificate is missing, of another authority, or out of time.
  kIdentity,          ///< The certificate is of another application, or of the wrong role.
  kHello,             ///< The first frame is malformed, or does not agree with the certificate.
  kVersion,           ///< No version that both ends speak.
  kHandshakeTimeout,  ///< Not done with TLS and Hello in time.
  kCrowded,           ///< Given up for other newcomers while there were too many.
  kBadFrame,          ///< A frame that is empty or too long.
  kBadMessage,        ///< A message that cannot be decoded.
  kFence,             ///< An agent spoke for another container.
  kIdle,              ///< Nothing came for too long.
  kWriteStalled,      ///< The peer took nothing for too long.
  kReplaced,          ///< A newer connection of the same container is there.
};
BOOST_DESCRIBE_ENUM(ChannelEnd, kPeerClosed, kConnectFailed, kTls, kCertificate, kIdentity, kHello,
                    kVersion, kHandshakeTimeout, kCrowded, kBadFrame, kBadMessage, kFence, kIdle,
                    kWriteStalled, kReplaced)

}  // namespace tfyarn::wire
