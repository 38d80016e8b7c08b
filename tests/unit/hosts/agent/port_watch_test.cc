// Looks at the port of a process that lives.
#include "hosts/agent/port_watch.h"

#include <gmock/gmock.h>

#include "hosts/agent/port_lease.h"
#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::port_watch_test {
namespace {

class PortWatchTest : public ProcessRig {
 protected:
  void Watch(Duration deadline) {
    watch_.emplace(
        io_,
        PortWatchOptions{
            .port = lease_.port(), .deadline = deadline, .first = 5ms, .longest = 20ms},
        [this] {
          std::vector<pid_t> pids;
          for (const ProcessInfo& member : tree().Members()) pids.push_back(member.pid);
          return pids;
        },
        [this](const PortUse& use) { seen_.push_back(use); });
  }
  void UntilSeen(std::size_t count) {
    Until([&] { return seen_.size() >= count; }, "a look");
  }
  void EndTree() {
    watch_.reset();
    tree().Kill();
    End();
  }

  Lease lease_ = Lease::Take().value();
  Lease other_ = Lease::Take().value();
  std::optional<PortWatch> watch_;
  std::vector<PortUse> seen_;
};

TEST_F(PortWatchTest, ADescendantThatListensIsSeenLongBeforeTheDeadline) {
  Start({"listen", std::to_string(lease_.port()), "reuse-port", "child"});
  UntilSaid();
  Watch(1h);
  UntilSeen(1);
  EXPECT_EQ(seen_[0].listener, PortListener::kOurs);
  EndTree();
}

TEST_F(PortWatchTest, WhoListensElsewhereIsSeenAtTheDeadline) {
  Start({"listen", std::to_string(other_.port()), "reuse-port"});
  UntilSaid();
  Watch(30ms);
  UntilSeen(1);
  EXPECT_EQ(seen_[0].listener, PortListener::kNobody);
  EXPECT_EQ(seen_[0].elsewhere, std::vector<std::int32_t>{other_.port()});
  EndTree();
}

}  // namespace
}  // namespace tfyarn::agent_host::port_watch_test
