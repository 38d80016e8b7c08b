// Hosts that the RM is not to offer: excluded ones, and those on which nothing that is asked for
// could run.
//
// The RM keeps them off for the next AM attempt, too, which could not know of them otherwise. So a
// host is stored in the journal before the RM is told to keep it off; what is kept off no more may
// be asked for at once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/allocation/gang_allocator.h"
#include "core/allocation/node_exclusion.h"
#include "core/allocation/rm_session.h"
#include "core/journal/outbox.h"

namespace tfyarn::allocation {

class KeptOff {
 public:
  KeptOff(GangAllocator& gang, NodeExclusion& exclusion, RmSession& rm)
      : gang_(gang), exclusion_(exclusion), rm_(rm) {}

  /// See Allocation::HostsToStore. `nodes`: so many the RM counts.
  [[nodiscard]] std::optional<std::vector<std::string>> ToStore(Instant now, std::int32_t nodes,
                                                                const std::set<std::string>& stored,
                                                                bool finishing);
  void OnStored(JournalSeq entry) { entry_ = entry; }
  /// Tells the session what may be told.
  void Tell(const journal::Outbox& out);

 private:
  [[nodiscard]] std::set<std::string> Wanted(std::int32_t nodes) const;

  GangAllocator& gang_;
  NodeExclusion& exclusion_;
  RmSession& rm_;
  std::set<std::string> hosts_;
  std::int32_t made_of_ = 0;  ///< So many nodes the RM counted when `hosts_` was made.
  JournalSeq entry_;
  bool untold_ = false;  ///< The session is yet to be told of all of `hosts_`.
};

}  // namespace tfyarn::allocation
