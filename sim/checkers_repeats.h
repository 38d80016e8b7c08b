// said-again: what is not answered is said again.
//
// core/model/channel.h and am.h say of each report, order, call and journal entry until when its
// sender repeats it. Counted here from what leaves agents and ApplicationMasters and what reaches
// them; no clock of theirs is known but that none waits for longer than a minute.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/record.h"

namespace tfyarn::sim {

class RepeatWatch {
 public:
  void Observe(const trace::TraceRecord& record);
  /// Time has passed up to here.
  void Pass(Instant until);
  /// The simulator has taken all away that is left of the job.
  void Forget(trace::JobIndex job);

  struct Broken {
    trace::JobIndex job;
    Instant at{};
    std::string what;
  };
  /// How many things were said for which an answer is due.
  [[nodiscard]] std::uint64_t judged() const { return judged_; }
  [[nodiscard]] bool sound() const { return broken_.empty(); }
  /// What was not said again since the last call, in order.
  [[nodiscard]] std::vector<Broken> TakeNew() { return std::exchange(broken_, {}); }

 private:
  enum class Sender : std::uint8_t { kAgent, kAm };
  /// What kind of thing is said; with `number` it is one thing.
  enum class Saying : std::uint8_t {
    kRegisterAgent,
    kProcessRunning,
    kProcessEnded,
    kNews,  ///< The latest of one ReportKind.
    kStartProcess,
    kStopProcess,
    kEndAgent,
    kRegisterAm,
    kAllocate,
    kFinish,
    kAppend,
  };
  /// The sender: an agent, or an order to it, by its container; an AM's calls by its job.
  struct Key {
    Sender sender = Sender::kAgent;
    ContainerId container;
    std::uint32_t job = 0;
    Saying saying{};
    std::uint64_t number = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
    [[nodiscard]] bool TellsAddress() const {
      return saying == Saying::kNews &&
             number == static_cast<std::uint64_t>(ReportKind::kAddressChanged);
    }
  };
  /// What the AM says to the RM or to its journal.
  static Key OfAm(std::uint32_t job, Saying saying, std::uint64_t number = 0) {
    return {.sender = Sender::kAm, .container = {}, .job = job, .saying = saying, .number = number};
  }
  struct Said {
    Instant last{};
    std::uint32_t news = 0;  ///< kNews: its number.
    /// kStopProcess: from then on the AM may give up the agent.
    std::optional<Instant> overdue;
  };
  /// Faults under way that keep answers from coming in time, and until when there were such.
  struct HeldUp {
    std::set<std::pair<std::uint32_t, std::uint32_t>> faults;
    Instant until;
  };
  struct Due {
    Instant at{};
    std::uint64_t order = 0;
    Key key;
    friend bool operator>(const Due& a, const Due& b) {
      return std::pair(a.at, a.order) > std::pair(b.at, b.order);
    }
  };

  /// How long its sender may wait before it says it again.
  static Duration BoundOf(Saying saying);
  void On(const trace::AgentOrdered& fact);
  void On(const trace::AgentTold& fact);
  void On(const trace::AmOrdered& fact);
  void On(const trace::AmTold& fact);
  void On(const trace::FaultBegan& fact);
  void On(const trace::FaultEnded& fact);
  void Says(std::uint32_t job, const ContainerId& container, const AgentToAm& message);
  void Says(std::uint32_t job, const ContainerId& container, const AmToAgent& message);
  void Calls(std::uint32_t job, const CallRm& call);
  void RmAnswers(std::uint32_t job, const RmReplied& reply);
  void Hears(std::uint32_t job, const AgentToAm& message);
  void Hears(const ContainerId& container, const AmToAgent& message);
  void Open(Key key, std::uint32_t news = 0);
  /// What `sender` says about the container: all of it, one kind of thing, or where `ends(key,
  /// said)`.
  void Close(Sender sender, const ContainerId& container);
  void Close(Sender sender, const ContainerId& container, Saying saying);
  template <typename Ends>
  void CloseWhere(Sender sender, const ContainerId& container, Ends ends);
  /// An agent that looks for its AM need not repeat meanwhile.
  void PutOff(Sender sender, const ContainerId& container);
  void CloseAm(std::uint32_t job);
  void CloseOrders(const ContainerId& container, TaskAttempt up_to);
  [[nodiscard]] bool IsAnsweredNow(const Key& key) const;
  [[nodiscard]] static std::string Sentence(const Key& key, const Said& said);

  Instant now_{};
  std::map<Key, Said> open_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> dues_;
  std::uint64_t order_ = 0;
  /// Attempt and resubmission of an AM, as its records have them.
  using Am = std::pair<std::int32_t, std::optional<std::int32_t>>;
  std::map<std::uint32_t, Am> am_;                  ///< By job: the one that started last.
  std::map<ContainerId, std::uint32_t> job_of_am_;  ///< By the AM's container.
  /// The latest request with news, and the calls that have told it and may have been answered: an
  /// answer without news is in no trace.
  struct Allocate {
    std::int32_t response_id = 0;
    std::set<CallId> calls;
  };
  std::map<std::uint32_t, Allocate> allocates_;  ///< By job.
  std::set<std::uint32_t> storing_;              ///< Jobs whose AM's journal has yet to answer.
  std::set<ContainerId> looking_;                ///< Whose agents look for an AM.
  std::set<ContainerId> gone_;           ///< An agent that is not there need not be told to end.
  std::set<std::uint32_t> unregisters_;  ///< Jobs whose AM has told the RM its final status.
  /// By job: of each container the latest process whose end the AM has recorded.
  std::map<std::uint32_t, std::map<ContainerId, TaskAttempt>> ended_;
  /// By job: containers whose agents have told the AM that nothing runs, and were ordered no start
  /// since.
  std::map<std::uint32_t, std::set<ContainerId>> idle_;
  Key answered_;  ///< What an agent heard the answer to last, and when.
  Instant answered_at_ = Instant::min();
  HeldUp ams_, agents_;
  std::uint64_t judged_ = 0;
  std::vector<Broken> broken_;
};

}  // namespace tfyarn::sim
