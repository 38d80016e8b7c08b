// What we ask of the ResourceManager, and what it has been told: the difference goes with the next
// heartbeat.
//
// YARN's rows are absolute counts that the RM lowers by itself when it allocates, some time before
// we hear of the grants. Saying an old number again therefore asks for more. So the book keeps the
// RM's view beside ours: told rows are lowered by the grants as they arrive, and only a row in
// which both views differ is sent. Not here: which containers we want and why (GangAllocator), and
// when a heartbeat is due (RmSession).
//
// Source: hadoop-yarn-server-resourcemanager AppSchedulingInfo.java,
// LocalityAppPlacementAllocator.java.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/resource.h"
#include "core/model/yarn.h"

namespace tfyarn::allocation {

/// The RM keeps asks of different keys apart, also in size. Lower priorities are served first, then
/// lower ids.
struct AskKey {
  std::int32_t priority = 0;
  std::int64_t allocation_request_id = 0;
  friend auto operator<=>(const AskKey&, const AskKey&) = default;
};

/// At most `count` containers on that host.
struct AskHost {
  std::string host;
  std::string rack;
  std::int32_t count = 0;
  friend bool operator==(const AskHost&, const AskHost&) = default;
};

/// At most `count` containers in that rack.
struct AskRack {
  std::string rack;
  std::int32_t count = 0;
  friend bool operator==(const AskRack&, const AskRack&) = default;
};

/// `count` equal containers. Without hosts: anywhere. With hosts: only there, each host and rack up
/// to its own count (three kinds of rows, the upper two strict; RMs grant such containers all in
/// one node heartbeat).
struct Ask {
  AskKey key;
  Resource capability;
  std::string node_label;      ///< Sent on the "*" row only.
  std::int32_t count = 0;      ///< > 0.
  std::vector<AskHost> hosts;  ///< Sorted by host, counts > 0.
  std::vector<AskRack> racks;  ///< Sorted by rack, counts > 0; every host's rack is among them.
  friend bool operator==(const Ask&, const Ask&) = default;
};

class AskBook {
 public:
  /// Everything that is wanted from now on, in any order; keys must differ. A key that is missing
  /// is withdrawn. False when it is what was wanted before.
  bool SetWanted(std::vector<Ask> asks);

  /// True when the RM's view differs from ours.
  [[nodiscard]] bool changed() const { return changed_; }
  /// The rows that differ, in the order of keys, "*" last within a key. They count as told from now
  /// on; what was told before is kept until OnAnswered or OnRefused.
  [[nodiscard]] std::vector<yarn::ResourceRequest> TakeChanges();
  /// The RM took the last TakeChanges and sent these containers with the same answer.
  void OnAnswered(const std::vector<yarn::Container>& granted);
  /// The RM took nothing of the last TakeChanges.
  void OnRefused();
  /// The RM has forgotten everything: all that is wanted is a change again.
  void ForgetTold();

  /// Outstanding containers by the RM's view as far as we know it; tests and notes.
  [[nodiscard]] std::int64_t told_total() const;

 private:
  struct Row {
    Resource capability;
    std::int32_t count = 0;
    bool relax_locality = true;
    std::string node_label;
    friend bool operator==(const Row&, const Row&) = default;
  };
  /// Rows of one key by resource name.
  struct Rows {
    std::map<std::string, Row> by_name;
    std::map<std::string, std::string> rack_of_host;
  };
  using Table = std::map<AskKey, Rows>;
  /// A key as it was told before the unanswered request.
  struct Before {
    Rows rows;
    std::set<std::string> replaced;  // rows that are in the request
  };

  [[nodiscard]] static Rows RowsOf(const Ask& ask);
  [[nodiscard]] static yarn::ResourceRequest RequestOf(const AskKey& key, const std::string& name,
                                                       const Row& row);
  [[nodiscard]] static bool Lower(Rows& rows, const std::string& name);
  void LowerFor(const yarn::Container& container);
  [[nodiscard]] std::vector<AskKey> KeysOfBoth() const;
  void AppendChanges(const AskKey& key, std::vector<yarn::ResourceRequest>& changes) const;
  void UpdateChanged();

  std::vector<Ask> asks_;
  Table wanted_;                     // of asks_
  Table told_;                       // rows with count 0 are absent
  std::map<AskKey, Before> before_;  // of the keys in the unanswered request
  bool changed_ = false;
};

}  // namespace tfyarn::allocation
