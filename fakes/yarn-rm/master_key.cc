#include "fakes/yarn-rm/master_key.h"

#include <algorithm>

#include "core/model/probe.h"

namespace tfyarn::fakes {

MasterKey::MasterKey(Duration every, Duration expiry)
    : every_(every), activation_(expiry + expiry / 2) {
  key_.rolls_at = Instant{} + every;
}

MasterKey::Turn MasterKey::TakeTurn(Instant now) {
  if (key_.next) {
    TF_PROBE("yarn/next-key-in-use");
    key_.current = *key_.next;
    key_.next.reset();
    key_.rolls_at = std::max(key_.rolls_at + every_, now + Duration(1));
    return Turn::kNextIsUsed;
  }
  key_.next = key_.current + 1;
  key_.activates_at = now + activation_;
  return Turn::kNextIsSpread;
}

}  // namespace tfyarn::fakes
