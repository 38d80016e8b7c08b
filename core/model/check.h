// TF_CHECK: a bug in our own code, not something that happens. Stays on in release builds.
//
// Tests replace nothing here: a broken check ends the process with the place and the condition on
// stderr.
#pragma once

namespace tfyarn {

/// Prints "FILE:LINE: check failed: CONDITION" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace tfyarn

#define TF_CHECK(condition)                                  \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      ::tfyarn::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)
