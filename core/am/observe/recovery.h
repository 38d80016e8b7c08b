// After an AM restart: what the journal says, and how it fits the containers and agents that are
// still there.
//
// The journal gives, for each task, the agent that was launched last and the process that was
// ordered last. The AM expects such an agent to register. Until it does, or the RM reports the end
// of its container, its process counts as alive, so that training does not notice the restart. The
// AM stops containers that no task has by the journal, and takes agents for lost that have not
// registered by the registration deadline. A failure on which nothing was decided is found out once
// more, with the evidence that the journal has of it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/allocation/allocation.h"
#include "core/am/ledger.h"
#include "core/am/task_table.h"
#include "core/journal/journal.h"
#include "core/model/channel.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

struct AmParts;

class Recovery {
 public:
  explicit Recovery(AmParts& parts) : parts_(parts) {}

  /// Takes in what earlier attempts wrote, and says what they may not have come to say.
  void Read(const journal::JournalReading& reading);
  /// There was anything to take over.
  [[nodiscard]] bool taken_over() const { return taken_over_; }
  /// The journal was read, and no task has its container back yet.
  [[nodiscard]] bool pending() const { return pending_; }
  /// The RM accepted this attempt: these containers live.
  void OnAdmitted(const allocation::Admission& admission);
  /// A container of an earlier attempt whose node came back late.
  void OnPreviousContainer(const allocation::HeldContainer& container);
  /// An expected agent has registered while its process counted as alive.
  void OnReattached(TaskIndex task, const RegisterAgent& message);
  /// An agent runs a process that the journal has lost: it must end before another one starts.
  void StopUnknownProcess(TaskIndex task, const ProcessRef& process);
  /// An agent tells the end of such a process: the next one gets another number, in a later epoch.
  void PassOverUnknownEnd(TaskIndex task, const ProcessRef& process);
  /// Deadline::kReattach.
  void OnReattachOver();

 private:
  void SetClock(const journal::JournalReading& reading);
  void RestoreAddress(TaskIndex task);
  [[nodiscard]] static bool WentWithIt(TaskIndex task, const Ledger& left);
  [[nodiscard]] bool IsStranger(const ContainerId& container) const;
  void Announce(const journal::JournalReading& reading) const;
  /// `known`: `living` has all containers that live.
  void Adopt(TaskIndex task, const Ledger& left, const std::map<ContainerId, NodeId>& living,
             bool known);
  void Plan();
  [[nodiscard]] bool StartsWithEpoch(TaskIndex task, const Ledger& left) const;
  /// What an AM shows and knows of the task by its ledger alone.
  void Recall(TaskIndex task);
  void GoOnFrom(TaskIndex task, const ProcessRef& process);

  AmParts& parts_;
  bool taken_over_ = false;
  bool pending_ = false;
};

}  // namespace tfyarn::am
