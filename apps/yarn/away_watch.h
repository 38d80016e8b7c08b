// Which services of a cluster leave a client without an answer, and since when: for users who wait,
// as a call may be repeated for minutes before it fails.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/model/time.h"
#include "hosts/runtime/cluster.h"

namespace tfyarn::apps {

class AwayWatch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Part { kResourceManager, kHdfs };

  /// Silence of so long is told, and told again while it lasts.
  static constexpr Duration kTellAfter = 10s;
  static constexpr Duration kTellAgain = 30s;

  /// `what`: that which is asked for, "the submission".
  void Asked(Part part, std::string what, Clock::time_point now);
  /// `failure`: why the answer was none; "" = it was one.
  void Answered(Part part, const std::string& failure, Clock::time_point now);
  /// What there is to tell now: who has not answered what, for how long, and why as far as known.
  [[nodiscard]] std::optional<std::string> Next(Clock::time_point now);
  /// The longest time that a part has been without an answer.
  [[nodiscard]] Duration Longest(Clock::time_point now) const;

 private:
  struct Silence {
    int under_way = 0;
    std::string what;
    std::string failure;
    std::optional<Clock::time_point> since;  ///< Nothing has been answered since.
    std::optional<Clock::time_point> told;
  };

  Silence& Of(Part part) { return parts_[static_cast<std::size_t>(part)]; }

  std::array<Silence, 2> parts_;
};

/// Carries calls on, and has them watched. All parameters must outlive it.
class WatchedCluster : public hosts::Cluster {
 public:
  WatchedCluster(hosts::Cluster& cluster, AwayWatch& watch) : cluster_(cluster), watch_(watch) {}

  void CallRm(yarn::RmRequest request, RmAnswer answer) override;
  void CallNm(const NodeId& node, const yarn::Token& token, yarn::NmRequest request,
              Secrets secrets, NmAnswer answer) override {
    cluster_.CallNm(node, token, std::move(request), std::move(secrets), std::move(answer));
  }

 private:
  hosts::Cluster& cluster_;
  AwayWatch& watch_;
};

class WatchedStorage : public hosts::Storage {
 public:
  WatchedStorage(hosts::Storage& storage, AwayWatch& watch) : storage_(storage), watch_(watch) {}

  void Call(hdfs::HdfsRequest request, Answer answer) override;

 private:
  hosts::Storage& storage_;
  AwayWatch& watch_;
};

}  // namespace tfyarn::apps
