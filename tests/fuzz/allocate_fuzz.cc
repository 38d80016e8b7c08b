// Any bytes as a sequence of operations on the fake ResourceManager, in lock-step with the model of
// the allocate contract (tests/lockstep): the first byte chooses the scheduler.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "core/model/check.h"
#include "fakes/yarn-rm/schedulers.h"
#include "tests/lockstep/hand_cluster.h"
#include "tests/lockstep/world.h"

namespace lockstep = tfyarn::lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto schedulers = tfyarn::fakes::AllSchedulers();
  lockstep::Draws draws(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  lockstep::HandCluster cluster(*schedulers[data[0] % schedulers.size()]);
  const lockstep::Outcome outcome = lockstep::RunSequence(cluster, draws, 400);
  if (!outcome.broken.empty()) std::fputs(lockstep::ToText(outcome).c_str(), stderr);
  TF_CHECK(outcome.broken.empty());
  return 0;
}
