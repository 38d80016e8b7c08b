#include "fakes/server/quick_rm.h"

namespace tfyarn::fakes {
namespace {

QueueOptions Queue(const char* path, std::int32_t permille) {
  return {.path = path,
          .capacity_permille = permille,
          .max_capacity_permille = 1000,
          .user_limit_permille = 1000,
          .user_limit_factor_permille = 10'000,
          .am_share_permille = 1000};
}

}  // namespace

RmOptions QuickRmOptions() {
  RmOptions rm;
  rm.queues = {Queue("root.default", 700), Queue("root.batch", 300)};
  rm.nm_heartbeat = 100ms;
  rm.minimum_allocation = {.memory_mb = 16, .vcores = 1};
  rm.node_locality_delay = -1;
  rm.scheduling_wait = 1s;
  rm.am_launch_retry = 500ms;
  return rm;
}

}  // namespace tfyarn::fakes
