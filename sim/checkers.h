// The invariants: what must hold in every run, whatever the scenario. Each is one checker named for
// its property.
//
// They watch the trace as it is made and keep books of their own; the ApplicationMaster's state is
// never asked, and the fakes' only in full scans, where their books must agree with the checkers'.
// Nothing here changes the run: a violation is reported, and the run goes on. docs/invariants.md
// says what each one means; the list is kInvariants.
//
// Cheap on purpose: a record goes only to the checkers that watch its kind (checkers.cc, the
// table), most of which touch one entry of a table. What can only be seen when time has passed is
// looked at when the first record after it comes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/scenario.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/resource.h"
#include "core/trace/record.h"
#include "core/trace/result.h"

namespace tfyarn::sim {

struct Violation {
  std::string invariant;
  std::string detail;  ///< What, which id, what was expected.
  Instant at{};
  friend bool operator==(const Violation&, const Violation&) = default;
};

// ---------------------------------------------------------------- what full scans look at

/// A user process that lives, on any node that is up.
struct LiveProcess {
  trace::JobIndex job;
  ContainerId container;
  TaskId task;
  ProcessRef process;
  SpecId spec;
  NodeId node;
  bool reachable = true;  ///< From the job's AM and the RM.
};

/// A container in the RM's books, or on a node.
struct HeldContainer {
  trace::JobIndex job;
  ContainerId container;
  NodeId node;
  Resource resource;
  bool am = false;
  bool reachable = true;  ///< The node is up and the RM can reach it.
};

/// Implemented by the host. Called at full scans and at the end of a job; every list in any order.
class WorldView {
 public:
  virtual ~WorldView() = default;
  [[nodiscard]] virtual std::vector<LiveProcess> LiveProcesses() const = 0;
  /// What the RM's books say is granted and not freed.
  [[nodiscard]] virtual std::vector<HeldContainer> RmContainers() const = 0;
  /// What NodeManagers and nodes really have: containers with a living process (agent, AM).
  [[nodiscard]] virtual std::vector<HeldContainer> NodeContainers() const = 0;
  /// Of one job: machines with a pending timer or a message that repeats, locks, and other things
  /// that a finished job must not have, each as a short text.
  [[nodiscard]] virtual std::vector<std::string> RemainsOf(trace::JobIndex job) const = 0;
};

// ---------------------------------------------------------------- the checkers

class Checkers {
 public:
  /// Takes the list of invariants that are off, and the times that bounds are made of, from the
  /// scenario.
  /// `reference`: whether the reference model (reference-verdict) looks on.
  explicit Checkers(const config::Scenario& scenario, bool reference = true);
  ~Checkers();
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  /// A job is about to be created. `spec` must be complete (defaults filled in) and is kept.
  void JobSubmitted(trace::JobIndex job, std::shared_ptr<const JobSpec> spec);
  /// The NameNode has taken these bytes into the journal of one of the job's applications.
  void JournalStored(trace::JobIndex job, const ApplicationId& application, std::string_view bytes);
  /// The next record, in order.
  void Observe(const trace::TraceRecord& record);
  /// Compares books with the world's. Costs O(containers).
  void FullScan(Instant now, const WorldView& world);
  /// A minute after a job's end: nothing of it may be left. What was kept for the job is dropped.
  void JobSettled(Instant now, trace::JobIndex job, const WorldView& world);
  /// The end of the run: balances.
  void Finish(Instant now, trace::StopReason reason);

  /// Violations since the last call, in order.
  [[nodiscard]] std::vector<Violation> TakeNew();
  /// Every invariant with how often it was checked, in the order of config::InvariantNames.
  [[nodiscard]] std::vector<trace::InvariantResult> summary() const;

  class Books;

 private:
  std::unique_ptr<Books> books_;
};

}  // namespace tfyarn::sim
