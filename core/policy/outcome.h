// How a task ended for good.
#pragma once

#include <cstdint>

#include "core/model/describe.h"

namespace tfyarn::policy {

/// `kIgnored`: its end neither helps nor harms success.
enum class Outcome : std::uint8_t { kOpen, kOk, kFailed, kIgnored };
BOOST_DESCRIBE_ENUM(Outcome, kOpen, kOk, kFailed, kIgnored)

}  // namespace tfyarn::policy
