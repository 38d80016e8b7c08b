// A job as it stands now, folded from the records of its run: what the live page shows.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/model/am.h"
#include "core/trace/record.h"

namespace tfyarn::hosts {

struct LiveTask {
  std::string state = "waiting";  ///< waiting, registered, running, restarting, ended.
  std::string address;            ///< host:port; "" while no agent has registered.
  std::string container;
  std::string node;
  std::optional<std::uint32_t> attempt;
  std::uint32_t epoch = 0;
  std::optional<std::int32_t> exit;
  std::string exit_class;
  std::optional<Instant> started;
  std::optional<Instant> heard;  ///< Of its agent.
};

struct LiveEvent {
  Instant at{};
  std::string text;
};

class LiveState {
 public:
  /// `began`: what all times are counted from.
  LiveState(const JobSpec& job, Instant began);

  /// Of any record, idle heartbeats included, in any order that their processes wrote them.
  void Observe(const trace::TraceRecord& record);
  /// One JSON object: name, state, status, epoch, restarts, seconds, tasks, events (the latest
  /// 200). Times are seconds from the start of the run; `heard` counts back from `now`.
  [[nodiscard]] std::string Json(Instant now) const;

  [[nodiscard]] const std::map<TaskId, LiveTask>& tasks() const { return tasks_; }

 private:
  static constexpr std::size_t kMostEvents = 200;

  void Told(Instant at, const AmEvent& event);
  void Ordered(Instant at, const AmAction& action);
  void Say(Instant at, std::string text);
  [[nodiscard]] double Seconds(Instant at) const;

  std::string name_;
  Instant began_;
  std::string state_ = "submitted";
  std::string status_;
  std::string diagnostics_;
  std::uint32_t epoch_ = 0;
  std::int32_t restarts_ = 0;
  std::int32_t am_attempt_ = 0;
  std::map<TaskId, LiveTask> tasks_;
  std::deque<LiveEvent> events_;
};

}  // namespace tfyarn::hosts
