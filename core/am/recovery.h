// After an AM restart: what the journal says, and putting it together with containers and agents
// that are still there.
//
// The journal gives, for each task, the agent that was launched last and the process that was
// ordered last. Such an agent is expected to register; until it does, or its container is reported
// ended, its process counts as alive, so that training does not notice. Containers that no task has
// by the journal are stopped. Who has not spoken by the registration deadline is lost. A failure on
// which nothing was decided is found out once more, with the evidence that the journal has of it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/am/journal.h"
#include "core/am/task_table.h"
#include "core/model/channel.h"
#include "core/model/task_index.h"
#include "core/model/yarn.h"

namespace tfyarn::am {

struct AmParts;

class Recovery {
 public:
  explicit Recovery(AmParts& parts) : parts_(parts) {}

  /// Takes in what earlier attempts wrote, and says what they may not have come to say.
  void Read(const JournalReading& reading);
  /// There was anything to take over.
  [[nodiscard]] bool taken_over() const { return taken_over_; }
  /// The journal was read, and no task has its container back yet.
  [[nodiscard]] bool pending() const { return !pasts_.empty(); }
  /// The RM accepted this attempt: these containers live.
  void OnRegistered(const std::vector<yarn::Container>& containers, bool known);
  /// A container of an earlier attempt whose node came back late.
  void OnPreviousContainer(const yarn::Container& container);
  /// An expected agent has registered while its process counted as alive.
  void OnReattached(TaskIndex task, const RegisterAgent& message);
  /// An agent runs a process that the journal has lost: it must end before another one starts.
  void StopUnknownProcess(TaskIndex task, const ProcessRef& process);
  /// The task's agent is of an earlier attempt, has yet to find this one, and may still come.
  [[nodiscard]] bool Awaits(TaskIndex task) const;
  /// Some task's is.
  [[nodiscard]] bool AwaitsAgents() const;
  /// Timer::kReattach.
  void OnReattachOver();

 private:
  /// What the entries say of one task.
  struct Past {
    std::optional<JournaledAgent> agent;
    SpecRef spec;               ///< That its latest process was ordered under.
    Incarnation agent_at_spec;  ///< Whose address the latest spec has.
    TaskAttempt attempt;
    Epoch epoch;
    bool ordered = false;
    bool alive = false;       ///< By the journal.
    bool restarting = false;  ///< A restart was decided and its process not yet ordered.
    bool with_epoch = false;  ///< ... in a new epoch.
    bool replaced = false;    ///< ... in another container: the one that it has must go.
    Outcome outcome = Outcome::kOpen;
  };

  void RestoreAddress(TaskIndex task);
  [[nodiscard]] bool WentWithIt(const Past& past) const;
  [[nodiscard]] bool IsStranger(const ContainerId& container) const;
  [[nodiscard]] bool IsOfEarlierAttempt(TaskIndex task) const;
  void Take(const AttemptStarted& entry);
  void Take(const AgentsLaunched& entry);
  void Take(const FailureSeen& entry);
  [[nodiscard]] bool has_spec() const { return spec_.get() != nullptr; }
  void Take(const EpochBegan& entry);
  void Take(const ProcessesOrdered& entry);
  void Take(const AllRunning& entry);
  void Take(const GaveBack& entry);
  void Take(const RestartPaid& entry);
  void Take(const TaskEnded& entry);
  void Take(const TypeWaived& entry);
  void Take(const MemoryRaised& entry);
  void Take(const VerdictDecided& entry);
  void Take(const HostsKeptOff& entry);

  [[nodiscard]] Past* PastOf(const TaskId& task);
  /// A process of it was ordered to start. Null: the job has no such task.
  Past* Ordered(const JournaledProcess& process, Epoch epoch, WallTime wall);
  void Forget(const TaskId& failed);
  void Announce(const JournalReading& reading) const;
  /// `known`: `living` has all containers that live.
  void Adopt(TaskIndex task, const Past& past, const std::map<ContainerId, yarn::Container>& living,
             bool known);
  void Plan();

  AmParts& parts_;
  std::vector<Past> pasts_;  // by task index; empty once used
  SpecRef spec_;             ///< The latest; default-made: there was none.
  std::optional<VerdictDecided> verdict_;
  std::vector<FailureSeen> undecided_;  ///< In order.
  std::optional<WallTime> all_running_;
  bool gave_all_back_ = false;  ///< Since the latest spec.
  bool taken_over_ = false;
};

}  // namespace tfyarn::am
