// One end of a SASL exchange, whichever the mechanism: tokens in, tokens out, and then perhaps a
// layer that protects what is sent. DIGEST-MD5 for tokens is one; Kerberos will be another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::hadoop {

class SaslMechanism {
 public:
  SaslMechanism() = default;
  SaslMechanism(const SaslMechanism&) = delete;
  SaslMechanism& operator=(const SaslMechanism&) = delete;
  virtual ~SaslMechanism() = default;

  /// What to say to the peer's `token`; may be empty.
  /// Errors: kFailedPrecondition when the peer's message is refused; the exchange is over then.
  [[nodiscard]] virtual Expected<std::string> Step(std::string_view token) = 0;
  /// Nothing more has to be said, and the peer is who it should be.
  [[nodiscard]] virtual bool complete() const = 0;

  /// After completion: from now on bytes go through Wrap() and Unwrap().
  [[nodiscard]] virtual bool protects() const = 0;
  /// Most bytes that one Wrap() takes; > 0.
  [[nodiscard]] virtual std::size_t most_to_wrap() const = 0;
  /// Errors: kInternal when the library fails.
  [[nodiscard]] virtual Expected<std::string> Wrap(std::string_view plain) = 0;
  /// Errors: kFailedPrecondition when `wrapped` was not written by the peer, or not in this order.
  [[nodiscard]] virtual Expected<std::string> Unwrap(std::string_view wrapped) = 0;
};

}  // namespace tfyarn::hadoop
