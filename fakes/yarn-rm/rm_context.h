// What the parts of the ResourceManager share: its records; and what a scheduler may order of it.
//
// A scheduler reads the records, and changes of them what is its own: nodes kept for an ask, missed
// opportunities, who is active. All else it orders.
//
// Source: RMContext.java, SchedulerNode.java, SchedulerApplicationAttempt.java.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "fakes/yarn-rm/asks.h"
#include "fakes/yarn-rm/ended_applications.h"
#include "fakes/yarn-rm/master_key.h"
#include "fakes/yarn-rm/node_book.h"
#include "fakes/yarn-rm/queue_tree.h"
#include "fakes/yarn-rm/resource_limits.h"
#include "fakes/yarn-rm/rm_books.h"
#include "fakes/yarn-rm/rm_options.h"
#include "fakes/yarn-rm/rm_records.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {

/// A container that will be taken when its notice is over.
struct Preempted {
  ContainerId container;
  bool by_scheduler = false;  ///< Spared when its partition has enough by then.
};

struct RmRecords {
  explicit RmRecords(RmOptions with);
  RmRecords(const RmRecords&) = delete;
  RmRecords& operator=(const RmRecords&) = delete;

  [[nodiscard]] RmApplication* Find(const ApplicationId& id) {
    const auto found = applications.find(id);
    return found == applications.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] BookedContainer* Find(const ContainerId& id) {
    RmApplication* application = Find(id.application_attempt.application);
    if (application == nullptr) return nullptr;
    const auto found = application->containers.find(id);
    return found == application->containers.end() ? nullptr : &found->second;
  }
  /// nullopt: the cluster has no such partition.
  [[nodiscard]] std::optional<std::int32_t> FindPartition(const std::string& label) const;
  /// Its number; a new one when there was none.
  std::int32_t PartitionNumber(const std::string& label);
  /// A restarted RM waits for its nodes first.
  [[nodiscard]] bool scheduling_allowed() const { return !ready_at.has_value(); }

  RmOptions options;
  Instant now{};
  std::int64_t epoch = 0;          ///< How many RMs there were before this one.
  std::int64_t rm_identifier = 0;  ///< Of this RM process; application ids carry it.
  Instant started_at{};
  std::optional<Instant> ready_at;  ///< Scheduling waits until then.
  MasterKey amrm_key;
  MasterKey nm_key;
  MasterKey container_key;
  std::shared_ptr<TokenBook> tokens;  ///< The same for all RMs of a cluster.

  NodeBook nodes;
  std::vector<std::string> partitions;  ///< Names by number; 0 is the default one, "".
  ResourceLimits limits;
  NameNumbers places;  ///< Hosts and racks.
  NameNumbers users;
  ShapeNumbers shapes;
  QueueTree queues;
  std::map<ApplicationId, std::unique_ptr<RmApplication>> applications;
  EndedApplications ended;
  std::map<std::uint64_t, Preempted> preempting;  ///< By the container's sequence.
  RmBooks books;                                  ///< Views of the above.
};

class RmContext {
 public:
  RmContext(const RmContext&) = delete;
  RmContext& operator=(const RmContext&) = delete;

  [[nodiscard]] RmRecords& records() { return records_; }

  /// One container of the ask, on this node; the ask is gone with its last one.
  virtual void Grant(RmApplication& application, AskEntry& ask, RmNode& node, Locality locality,
                     const Resource& resource) = 0;
  /// Says that the node's next heartbeat would be assigned something.
  virtual void SayNews(RmNode& node) = 0;
  /// What clients are told of the application has changed.
  virtual void ReportChanged(const ApplicationId& application) = 0;
  /// The container is taken in `preemption_notice`, should its partition still need it then.
  virtual void GiveNotice(BookedContainer& container) = 0;
  /// Scheduler::OnWake at that instant.
  virtual void WakeScheduler(Instant at) = 0;

 protected:
  explicit RmContext(RmRecords& records) : records_(records) {}
  ~RmContext() = default;

  RmRecords& records_;
};

}  // namespace tfyarn::fakes
