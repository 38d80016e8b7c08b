// Which hosts are kept out of the job because tasks kept failing there.
//
// Every failure that looks like the node's own adds to the host's score, and time halves it. At a
// threshold, which two failed launches within eight minutes reach, the host is excluded, until the
// score has fallen to a lower one; but never more than a third of the cluster, the worst first as
// of the latest failure: when everything fails everywhere the nodes are not to blame. Which failure
// is whose fault is the policy's business.
//
// A host on which this AM can launch nothing is closed, whatever its score and however many there
// are, as long as there is another one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/allocation/suspicion.h"
#include "core/model/time.h"

namespace tfyarn::allocation {

/// Scores are thousandths of a point.
struct NodeExclusionOptions {
  std::int64_t launch_failed = 1000;
  std::int64_t node_bad = 2000;
  std::int64_t died_early = 500;
  std::int64_t agent_lost = 1000;
  std::int64_t threshold = 1600;  ///< Excluded from here on ...
  std::int64_t readmit = 1000;    ///< ... until here; below the threshold.
  Duration half_life = 10min;
  std::int32_t one_in = 3;  ///< At most one in so many of the cluster's nodes is excluded; > 0.
};

class NodeExclusion {
 public:
  explicit NodeExclusion(NodeExclusionOptions options = {});

  /// Nodes in the cluster; 0 (an RM that has just restarted) leaves the last number. Until known:
  /// none is excluded.
  void SetClusterSize(Instant now, std::int32_t nodes);
  void Suspect(Instant now, const std::string& host, Suspicion suspicion);
  /// Nothing can be launched there until then.
  void Close(Instant now, const std::string& host, Instant until);
  /// What has closed the host, or all hosts, holds no more.
  void Open(Instant now, const std::string& host);
  void OpenAll(Instant now);
  /// Lets time pass; true when excluded() has changed since the last call, whatever changed it.
  bool OnTime(Instant now);

  [[nodiscard]] const std::set<std::string>& excluded() const { return excluded_; }
  /// Thousandths of a point at `now`.
  [[nodiscard]] std::int64_t ScoreOf(const std::string& host, Instant now) const;
  /// When the next host is re-admitted if nothing more happens; nullopt when none is excluded.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Score {
    std::int64_t at_since = 0;
    Instant since{};
  };

  [[nodiscard]] std::int64_t PointsOf(Suspicion suspicion) const;
  [[nodiscard]] std::int64_t Decayed(const Score& score, Instant now) const;
  /// First instant at which `score` is at most `level`.
  [[nodiscard]] Instant FallsTo(const Score& score, std::int64_t level) const;

  /// Excludes the worst hosts as of `now`, with `kept_first` those that are excluded before others:
  /// time alone changes who is the worst, and no deadline tells when.
  void Choose(Instant now, bool kept_first);

  NodeExclusionOptions options_;
  std::int32_t cluster_size_ = 0;
  std::map<std::string, Score> scores_;
  std::map<std::string, Instant> closed_;
  std::set<std::string> excluded_;
  std::set<std::string> excluded_before_;  // at the last OnTime
};

}  // namespace tfyarn::allocation
