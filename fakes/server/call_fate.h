// What becomes of one call on the wire, and rules that say so: the next so many calls of a name.
//
// A rule stands at a server's door. The server asks for every call, and does what it is told; it
// knows no rule, and its machines know of nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn::fakes {

struct CallFate {
  bool take_in = true;      ///< False: the connection breaks before the server reads it.
  bool answer = true;       ///< False: the connection breaks instead of an answer.
  Duration answer_after{};  ///< 0 = at once.
};

/// A call as it comes to a server.
struct ServedCall {
  std::string name;                             ///< "allocate", or "APPEND" of HDFS.
  std::optional<ApplicationAttemptId> attempt;  ///< Whose token it comes with; nullopt: none.
};

/// Of every call before it is taken in; empty: all goes well.
using FateOfCall = std::function<CallFate(const ServedCall&)>;

struct FaultRule {
  std::string name;                             ///< "" = any.
  std::optional<ApplicationAttemptId> attempt;  ///< nullopt = any.
  std::int64_t left = 0;                        ///< How many more calls it is for; < 0: all.
  CallFate fate;
};

class FaultRules {
 public:
  void Add(FaultRule rule) { rules_.push_back(std::move(rule)); }
  void Clear() { rules_.clear(); }
  /// By the first rule that is for it.
  [[nodiscard]] CallFate Judge(const ServedCall& call);
  /// Those that are for some call yet, in order.
  [[nodiscard]] const std::vector<FaultRule>& rules() const { return rules_; }

 private:
  std::vector<FaultRule> rules_;
};

}  // namespace tfyarn::fakes
