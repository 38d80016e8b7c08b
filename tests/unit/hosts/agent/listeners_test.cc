// Which process a listening port belongs to.
#include "hosts/agent/listeners.h"

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hosts/agent/listening_sockets.h"
#include "hosts/agent/port_lease.h"
#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::listeners_test {
namespace {

class ListenersTest : public ProcessRig {
 protected:
  Listener Who() {
    return WhoListens(lease_.port(), [this] {
      std::vector<pid_t> pids;
      if (tree_ == nullptr || ended()) return pids;
      for (const ProcessInfo& member : tree().Members()) pids.push_back(member.pid);
      return pids;
    });
  }

  /// This process, which is no member of the tree, listens.
  UniqueFd ListenHere(int family) const {
    UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    sockaddr_in6 address{};
    address.sin6_family = static_cast<sa_family_t>(family);
    address.sin6_port = htons(static_cast<in_port_t>(lease_.port()));
    const socklen_t size = family == AF_INET6 ? sizeof address : sizeof(sockaddr_in);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket.get(), 8), 0);
    return socket;
  }

  void StartListener(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"listen", std::to_string(lease_.port()), "reuse-port"};
    words.insert(words.end(), more.begin(), more.end());
    Start(words);
    UntilSaid();
  }

  void EndTree() {
    tree().Kill();
    End();
  }

  Lease lease_ = Lease::Take().value();
};

TEST_F(ListenersTest, AHeldPortIsNobodys) {
  EXPECT_EQ(Who(), Listener::kNobody);
}

TEST_F(ListenersTest, BothWaysOfAskingTheKernelAgree) {
  const auto none = ListeningOnBySockDiag(lease_.port());
  if (!none) GTEST_SKIP() << "no sock_diag here";
  EXPECT_TRUE(none->empty());
  EXPECT_TRUE(ListeningOnByProc(lease_.port()).empty());
  const UniqueFd six = ListenHere(AF_INET6);
  EXPECT_EQ(ListeningOnBySockDiag(lease_.port())->size(), 1U);
  const UniqueFd four = ListenHere(AF_INET);
  EXPECT_EQ(ListeningOnBySockDiag(lease_.port())->size(), 2U);
  EXPECT_EQ(ListeningOnBySockDiag(lease_.port()), ListeningOnByProc(lease_.port()));
}

TEST_F(ListenersTest, TheRootListens) {
  StartListener();
  EXPECT_EQ(Who(), Listener::kOurs);
  EndTree();
  EXPECT_EQ(Who(), Listener::kNobody);
}

TEST_F(ListenersTest, ADescendantInItsOwnSessionListens) {
  StartListener({"child"});
  EXPECT_EQ(Who(), Listener::kOurs);
  EndTree();
}

TEST_F(ListenersTest, AnOrphanOfTheTreeListens) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c",
               "(" + OddTask() + " listen " + std::to_string(lease_.port()) +
                   " reuse-port &) ; exec sleep 1000"};
  Start(spec);
  UntilSaid();
  EXPECT_EQ(Who(), Listener::kOurs);
  EndTree();
}

TEST_F(ListenersTest, AStrangerIsAccusedOnEitherFamily) {
  Start({"sleep"});
  UntilSaid();
  for (const int family : {AF_INET, AF_INET6}) {
    const UniqueFd stranger = ListenHere(family);
    EXPECT_EQ(Who(), Listener::kStranger);
  }
  EXPECT_EQ(Who(), Listener::kNobody);
  EndTree();
}

TEST_F(ListenersTest, AStrangerBesideOursIsAStranger) {
  StartListener();
  {
    const UniqueFd stranger = ListenHere(AF_INET6);
    EXPECT_EQ(Who(), Listener::kStranger);
  }
  EXPECT_EQ(Who(), Listener::kOurs);
  EndTree();
}

TEST_F(ListenersTest, AnotherPortIsAnotherMatter) {
  StartListener();
  const Lease other = Lease::Take().value();
  EXPECT_EQ(WhoListens(other.port(), [] { return std::vector<pid_t>{}; }), Listener::kNobody);
  EndTree();
}

TEST_F(ListenersTest, ProcessesThatVanishWhileItLooksAccuseNobody) {
  StartListener();
  int asked = 0;
  const Listener who = WhoListens(lease_.port(), [&] {
    ++asked;
    EndTree();  // Between the list of sockets and the list of descriptors.
    return std::vector<pid_t>{tree().root()};
  });
  EXPECT_EQ(who, Listener::kNobody);
  EXPECT_EQ(asked, 1);
}

TEST_F(ListenersTest, AMemberThatCameWhileItLookedIsFoundByTheSecondLook) {
  StartListener();
  int asked = 0;
  const Listener who = WhoListens(lease_.port(), [&] {
    return ++asked == 1 ? std::vector<pid_t>{} : std::vector<pid_t>{tree().root()};
  });
  EXPECT_EQ(who, Listener::kOurs);
  EndTree();
}

}  // namespace
}  // namespace tfyarn::agent_host::listeners_test
