// A master key of tokens that is replaced from time to time: the next one is spread first, so that
// all who must know it have heard of it, and used later.
//
// Source: AMRMTokenSecretManager.java (rollMasterKey, activateNextMasterKey),
// NMTokenSecretManagerInRM.java, RMContainerTokenSecretManager.java.
#pragma once

#include <cstdint>

#include "core/model/time.h"
#include "fakes/yarn-rm/rm_state_store.h"

namespace tfyarn::fakes {

class MasterKey {
 public:
  enum class Turn {
    kNextIsSpread,
    kNextIsUsed,
  };

  /// Replaced every so often. `expiry`: after so much silence a receiver counts as lost.
  MasterKey(Duration every, Duration expiry);
  void Restore(const StoredKey& stored) { key_ = stored; }
  [[nodiscard]] const StoredKey& stored() const { return key_; }

  /// New tokens are signed with it.
  [[nodiscard]] std::uint32_t current() const { return key_.current; }
  /// What receivers should know: the next one, once there is one.
  [[nodiscard]] std::uint32_t newest() const { return key_.next.value_or(key_.current); }
  /// Tokens signed with it are taken.
  [[nodiscard]] bool Accepts(std::uint32_t key) const {
    return key == key_.current || key == key_.next;
  }
  /// When the next turn comes.
  [[nodiscard]] Instant due() const { return key_.next ? key_.activates_at : key_.rolls_at; }
  Turn TakeTurn(Instant now);

 private:
  Duration every_;
  Duration activation_;
  StoredKey key_;
};

}  // namespace tfyarn::fakes
