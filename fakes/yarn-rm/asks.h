// One application's outstanding asks, as the RM keeps them: rows by (priority, allocation request
// id), then by place.
//
// The last row of a key wins, counts are absolute, and what a real RM suffers from a bad row it
// suffers here: pending amounts follow the rows even where they go below zero.
//
// Source: AppSchedulingInfo.java, LocalityAppPlacementAllocator.java.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/resource.h"

namespace tfyarn::fakes {

/// Order of service: lower priority numbers first, then lower request ids.
struct AskKey {
  std::int32_t priority = 0;
  std::int64_t allocation_request_id = -1;
  friend auto operator<=>(const AskKey&, const AskKey&) = default;
};

struct AskRow {
  Resource capability;
  std::int64_t count = 0;  ///< May be below zero: a real RM takes that.
  bool relax = true;
};

struct AskEntry {
  AskKey key;
  bool am = false;             ///< The RM's own ask for an AM container.
  std::int32_t partition = 0;  ///< Of the "*" row.
  std::int32_t shape = -1;     ///< Of the "*" row's capability.
  std::optional<AskRow> any;   ///< The "*" row.
  std::map<std::int32_t, AskRow>
      places;               ///< Rows for hosts and racks, by place number, counts of zero included.
  std::int64_t missed = 0;  ///< Heartbeats that found nothing local since the last local grant.
  std::vector<std::int32_t> reserved;  ///< Nodes kept for this ask, ascending.

  /// Containers still to be granted; nothing is granted without a "*" row.
  [[nodiscard]] std::int64_t wanted() const { return any && any->count > 0 ? any->count : 0; }
  [[nodiscard]] const AskRow* RowOf(std::int32_t place) const {
    const auto row = places.find(place);
    return row == places.end() ? nullptr : &row->second;
  }
};

using AskTable = std::map<AskKey, AskEntry>;

/// Numbers for names (of hosts and racks, of users), and for distinct amounts: comparisons by
/// number are cheap.
class NameNumbers {
 public:
  std::int32_t Of(const std::string& name);

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
};

class ShapeNumbers {
 public:
  std::int32_t Of(const Resource& shape);
  [[nodiscard]] const Resource& operator[](std::int32_t number) const {
    return shapes_[static_cast<std::size_t>(number)];
  }

 private:
  struct Less {
    bool operator()(const Resource& a, const Resource& b) const;
  };
  std::vector<Resource> shapes_;
  std::map<Resource, std::int32_t, Less> numbers_;
};

/// The place of "*" in AskUpdate.
inline constexpr std::int32_t kAnywhere = -1;

/// All rows of one key in one allocate; a later row for a place has replaced an earlier one.
struct AskUpdate {
  std::map<std::int32_t, AskRow> rows;  ///< By place.
  std::int32_t partition = 0;           ///< Of the "*" row.
};

/// How an update changed what is pending.
struct PendingChange {
  std::int32_t partition = 0;
  Resource amount;  ///< To be added; may be negative.
};

/// Takes in the rows of one key. A "*" row of zero or less removes the key with all its rows,
/// unless the count before was below zero; what was pending below zero is then never made good.
[[nodiscard]] std::vector<PendingChange> UpdateAsk(AskTable& table, const AskKey& key,
                                                   const AskUpdate& update, ShapeNumbers& shapes);

enum class Locality { kNodeLocal, kRackLocal, kOffSwitch };

/// One container was granted: lowers the rows that such a grant lowers, and returns them with a
/// count of one each. `host` and `rack`: places of its node. The entry's "*" row is gone when it
/// reaches zero.
AskUpdate LowerAsk(AskEntry& entry, Locality locality, std::int32_t host, std::int32_t rack);

/// Takes a LowerAsk back: `taken` is what it returned.
/// Source: AppSchedulingInfo.updateResourceRequests with recoverPreemptedRequestForAContainer.
void RaiseAsk(AskTable& table, const AskKey& key, const AskUpdate& taken, ShapeNumbers& shapes);

}  // namespace tfyarn::fakes
