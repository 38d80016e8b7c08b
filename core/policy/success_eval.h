// Is the success expression true, and if not, can it still become true?
//
// Evaluates core/model/success.h on a JobView. A job whose expression can never become true is
// judged at once instead of when its last task ends.
#pragma once

#include <string>

#include "core/model/error.h"
#include "core/model/success.h"
#include "core/policy/job_view.h"

namespace tfyarn::policy {

/// In rising order. kNever is final as long as no ended task starts again; kTrue is to be acted on
/// when it is seen.
enum class SuccessValue {
  kNever,  ///< False, whatever the tasks that still run do.
  kOpen,   ///< Not true now; may become true.
  kHolds,  ///< True so far, but only by what did not happen yet (`failed(T) < N`): success once all
           ///< tracked tasks ended.
  kTrue,   ///< True by something that happened.
};

/// `failed(T) < N` holds while it is so and is true once all of T has ended; `and` of something
/// true and something that holds is true, so `ok(chief) and failed(worker) < 2` is judged at the
/// moment the chief ends.
[[nodiscard]] SuccessValue Evaluate(const SuccessExpr& expr, const JobView& view);

/// Errors: kInvalidArgument when `expr` names a type that the job has not, an index out of range,
/// or `tracked` where no type of `types` is tracked.
[[nodiscard]] Expected<void> CheckSuccess(const SuccessExpr& expr,
                                          const std::vector<TypeCounts>& types);

}  // namespace tfyarn::policy
