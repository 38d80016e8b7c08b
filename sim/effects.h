// Effects of the product's machines, and how each can fail.
//
// Every action that a host carries out has a kind: the call, the message, the signal. Here are the
// kinds, read from the variants of actions themselves, so that a new action has one by being there,
// and the ways in which the effect of one action can go wrong once (RunOptions::sabotage). Which of
// them each kind has is in sim/damages.h; what the job may then come to is explore/relation.h's
// business; faults that users write are config/fault_kinds.h.
//
// Actions are counted as the trace has them: idle heartbeats are in none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/agent.h"
#include "core/model/am.h"
#include "core/model/client.h"
#include "core/model/describe.h"

namespace tfyarn::sim {

enum class EffectActor { kAm, kAgent, kClient };
BOOST_DESCRIBE_ENUM(EffectActor, kAm, kAgent, kClient)

/// The actor, and the kind of its action: "Allocate", "StartContainers", "AppendJournal",
/// "StartProcess", "SpawnProcess", "SignalTerm", ...
struct EffectName {
  EffectActor actor = EffectActor::kAm;
  std::string kind;
  friend auto operator<=>(const EffectName&, const EffectName&) = default;
};

/// The kind of an action; accounts for the trace, which order nothing, have one too.
[[nodiscard]] std::string EffectKind(const AmAction& action);
[[nodiscard]] std::string EffectKind(const AgentAction& action);
[[nodiscard]] std::string EffectKind(const ClientAction& action);

/// Every kind there is, from the variants: calls by their requests, messages by their names. Kinds
/// that no machine of ours ever sends to that side (NodeHeartbeat) are among them.
[[nodiscard]] std::vector<EffectName> AllEffects();

/// What goes wrong with one effect.
enum class Damage {
  kLost,        ///< Nothing comes of it. Of a call its host says in time that no answer came; what
                ///< has no such word (a port, a process to be started) is not answered at all.
  kUnanswered,  ///< It is carried out. Of a call its host says that no answer came.
  kFails,       ///< It is not carried out, and its answer says so.
  kTorn,        ///< Of an append: half of its bytes are stored, and the call fails.
  kDies,        ///< It is carried out, and its sender's process is killed, at once.
  kDiesBefore,  ///< Its sender's process is killed before it is carried out.
};
BOOST_DESCRIBE_ENUM(Damage, kLost, kUnanswered, kFails, kTorn, kDies, kDiesBefore)

/// The `nth` action of that kind, counted from 1 over all machines of that sort in a run, goes
/// wrong.
struct Sabotage {
  EffectName effect;
  std::uint64_t nth = 1;
  Damage damage = Damage::kLost;
  /// With kFails, what a call is answered.
  std::variant<std::monostate, yarn::RpcErrorCode, hdfs::HdfsErrorCode> error;
};

/// "the 3rd AppendJournal of an am fails with safe-mode".
[[nodiscard]] std::string DescribeSabotage(const Sabotage& sabotage);

/// Which action's turn it is to go wrong.
class Saboteur {
 public:
  explicit Saboteur(std::vector<Sabotage> wanted) : wanted_(std::move(wanted)) {}
  [[nodiscard]] bool idle() const { return wanted_.empty(); }
  /// Counts the action. What goes wrong with it; nullptr: nothing.
  template <class Action>
  [[nodiscard]] const Sabotage* Next(EffectActor actor, const Action& action) {
    return Next(actor, EffectKind(action));
  }
  /// Position of one of those that are wanted.
  [[nodiscard]] std::uint32_t IndexOf(const Sabotage& one) const {
    return static_cast<std::uint32_t>(&one - wanted_.data());
  }

 private:
  [[nodiscard]] const Sabotage* Next(EffectActor actor, std::string kind);

  std::vector<Sabotage> wanted_;
  std::map<EffectName, std::uint64_t> seen_;
};

}  // namespace tfyarn::sim
