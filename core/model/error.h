// Failures of a call, as values. Things that happen in the world are events, and bugs are
// TF_CHECKs: neither is here.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/model/describe.h"

namespace tfyarn {

enum class ErrorCode {
  kInvalidArgument,  ///< The caller passed something that can never be right; the message says what
                     ///< is allowed.
  kNotFound,         ///< A named thing does not exist.
  kFailedPrecondition,  ///< Right at another time: wrong state, not yet registered.
  kDataLoss,            ///< Stored bytes are damaged beyond the part that was returned.
  kUnavailable,         ///< A peer or service does not answer; trying again may help.
  kInternal,            ///< A bug on our side that could be reported instead of aborting.
};
BOOST_DESCRIBE_ENUM(ErrorCode, kInvalidArgument, kNotFound, kFailedPrecondition, kDataLoss,
                    kUnavailable, kInternal)

/// `message`: what, which id, what was expected, what to do; one line, no final period.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};
BOOST_DESCRIBE_STRUCT(Error, (), (code, message))

template <class T>
using Expected = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{.code = code, .message = std::move(message)});
}

}  // namespace tfyarn
