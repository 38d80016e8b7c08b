#include <gmock/gmock.h>

#include "hosts/local/cluster_socket.h"
#include "tests/unit/hosts/local/socket_rig.h"

namespace tfyarn::hosts::framed_socket_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FramedSocketTest : public SocketRig {
 protected:
  FramedSocketTest() {
    socket_ = std::make_shared<FramedSocket>(io_, std::move(ours_));
    socket_->Start(
        [this](std::string body) {
          received_.push_back(std::move(body));
          if (on_received_) on_received_();
        },
        [this] { ++closed_; });
  }
  ~FramedSocketTest() override { socket_->Close(); }

  std::shared_ptr<FramedSocket> socket_;
  std::vector<std::string> received_;
  std::function<void()> on_received_;
  int closed_ = 0;
};

TEST_F(FramedSocketTest, GivesWholeFramesHoweverTheyCome) {
  const std::string bytes = Frame("one") + Frame("") + Frame("three");
  for (const char& byte : bytes) {
    PeerWrites({&byte, 1});
    Settle();
  }
  EXPECT_THAT(received_, ElementsAre("one", "", "three"));
  PeerWrites(bytes);
  Settle();
  EXPECT_EQ(received_.size(), 6u);
  EXPECT_EQ(closed_, 0);
}

TEST_F(FramedSocketTest, SendsInOrderHoweverMuchAtOnce) {
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string body(static_cast<std::size_t>(i) * 1000, static_cast<char>('a' + i % 26));
    expected += Frame(body);
    socket_->Send(body);
  }
  std::string came;
  Until(
      [&] {
        came += PeerReads();
        return came.size() >= expected.size();
      },
      "all of it");
  EXPECT_EQ(came, expected);
}

TEST_F(FramedSocketTest, AFrameThatIsTooLongEndsIt) {
  PeerWrites(Frame("one"));
  PeerWrites(std::string("\x01\x00\x00\x10", 4) + "more");  // 256 MiB and a byte.
  Settle();
  EXPECT_THAT(received_, ElementsAre("one"));
  EXPECT_EQ(closed_, 1);
  EXPECT_EQ(::send(peer_.get(), "x", 1, MSG_NOSIGNAL), -1) << "the socket is open";
  socket_->Send("nobody hears it");
  Settle();
  EXPECT_EQ(closed_, 1);
}

TEST_F(FramedSocketTest, HalfAFrameThenTheEndGivesNothing) {
  PeerWrites(Frame("one") + Frame("half a frame").substr(0, 9));
  Settle();
  peer_.reset();
  Settle();
  EXPECT_THAT(received_, ElementsAre("one"));
  EXPECT_EQ(closed_, 1);
}

TEST_F(FramedSocketTest, APeerThatGoesWithoutReadingEndsItOnce) {
  for (int i = 0; i < 100; ++i) socket_->Send(std::string(100'000, 'x'));
  Settle();
  EXPECT_EQ(closed_, 0);
  peer_.reset();
  Settle();
  EXPECT_EQ(closed_, 1);
}

TEST_F(FramedSocketTest, MayBeClosedByWhatItGives) {
  on_received_ = [this] { socket_->Close(); };
  PeerWrites(Frame("one") + Frame("two"));
  Settle();
  EXPECT_THAT(received_, ElementsAre("one"));
  EXPECT_EQ(closed_, 0);
}

TEST_F(FramedSocketTest, AfterCloseNothingIsTold) {
  socket_->Close();
  socket_->Send("nobody hears it");
  Settle();
  EXPECT_THAT(received_, IsEmpty());
  EXPECT_EQ(closed_, 0);
}

}  // namespace
}  // namespace tfyarn::hosts::framed_socket_test
