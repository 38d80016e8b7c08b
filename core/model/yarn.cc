#include "core/model/yarn.h"

namespace tfyarn::yarn {

bool IsIdle(const AllocateRequest& request) {
  return request.ask.empty() && request.release.empty() && request.blacklist_additions.empty() &&
         request.blacklist_removals.empty();
}

bool IsIdle(const AllocateResponse& response) {
  return response.am_command == AmCommand::kNone && response.allocated_containers.empty() &&
         response.completed_containers.empty() && response.updated_nodes.empty() &&
         response.nm_tokens.empty() && response.preempt_strict.empty() &&
         response.preempt_contract.empty() && response.containers_from_previous_attempts.empty() &&
         !response.am_rm_token.has_value();
}

}  // namespace tfyarn::yarn
