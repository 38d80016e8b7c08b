#include "hosts/local/cluster_socket.h"

#include <gmock/gmock.h>

#include "core/model/codec.h"
#include "core/model/text.h"
#include "tests/unit/hosts/local/socket_rig.h"

namespace tfyarn::hosts::cluster_socket_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ClusterSocketTest : public SocketRig {
 protected:
  ClusterSocketTest() {
    cluster_ = std::make_unique<ClusterSocket>(io_, std::move(ours_),
                                               [this] { answers_.emplace_back("lost"); });
  }

  void Report(std::int32_t application) {
    cluster_->CallRm(
        yarn::GetApplicationReportRequest{
            .application = {.cluster_timestamp = 5, .id = application}},
        [this](const yarn::RmResponse& response) { answers_.push_back(ToText(response)); });
  }
  void Stop(Cluster::Secrets secrets = {}) {
    cluster_->CallNm(
        {}, {}, yarn::StopContainersRequest{}, std::move(secrets),
        [this](const yarn::NmResponse& response) { answers_.push_back(ToText(response)); });
  }
  /// Calls that have come to the peer.
  std::vector<ClusterCall> Calls() {
    Settle();
    std::vector<ClusterCall> calls;
    std::string bytes = PeerReads();
    while (bytes.size() >= 4) {
      const auto size = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0]));
      Decoder decoder(std::string_view(bytes).substr(4, size));
      decoder.Get(calls.emplace_back());
      EXPECT_TRUE(decoder.at_end());
      bytes.erase(0, 4 + size);
    }
    return calls;
  }
  template <class Response>
  void Answer(std::uint64_t id, Response response) {
    std::string body;
    Encoder(body).Put(ClusterAnswer{.id = id, .answer = std::move(response)});
    PeerWrites(Frame(body));
  }

  std::unique_ptr<ClusterSocket> cluster_;
  std::vector<std::string> answers_;
};

TEST_F(ClusterSocketTest, AnswersFindTheirCallsInAnyOrder) {
  Report(1);
  Stop({{{.id = 7}, "secret"}});
  Report(2);
  const auto calls = Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_THAT(ToText(calls[0].call), HasSubstr("application_5_0001"));
  EXPECT_EQ(std::get<NodeCall>(calls[1].call).secrets.at({.id = 7}), "secret");
  Answer(calls[2].id,
         yarn::RmResponse(yarn::GetApplicationReportResponse{.report = {.diagnostics = "two"}}));
  Answer(calls[1].id, yarn::NmResponse(yarn::StopContainersResponse{.succeeded = {{.id = 7}}}));
  Answer(calls[0].id, yarn::RmResponse(yarn::RpcError{.message = "one"}));
  EXPECT_THAT(answers_, IsEmpty());
  Settle();
  EXPECT_THAT(answers_, ElementsAre(HasSubstr("\"two\""), HasSubstr("StopContainersResponse"),
                                    HasSubstr("\"one\"")));
}

TEST_F(ClusterSocketTest, UnknownAndDamagedAnswersAreNobodys) {
  Report(1);
  const auto calls = Calls();
  Answer(calls[0].id + 1, yarn::RmResponse(yarn::RpcError{}));
  PeerWrites(Frame("nonsense"));
  PeerWrites(Frame(""));
  Settle();
  EXPECT_THAT(answers_, IsEmpty());
  Answer(calls[0].id, yarn::RmResponse(yarn::SubmitApplicationResponse{}));
  Answer(calls[0].id, yarn::RmResponse(yarn::SubmitApplicationResponse{}));
  Settle();
  EXPECT_THAT(answers_, ElementsAre("SubmitApplicationResponse{}"));
}

TEST_F(ClusterSocketTest, ANodesAnswerToAnRmsCallIsNone) {
  Report(1);
  Answer(Calls()[0].id, yarn::NmResponse(yarn::StopContainersResponse{}));
  Settle();
  EXPECT_THAT(answers_, ElementsAre(HasSubstr("unavailable")));
}

TEST_F(ClusterSocketTest, EveryCallIsAnsweredWhenThePeerGoesAndAfterwards) {
  Report(1);
  Stop();
  Settle();
  peer_.reset();
  Settle();
  EXPECT_THAT(answers_, ElementsAre(HasSubstr("unavailable"), HasSubstr("unavailable"), "lost"));
  answers_.clear();
  Report(2);
  EXPECT_THAT(answers_, IsEmpty()) << "answered from within the call";
  Settle();
  EXPECT_THAT(answers_, ElementsAre(HasSubstr("unavailable")));
}

TEST_F(ClusterSocketTest, ACallFromTheLastAnswerIsAnsweredToo) {
  cluster_->CallRm(yarn::GetNewApplicationRequest{},
                   [this](const yarn::RmResponse&) { Report(1); });
  Settle();
  peer_.reset();
  Settle();
  EXPECT_THAT(answers_, ElementsAre("lost", HasSubstr("unavailable")));
}

TEST_F(ClusterSocketTest, MayGoInItsOwnAnswer) {
  cluster_->CallRm(yarn::GetNewApplicationRequest{},
                   [this](const yarn::RmResponse&) { cluster_.reset(); });
  Report(1);
  Answer(Calls()[0].id, yarn::RmResponse(yarn::RpcError{}));
  Settle();
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(PeerReads(), "") << "the socket is open";
}

TEST_F(ClusterSocketTest, AfterItsEndNobodyIsAnswered) {
  Report(1);
  Settle();
  cluster_.reset();
  peer_.reset();
  Settle();
  EXPECT_THAT(answers_, IsEmpty());
}

}  // namespace
}  // namespace tfyarn::hosts::cluster_socket_test
