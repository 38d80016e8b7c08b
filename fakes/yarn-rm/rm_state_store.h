// What a ResourceManager writes down for its successor: applications, attempts, keys.
//
// Containers, asks and blacklists are not in it: NMs and AMs tell the successor, or nobody does.
// Assumptions: writes take no time and never fail; the number of nodes is kept too (the successor
// schedules again once all are back), and so are the largest node and the partitions' names, which
// a real RM has in its configuration and label store.
//
// Source: RMStateStore.java, RMAppManager.recover, RMAppAttemptImpl.recover.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {

struct StoredApplication {
  std::shared_ptr<const yarn::SubmitApplicationRequest> submission;
  std::int32_t attempt = 1;
  std::int32_t counted_failures = 0;
  std::optional<ContainerId> am_container;  ///< Of the current attempt; unset: not launched yet.
  bool finishing = false;  ///< Final status stored, AM process perhaps still there.
  yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined;
  std::string diagnostics;
  std::string tracking_url;
};

struct StoredKey {
  std::uint32_t current = 1;
  std::optional<std::uint32_t> next;
  Instant rolls_at{};
  Instant activates_at{};
};

struct RmStateStore {
  std::int64_t epoch = 0;  ///< Of the RM that wrote this; its successor has the next.
  std::vector<StoredApplication> applications;  ///< In order of submission.
  std::vector<yarn::ApplicationReport> ended;   ///< In the order of their ends.
  StoredKey amrm_key;
  StoredKey nm_key;
  StoredKey container_key;
  std::shared_ptr<TokenBook> tokens;
  std::int32_t nodes = 0;
  Resource largest_node;
  std::vector<std::string> partitions;
  std::vector<std::string> resource_types;
};

}  // namespace tfyarn::fakes
