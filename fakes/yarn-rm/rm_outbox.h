// What the ResourceManager says to its host in the step that it takes, in that order.
//
// News (resource_manager.h, Announcements) are said once until the call that they are about.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

class RmOutbox {
 public:
  /// What is said between these two goes there; nothing may be said at other times.
  void Open(std::vector<RmAction>& actions) { actions_ = &actions; }
  void Close() { actions_ = nullptr; }

  template <class Action>
  void Emit(Action action) {
    actions_->emplace_back(std::move(action));
  }
  void Note(std::string text) { Emit(RmNote{.text = std::move(text)}); }

  /// The attempt's next allocate would not be answered idly.
  void NewsFor(RmApplication& application) {
    if (application.news_announced) return;
    application.news_announced = true;
    Emit(NewsForAttempt{.attempt = application.attempt.id});
  }
  /// The node's next heartbeat would do something.
  void NewsFor(RmNode& node) {
    if (!node.news_announced) SayNews(node);
  }
  /// The same, said again.
  void SayNews(RmNode& node) {
    node.news_announced = true;
    Emit(NewsForNode{.node = node.id});
  }
  /// What clients are told of the application has changed.
  void ReportChanged(const ApplicationId& application) {
    Emit(NewsForClient{.application = application});
  }

 private:
  std::vector<RmAction>* actions_ = nullptr;
};

}  // namespace tfyarn::fakes
