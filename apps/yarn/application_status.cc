#include "apps/yarn/application_status.h"

#include "core/model/text.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::apps {

using yarn::YarnApplicationState;

ApplicationStatus AskStatus(ClusterQuestions& questions, const ApplicationId& application) {
  const auto call =
      hadoop::EncodeRmRequest(yarn::GetApplicationReportRequest{.application = application}, {});
  if (!call) return {};
  const auto answer = questions.Ask(*call);
  if (!answer) {
    return {.may_change =
                hadoop::ToYarnError(answer.error()).code == yarn::RpcErrorCode::kUnavailable};
  }
  const auto details = hadoop::DecodeApplicationReport(*answer);
  if (!details) return {};
  const YarnApplicationState state = details->report.state;
  const bool finished = state == YarnApplicationState::kFinished;
  const bool ended =
      finished || state == YarnApplicationState::kFailed || state == YarnApplicationState::kKilled;
  return {.may_change = !ended,
          .text = finished ? ToText(details->report.final_status) : ToText(state)};
}

}  // namespace tfyarn::apps
