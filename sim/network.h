// How messages travel: latency, loss, partitions, and one message by name dropped, delayed or
// doubled.
//
// A place is a node's index, or one of the masters' own places. What happens to a message is
// decided when it is sent. Polls (heartbeats and report queries) differ from other messages in one
// way: they reach the callee at the instant they are sent, and the round trip is charged on the
// answer, so that news and poll never cross. Assumption of this model.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/scenario.h"
#include "core/model/time.h"
#include "sim/random.h"

namespace tfyarn::sim {

using Place = std::int32_t;
inline constexpr Place kRmPlace = -1;
inline constexpr Place kHdfsPlace = -2;
inline constexpr Place kClientPlace = -3;

/// Two groups that cannot talk. `forward`: what `from` sends to `to` is lost; `backward`: the other
/// way.
struct Cut {
  std::set<Place> from;
  std::set<Place> to;  ///< Empty: every place outside `from`.
  bool forward = true;
  bool backward = true;
};

class Network {
 public:
  Network(const config::NetworkSpec& spec, std::vector<std::int32_t> rack_of_node,
          std::uint64_t seed);

  /// False while a cut separates them in this direction.
  [[nodiscard]] bool Reachable(Place from, Place to) const;
  /// True while nothing (loss, cut, extra latency by fault) disturbs messages between the two,
  /// either way.
  [[nodiscard]] bool Undisturbed(Place a, Place b) const;
  /// One way; draws once per message when the scenario's latency is a law. `sender` keys the draw.
  [[nodiscard]] Duration Latency(Place from, Place to, std::uint32_t sender);
  /// The round trip of a poll while nothing disturbs it, whatever does at this moment: drawn once
  /// per sender.
  [[nodiscard]] Duration PollRoundTrip(Place from, Place to, std::uint32_t sender) const;
  /// True when this message is lost by chance.
  [[nodiscard]] bool Lost(Place from, Place to, std::uint32_t sender);
  /// For how long every repetition of a call that waits `timeout` for each answer may get lost, by
  /// the scenario's own loss: it takes longer once in 10^9 times, or than an hour. Zero where
  /// nothing is lost.
  [[nodiscard]] Duration LongestBadLuck(Duration timeout) const;

  void AddCut(std::uint64_t key, Cut cut);
  void RemoveCut(std::uint64_t key);
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, Cut>>& cuts() const { return cuts_; }
  /// Fault `latency`: added to every message that touches one of the places (empty: to every
  /// message).
  void AddDelay(std::uint64_t key, std::set<Place> places, Duration extra);
  void RemoveDelay(std::uint64_t key);
  /// Fault `reorder`: each of those takes up to so much longer, at random.
  void AddDisorder(std::uint64_t key, std::set<Place> places, Duration most);
  void RemoveDisorder(std::uint64_t key);
  /// Fault `loss`: probability added to every message that touches one of the places (empty: to
  /// every message).
  void AddLoss(std::uint64_t key, std::set<Place> places, double probability);
  void RemoveLoss(std::uint64_t key);

  /// Every later delay and loss is drawn under another seed, and so are delays that are constants
  /// (Random::Shaking).
  void DrawAnew(std::uint64_t seed);

 private:
  /// What a fault adds to messages that touch one of the places.
  template <class Amount>
  struct Extra {
    std::uint64_t key = 0;
    std::set<Place> places;
    Amount amount{};
    [[nodiscard]] bool Touches(Place a, Place b) const {
      return places.empty() || places.contains(a) || places.contains(b);
    }
  };

  [[nodiscard]] bool CrossesRacks(Place a, Place b) const;
  [[nodiscard]] Duration ExtraDelay(Place a, Place b) const;
  [[nodiscard]] Duration DisorderBetween(Place a, Place b) const;
  [[nodiscard]] double LossBetween(Place a, Place b) const;
  [[nodiscard]] Random& StreamOf(std::uint32_t sender);
  [[nodiscard]] Random NewStream(std::string_view name, std::uint32_t sender) const;

  config::NetworkSpec spec_;
  std::vector<std::int32_t> rack_of_node_;
  std::uint64_t seed_;
  bool anew_ = false;
  std::vector<std::pair<std::uint64_t, Cut>> cuts_;
  std::vector<Extra<Duration>> delays_;
  std::vector<Extra<Duration>> disorders_;
  std::vector<Extra<double>> losses_;
  std::vector<std::optional<Random>> streams_;  // by sender, made when first drawn from
};

}  // namespace tfyarn::sim
