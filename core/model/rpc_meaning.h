// What an error that a daemon of YARN answers with means to the caller: the one list of all codes.
//
// What a caller does about it depends on which call it has made. The simulator's checkers judge by
// lists of their own, as they must not share a mistake with what they judge.
//
// Source: ApplicationMasterService.java, AMRMClientImpl.java (allocate, unregister).
#pragma once

#include "core/model/yarn.h"

namespace tfyarn::yarn {

enum class RpcMeaning {
  kNoAnswer,      ///< The call may have arrived or not: repeat it.
  kUnregistered,  ///< The RM does not know the AM, or not any more: register, and say all again.
  kOver,          ///< The application or the attempt is over for the RM, however late it is heard.
  kTokenRefused,  ///< What the caller shows does not count, or not any more.
  kOutOfTurn,     ///< Registered twice, or the wrong response id: an earlier call has arrived.
  kPartRefused,   ///< Nothing of the request was taken, and a part of it never will be.
  kFailed,        ///< Something else.
};

[[nodiscard]] RpcMeaning MeaningOf(const RpcError& error);

}  // namespace tfyarn::yarn
