// A closed, small world around one real ApplicationMaster and its real TaskAgents: what can happen
// next is a list of moves, of which the explorer takes one.
//
// There is a ResourceManager that grants what is asked, one container on each node; NodeManagers
// that start and stop; a journal; processes that run and end. Time stands still while anything can
// happen at this instant (later, within Scope::latency), then it goes on to the next deadline.
//
// Left out, as it brings nothing but more orders: heartbeats of agents are vouched for, and so are
// idle ones to the RM (core/model/elision.h); a node starts an agent, and an agent leases a port
// and spawns a process, within the move that ordered it; a call reaches the RM or a NM at once, and
// only its answer is on its way; grants come with the next answer, all of them.
//
// It also keeps the books that its checks need (books.h), and the facts and decisions of its path.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/am/application_master.h"
#include "core/trace/record.h"
#include "tests/exhaustive/books.h"
#include "tests/exhaustive/facts.h"
#include "tests/exhaustive/scope.h"

namespace tfyarn::exhaustive {

class MemoryHash;

enum class MoveKind : std::uint8_t {
  kAmStarts,
  kDelivered,    ///< `item`: position in the mail.
  kStored,       ///< The append under way.
  kEnds,         ///< The process in container `item` ends by itself: its work is done, or it heard
                 ///< SIGTERM or SIGKILL.
  kPeerless,     ///< It cannot go on without a peer.
  kTaken,        ///< The RM takes container `item` of which it gave notice.
  kNodeGivenUp,  ///< The RM gives up the node of container `item`.
  kAmTimer,
  kAgentTimer,  ///< Of the agent in container `item`.
  kTimePasses,
  kFault,  ///< `item`: container or position in the mail.
};

struct Move {
  MoveKind kind = MoveKind::kTimePasses;
  Fault fault = Fault::kExit1;  ///< With kFault.
  std::uint16_t item = 0;
  std::uint64_t id = 0;  ///< The same move has the same id in every state in which it can be taken.
};

/// Parts of the world that a move reads or writes; of two moves that touch none in common, neither
/// changes what the other does. Bit 8 and up: the containers.
enum Part : std::uint32_t {
  kPartAm = 1U << 0,
  kPartRm = 1U << 1,
  kPartJournal = 1U << 2,
  kPartTeam = 1U << 3,    ///< Who trains together, and when its work is done.
  kPartFaults = 1U << 4,  ///< How many are left.
  kPartBooks = 1U << 5,   ///< What was decided, and what processes there were.
  kPartAll = ~0U,
};
[[nodiscard]] constexpr std::uint32_t PartOfContainer(std::size_t container) {
  return 1U << (8 + container % 24);
}

class World {
 public:
  /// Follows one path, for people and for judges. Not while exploring.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnMove(const World& world, const Move& move) = 0;
    virtual void OnRecord(const trace::TraceRecord& record) = 0;
  };

  /// `scope` must outlive it. `listener`: may be nullptr.
  explicit World(const Scope& scope, Listener* listener = nullptr);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// All that can happen next; the first is what happens in an ordinary run. Valid until Take.
  [[nodiscard]] std::span<const Move> Moves() const;
  void Take(const Move& move);

  /// Parts that the last Take touched.
  [[nodiscard]] std::uint32_t touched() const { return touched_; }
  /// Equal for two states whose futures are the same, facts and decisions so far included.
  [[nodiscard]] std::uint64_t Key(MemoryHash& memory);

  /// The AM has ended, and nothing happens any more.
  [[nodiscard]] bool over() const { return over_; }
  /// What is wrong, in one sentence; empty: nothing so far.
  [[nodiscard]] const std::string& broken() const { return books_.broken(); }
  /// The same where no move is left: that the AM has not ended is wrong, too.
  [[nodiscard]] std::string HowBroken() const;
  [[nodiscard]] const std::vector<Fact>& facts() const { return facts_; }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  /// A fault has struck before what the one before it did was repaired.
  [[nodiscard]] bool overlapping() const { return overlapping_; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const Scope& scope() const { return scope_; }
  /// The move in words, before it is taken.
  [[nodiscard]] std::string TextOf(const Move& move) const;

 private:
  struct Process {
    ProcessRef ref;
    Instant since{};
    bool runs = false;
    bool told_to_end = false;  ///< SIGTERM or SIGKILL came; it ends at this instant.
    bool killed = false;
    bool ours = false;              ///< By our order, not as a warning.
    std::optional<Instant> broken;  ///< Since when it lacks a peer.
  };
  enum class At : std::uint8_t { kGranted, kLaunched, kGone };
  struct Container {
    yarn::Container grant;
    At at = At::kGranted;
    bool told = false;  ///< The AM knows of it, or will with the answer under way.
    bool node_up = true;
    std::int8_t task = -1;
    std::unique_ptr<agent::TaskAgent> agent;  ///< While it lives.
    AgentFence fence;
    std::int32_t leases = 0;
    Process process;
    std::optional<Instant> taken_at;     ///< Notice was given.
    std::optional<Instant> given_up_at;  ///< Its node is gone.
    std::uint64_t memory = 0;            ///< Hash of the agent's ...
    bool stepped = true;                 ///< ... unless it was stepped since.
  };
  struct Mail {
    Instant sent{};
    std::int32_t am_attempt = 0;  ///< To whom, or from whom.
    std::int16_t container = -1;  ///< -1: not of an agent.
    std::uint64_t hash = 0;       ///< Of all but `sent`.
    std::variant<AmEvent, AmToAgent> what;
  };
  struct Append {
    AppendJournal order;
    Instant sent{};
  };
  struct Row {
    std::int32_t priority = 0;
    std::int64_t id = 0;
    Resource capability;
    std::int32_t count = 0;
  };
  struct Rm {
    bool registered = false;
    std::int32_t response_id = 0;
    yarn::AllocateResponse last;  ///< What a repeated call is answered with.
    yarn::AllocateResponse news;
    std::vector<Row> asks;
    bool finished = false;
  };

  // world.cc
  void ListMoves() const;
  void AddMove(MoveKind kind, std::size_t item, std::uint64_t content, Fault fault) const;
  void ListFaults() const;
  [[nodiscard]] bool MayPass() const;
  [[nodiscard]] std::optional<Instant> NextInstant() const;
  void Pass();
  [[nodiscard]] bool IsQuiet() const;
  void Strike(const Move& move);
  void Touch(std::uint32_t parts) { touched_ |= parts; }
  [[nodiscard]] std::optional<Instant> AmWakes() const;
  void AppendTo(std::vector<std::uint64_t>& words) const;

  // world_am.cc
  void StartAm();
  void StepAm(const AmEvent& event);
  void CatchUp();
  void Carry(const AmAction& action);
  void CarryRm(const CallRm& call);
  void CarryNm(const CallNm& call);
  void KillAm();
  void End(std::int32_t code);
  void Store();
  void TakeStored();
  void FailAppend(bool stored);
  void Deliver(std::size_t item);
  void PostToAm(AmEvent event, std::int16_t container = -1);
  void PostToAgent(std::size_t container, const AmToAgent& message);
  void Post(Mail mail);
  void LoseMail(std::size_t item);

  // world_yarn.cc
  [[nodiscard]] yarn::RmResponse Allocate(const yarn::AllocateRequest& request);
  void Grant();
  [[nodiscard]] yarn::RmResponse Register();
  void ForgetAttempt();
  [[nodiscard]] yarn::NmResponse Launch(std::size_t container,
                                        const yarn::StartContainerRequest& request);
  /// The container is gone with all that runs in it, and the RM tells `exit` with its next answer.
  void EndContainer(std::size_t container, std::int32_t exit, std::string_view why, bool fact);
  void LoseNode(std::size_t container);
  void GiveUpNode(std::size_t container);
  [[nodiscard]] std::optional<std::size_t> Find(const ContainerId& id) const;
  void AppendRm(std::vector<std::uint64_t>& words) const;

  // world_tasks.cc
  void StepAgent(std::size_t container, const AgentEvent& event);
  void Carry(std::size_t container, const AgentAction& action);
  void Spawn(std::size_t container, const SpawnProcess& order);
  void Signal(std::size_t container, const SignalProcess& order);
  void EndProcess(std::size_t container, ProcessExit exit, bool fact);
  void AgentGone(std::size_t container);
  void VouchForAgent(std::size_t container, bool vouched);
  void VouchForAm(std::size_t container, bool vouched);
  void TeamChanged();
  void Breaks(std::size_t container);
  [[nodiscard]] bool LacksPeer(const Container& container, const ClusterSpec& spec) const;
  [[nodiscard]] bool Trains(const Container& container) const;
  [[nodiscard]] bool EndsByItself(const Container& container) const;
  [[nodiscard]] std::optional<Instant> WorkDone(const Container& container) const;
  [[nodiscard]] std::optional<Instant> Quiet() const;

  void Record(trace::Fact fact);
  void Know(Fact fact);
  /// Its task, or, while it has none, minus its number.
  [[nodiscard]] std::int8_t SubjectOf(std::size_t container) const;
  void KnowWhose(std::size_t container);
  /// Of a fact.
  [[nodiscard]] std::int32_t Inside(std::size_t container) const;

  const Scope& scope_;
  Listener* listener_;
  Instant now_{};
  std::int32_t faults_left_ = 0;
  Instant disturbed_{};  ///< The latest fault; from there a verdict must come in time.
  bool overlapping_ = false;
  bool over_ = false;
  std::uint32_t touched_ = 0;

  std::unique_ptr<am::ApplicationMaster> am_;  ///< While it lives.
  std::int32_t am_attempt_ = 0;
  std::optional<Instant> am_starts_ = Instant{};
  std::optional<Instant> last_beat_;  ///< Its last allocate, while it is answered.
  std::uint64_t am_memory_ = 0;       ///< Hash of its memory ...
  bool am_stepped_ = true;            ///< ... unless it was stepped since.
  std::int32_t published_ = 0;        ///< Attempt whose address agents find.

  std::string journal_;
  std::optional<Append> append_;
  std::vector<Mail> mail_;  ///< In the order of hashes, then of `sent`.
  Rm rm_;
  std::vector<Container> containers_;  ///< In the order of the RM's numbers, from 1.
  /// A bit for each task that training cannot do without: all of a collective, or the parameter
  /// servers.
  std::uint32_t team_ = 0;
  std::uint32_t finished_ = 0;         ///< ... for each task whose work is done.
  Epoch broken_epoch_;                 ///< The latest that a member of a collective has left.
  std::optional<Instant> team_since_;  ///< All of the team that are not finished run since then.

  Books books_;
  std::vector<Fact> facts_;  ///< Sorted.
  Outcome outcome_;
};

}  // namespace tfyarn::exhaustive
