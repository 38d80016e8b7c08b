// A job as it stands now, folded from the records of its run: what the live page shows.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
  std::string port;  ///< That its process does not listen on it; "" otherwise.
  std::optional<Instant> started;
  std::optional<Instant> heard;  ///< Of its agent.
};

struct LiveEvent {
  Instant at{};
  std::string text;
};

class LiveState {
 public:
  /// Where a user's browser finds the logs of a task; "" = nowhere yet.
  using LogAddress = std::function<std::string(const LiveTask&)>;

  /// `began`: what all times are counted from. `logs`: where they are not to be had from the page
  /// itself.
  LiveState(const JobSpec& job, Instant began, LogAddress logs = {});

  /// Of any record, idle heartbeats included, in any order that their processes wrote them. Returns
  /// it in words, when it says something to people; "" otherwise.
  std::string Observe(const trace::TraceRecord& record);
  /// One JSON object: name, state, waits_for ("" or "nodes: " and what those seen so far cannot
  /// hold), status, epoch, restarts, seconds, tasks (`port`: that
  /// one does not listen on its port, in words), events (the latest 200), and logs_elsewhere when
  /// the page has no logs: then each task has its address in `logs`. Times are seconds from the
  /// start of the run; `heard` counts back from `now`.
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
  LogAddress logs_;
  std::string said_;  ///< Of the record that is being observed.
  std::string state_ = "submitted";
  std::string waits_for_;
  std::string status_;
  std::string diagnostics_;
  std::uint32_t epoch_ = 0;
  std::int32_t restarts_ = 0;
  std::int32_t am_attempt_ = 0;
  std::map<TaskId, LiveTask> tasks_;
  std::deque<LiveEvent> events_;
};

}  // namespace tfyarn::hosts
