// What is kept of applications that have ended: the last reports, as many as the RM keeps.
//
// Source: RMAppManager.java (checkAppNumCompletedLimit).
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "core/model/ids.h"
#include "core/model/yarn.h"

namespace tfyarn::fakes {

class EndedApplications {
 public:
  explicit EndedApplications(std::size_t most) : most_(most) {}

  void Add(yarn::ApplicationReport report) {
    const ApplicationId id = report.application;
    reports_.insert_or_assign(id, std::move(report));
    order_.push_back(id);
    while (order_.size() > most_) {
      reports_.erase(order_.front());
      order_.pop_front();
    }
  }
  /// nullptr: it has not ended, or is forgotten.
  [[nodiscard]] const yarn::ApplicationReport* Find(const ApplicationId& id) const {
    const auto found = reports_.find(id);
    return found == reports_.end() ? nullptr : &found->second;
  }
  /// In the order of their ends.
  [[nodiscard]] const std::deque<ApplicationId>& order() const { return order_; }

 private:
  std::size_t most_;
  std::map<ApplicationId, yarn::ApplicationReport> reports_;
  std::deque<ApplicationId> order_;
};

}  // namespace tfyarn::fakes
