// Single messages that the fault plan singles out: the n-th of a name, dropped, delayed or doubled.
//
// Names are those of core/model/channel.h, of the calls of core/model/yarn.h without "Request", and
// of their answers with "Response". A fault counts only messages of its target, from the moment it
// strikes.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/channel.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn::sim {

/// What becomes of one message.
struct MessageFate {
  bool dropped = false;
  int copies = 1;
  Duration delay{};
};

enum class MessageEffect { kDrop, kDelay, kDuplicate };

/// On whose behalf a message travels.
struct Party {
  std::string_view job;  ///< Name; empty for a NodeManager.
  TaskId task;           ///< Empty type: the job's AM or client.
  std::int32_t place = 0;
};

class MessageFaults {
 public:
  struct Rule {
    std::uint64_t key = 0;  ///< Fault and instance.
    std::string message;    ///< "*Response" = any answer of the RM.
    MessageEffect effect = MessageEffect::kDrop;
    std::int64_t first = 1;  ///< The first that is struck, counted from 1.
    std::int64_t count =
        1;  ///< How many from there on, and then the rule is spent; 0 = all until the fault ends.
    Duration delay{};
    std::string job;                   ///< Only messages of this job; empty = of any.
    TaskId task;                       ///< Only of this task; empty type = any of the job.
    std::vector<std::int32_t> places;  ///< Only of machines there; empty = anywhere.
    std::int64_t seen = 0;
  };

  void Add(Rule rule) { rules_.push_back(std::move(rule)); }
  void Remove(std::uint64_t key);
  /// Counts the message and says what becomes of it.
  [[nodiscard]] MessageFate Decide(std::string_view message, const Party& party);
  /// The same for one from `sender` or to it (its `party()`), with the name that `name()` gives:
  /// neither is asked while there are no rules, as in most runs.
  template <class Sender, class Name>
  [[nodiscard]] MessageFate FateOf(const Sender& sender, Name name) {
    return empty() ? MessageFate{} : Decide(name(), sender.party());
  }
  /// Keys of the faults that some message was struck by.
  [[nodiscard]] const std::set<std::uint64_t>& struck() const { return struck_; }
  [[nodiscard]] bool empty() const { return rules_.empty(); }
  /// How many messages will be dropped yet by rules that have begun to.
  [[nodiscard]] std::int64_t yet_to_drop() const;
  /// While true, heartbeats and polls must all be carried: one of them may be singled out.
  [[nodiscard]] bool TouchesBeats() const;

 private:
  std::vector<Rule> rules_;
  std::set<std::uint64_t> struck_;
};

/// "StartContainersRequest" is told as "StartContainers".
[[nodiscard]] std::string_view WithoutRequest(std::string_view name);
[[nodiscard]] std::string_view MessageName(const AgentToAm& message);
[[nodiscard]] std::string_view MessageName(const AmToAgent& message);
/// "Allocate", "SubmitApplication", ...
[[nodiscard]] std::string_view RequestName(const yarn::RmRequest& request);
[[nodiscard]] std::string_view RequestName(const yarn::NmRequest& request);
/// "AllocateResponse", ...: of the answer to that request.
[[nodiscard]] std::string ResponseName(const yarn::RmRequest& request);

}  // namespace tfyarn::sim
