// The asks of one queue's applications, grouped so that a scheduler never looks at all of them.
//
// Asks for "anywhere" of one partition, amount and user are one class: whether such a container
// fits a node, and whether the user may have it, is decided once for the class, and its first
// application in order is at hand. Applications with asks for named hosts or racks are listed apart
// and looked at one by one. A container: a scheduler has one for each set of applications that it
// orders, and decides which asks belong there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "fakes/yarn-rm/asks.h"

namespace tfyarn::fakes {

struct RmApplication;

/// Order of service within a queue: higher application priority, earlier submission, then the ask's
/// own order.
struct DemandOrder {
  std::int64_t rank = 0;  ///< Negated application priority.
  std::uint64_t sequence = 0;
  AskKey key;
  friend auto operator<=>(const DemandOrder&, const DemandOrder&) = default;
};

struct Demand {
  RmApplication* application = nullptr;
  AskEntry* ask = nullptr;
};

struct DemandClass {
  std::int32_t partition = 0;
  std::int32_t shape = 0;
  std::int32_t user = 0;
  std::map<DemandOrder, Demand> all;
  std::map<DemandOrder, Demand>
      reservable;  ///< Those of `all` that want more containers than nodes are kept for them.
};

class DemandIndex {
 public:
  /// The ask, in the order of service of its application and its key. `ask` stays where it is until
  /// the application is removed.
  void Add(RmApplication& application, AskEntry& ask);
  /// The application, looked at as a whole, at the order of this ask of it.
  void AddLocated(RmApplication& application, const AskEntry& ask);
  /// All of the application.
  void Remove(RmApplication& application);
  /// How many nodes are kept for the ask has changed.
  void RefreshReservable(RmApplication& application, const AskEntry& ask);

  /// Classes that have members; in no meaningful order.
  [[nodiscard]] const std::vector<DemandClass*>& ClassesIn(std::int32_t partition) const;
  [[nodiscard]] const std::map<DemandOrder, RmApplication*>& LocatedIn(
      std::int32_t partition) const;
  [[nodiscard]] bool EmptyIn(std::int32_t partition) const {
    return ClassesIn(partition).empty() && LocatedIn(partition).empty();
  }

 private:
  struct Partition {
    std::vector<DemandClass*> classes;
    std::map<DemandOrder, RmApplication*> located;
  };
  Partition& At(std::int32_t partition);
  void Remove(DemandClass& demand_class, const DemandOrder& order);

  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::unique_ptr<DemandClass>>
      classes_;
  std::vector<Partition> partitions_;
};

}  // namespace tfyarn::fakes
