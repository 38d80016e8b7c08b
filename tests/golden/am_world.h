// The world around one ApplicationMaster in golden scripts: a ResourceManager, NodeManagers, agents
// and a journal that do what a script's commands say, and answer by themselves what no script cares
// about.
//
// By themselves: the journal stores, the RM registers and answers every allocate with what the
// script has put aside for it, NMs start and stop containers, agents are vouched for. A script says
// what they do not do by themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/am/application_master.h"
#include "core/model/am.h"
#include "core/model/launch.h"

namespace tfyarn::am {

class AmWorld {
 public:
  AmWorld();

  /// Carries out one command line and returns what the AM ordered meanwhile, one line each; "" =
  /// nothing of note.
  std::string Do(const std::string& line);

  /// The AM has ended.
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] const std::optional<VerdictReached>& verdict() const {
    return am_->snapshot().verdict;
  }
  [[nodiscard]] std::size_t journal_size() const { return journal_.size(); }
  /// What is stored, and on its way there, says what the AM decides by. True before it has read its
  /// journal, and where others have altered it since.
  [[nodiscard]] bool FoldsToItsLedger() const;
  /// The task's agent has a process that runs and was not told to stop.
  [[nodiscard]] bool runs(const TaskId& task) const;

 private:
  struct Agent {
    AgentFence fence;
    NodeId node;
    HostPort address;
    std::optional<ProcessRef> ordered;  // the latest StartProcess that was not yet answered
    std::optional<ProcessRef> running;
    std::optional<ProcessEnded> unseen_end;  // until ReportSeen
    bool stop_ordered = false;
    bool end_ordered = false;
  };
  using Words = std::vector<std::string>;

  /// Of the task's latest agent, or that in which none was launched yet.
  [[nodiscard]] ContainerId ContainerOf(const TaskId& task) const;

  // Commands.
  void Submit(const Words& words);
  void SetJob(const std::string& key, const std::string& value);
  void Grant(const Words& words);
  void Extra(const Words& words);
  void Register(const Words& words);
  void Running(const Words& words);
  void Exit(const Words& words);
  void Stopped(const Words& words);
  void Ended(const Words& words);
  void Complete(const Words& words);
  void Node(const Words& words);
  void Nm(const Words& words);
  void Rm(const Words& words);
  void JournalCommand(const Words& words);
  void RestartAm(const Words& words);
  void Silence(const Words& words);
  void Stale(const Words& words);
  void Address(const Words& words);
  void Stalled(const Words& words);
  void Signs(const Words& words);
  void Preempt(const Words& words);
  void State();

  // The machine and its world.
  void StartAm();
  void Step(AmEvent event);
  void Advance(Duration time);
  void NextAllocate();
  void Carry(const AmAction& action);
  void CarryRm(const CallRm& call);
  [[nodiscard]] yarn::RmResponse Allocate(const yarn::AllocateRequest& request);
  void CarryNm(const CallNm& call);
  void CarryAppend(const AppendJournal& append);
  void CarryToAgent(const SendToAgent& send);
  void PrintAccount(const AmAction& action);
  void Say(AgentToAm message);
  [[nodiscard]] std::vector<TaskId> TasksOf(const Words& words, std::size_t from) const;
  [[nodiscard]] yarn::Container MakeContainer(const yarn::ResourceRequest& row,
                                              const std::string& host);
  [[nodiscard]] std::string TypeOf(const yarn::ResourceRequest& row) const;
  void Print(std::string line);

  JobSpec job_;
  std::shared_ptr<const JobSpec> shared_job_;
  std::unique_ptr<ApplicationMaster> am_;
  std::deque<AmEvent> events_;  // answers that come at once
  std::string printed_;
  bool verbose_ = false;
  bool over_ = false;

  Instant now_{};
  std::int32_t am_attempt_ = 0;
  std::string journal_;
  std::size_t journal_entries_ = 0;
  bool journal_on_ = true;
  bool journal_altered_ = false;  // since the AM has read it, by other hands
  bool journal_taken_ = false;
  bool hdfs_answers_ = true;  // What it is asked for; the journal goes by journal_on_.

  bool rm_on_ = true;
  bool rm_forgot_ = false;
  bool allocated_ = false;
  std::map<std::pair<std::int32_t, std::int64_t>, yarn::ResourceRequest>
      asks_;  // "*" rows outstanding
  std::int64_t next_container_ = 1;
  bool gives_tokens_ = true;  ///< With the containers that are granted now.
  std::int32_t next_host_ = 0;
  std::vector<yarn::NodeReport> nodes_;
  yarn::AllocateResponse next_response_;
  std::map<ContainerId, yarn::Container> alive_;     // by the RM's books
  std::map<std::string, yarn::RpcError> nm_errors_;  // by host

  std::map<TaskId, Agent> agents_;
  std::map<TaskId, Agent> former_agents_;
  std::int32_t next_port_ = 2001;
};

}  // namespace tfyarn::am
