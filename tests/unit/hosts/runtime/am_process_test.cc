#include "hosts/runtime/am_process.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <functional>

#include "core/model/codec.h"
#include "core/model/launch.h"
#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"
#include "wire/identity.h"

namespace tfyarn::hosts::am_process_test {
namespace {

using hdfs::HdfsErrorCode;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ApplicationId kApplication{.cluster_timestamp = 5, .id = 1};

/// What an AM prints and how it ends, beside the machine itself.
struct Process {
  std::vector<std::string> notes;
  std::vector<std::int32_t> exits;
  std::unique_ptr<AmProcess> am;
};

class AmProcessTest : public HostRig {
 protected:
  AmProcessTest() {
    cluster_.rm = [](const yarn::RmRequest& request) -> yarn::RmResponse {
      if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request))
        return yarn::RegisterApplicationMasterResponse{.maximum_capability = {.memory_mb = 4096}};
      return yarn::RpcError{};
    };
    StagedFacts facts;
    facts.agent_context.command = {"/bin/tfyarn-agent"};
    facts.surveyed = WallTime(77ms);
    facts.facts.queue_maximum = {{"", {.memory_mb = 4096}}};
    storage_.files["/a/cluster-facts"] = ToBytes(facts);
    JobSpec job;
    job.tasks = {{.name = "worker", .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 0}}};
    job_ = std::make_shared<const JobSpec>(job);
  }

  std::unique_ptr<Process> Start(std::int32_t attempt, const std::string& listen_on = "127.0.0.1") {
    auto process = std::make_unique<Process>();
    Process* const out = process.get();
    AmProcessOptions options{
        .container = {.application_attempt = {.application = kApplication, .attempt = attempt},
                      .id = 1},
        .host = "localhost",
        .listen_on = listen_on,
        .am = {.staging_directory = "/a"},
        .seed = 3,
        .version = "1.2.3",
        .recording = PathOf("am-" + std::to_string(attempt) + ".record"),
        .job_file = "name: mnist\n"};
    process->am = std::make_unique<AmProcess>(
        job_, options,
        AmProcess::Parts{.loop = io_,
                         .cluster = cluster_,
                         .storage = storage_,
                         .exit = [out](std::int32_t code) { out->exits.push_back(code); },
                         .observe = {},
                         .note = [out](const std::string& note) { out->notes.push_back(note); }});
    process->am->Start();
    return process;
  }
  void UntilRegistered() {
    Until([this] { return Count("RegisterApplicationMasterRequest") > 0; }, "a registration");
  }
  // Storage may answer later than the registration is sent.
  void UntilAddressOf(std::int32_t attempt) {
    UntilRegistered();
    Until(
        [this, attempt] {
          return AmAddressFrom(storage_.files["/a/am-address"]).am_attempt == attempt;
        },
        "its address");
  }
  [[nodiscard]] std::ptrdiff_t Count(const std::string& line) const {
    return std::count(log_.begin(), log_.end(), line);
  }

  std::shared_ptr<const JobSpec> job_;
  std::vector<std::string> log_;
  ScriptedStorage storage_{io_, log_};
  ScriptedCluster cluster_{io_, log_};
};

TEST_F(AmProcessTest, MakesTheAuthorityAndReadsItBack) {
  const auto process = Start(1);
  UntilAddressOf(1);
  ASSERT_GE(log_.size(), 5u);
  log_.resize(5);
  EXPECT_THAT(log_, ElementsAre("ReadRequest /a/cluster-facts", "ReadRequest /a/authority.pem",
                                "CreateRequest /a/authority.pem", "ReadRequest /a/authority.pem",
                                "ReadRequest /a/journal"));
  EXPECT_TRUE(
      wire::CertificateAuthority::FromPem(kApplication, storage_.files["/a/authority.pem"]));
  EXPECT_THAT(process->notes, IsEmpty());
  const AmAddress address = AmAddressFrom(storage_.files["/a/am-address"]);
  EXPECT_EQ(address.am_attempt, 1);
  EXPECT_EQ(address.address.host, "localhost");
  EXPECT_GT(address.address.port, 0);
}

TEST_F(AmProcessTest, AClientThatKnocksWithoutEndFillsNoLog) {
  const auto process = Start(1);
  UntilAddressOf(1);
  const AmAddress address = AmAddressFrom(storage_.files["/a/am-address"]);
  const auto port = static_cast<std::uint16_t>(address.address.port);
  for (int i = 0; i < 40; ++i) {
    boost::asio::ip::tcp::socket socket(io_);
    socket.connect({boost::asio::ip::address_v4::loopback(), port});
    boost::asio::write(socket, boost::asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
    bool closed = false;
    char byte = 0;
    std::function<void()> read = [&] {
      socket.async_read_some(boost::asio::buffer(&byte, 1),
                             [&](const boost::system::error_code& error, std::size_t) {
                               closed = static_cast<bool>(error);
                               if (!closed) read();
                             });
    };
    read();
    Until([&] { return closed; }, "being turned away");
  }
  EXPECT_THAT(process->notes, testing::SizeIs(5));
  EXPECT_THAT(process->notes, testing::Each(HasSubstr("turned away 127.0.0.1:")));
}

TEST_F(AmProcessTest, ASecondAttemptTakesTheAuthorityOfTheFirst) {
  auto first = Start(1);
  UntilRegistered();
  first.reset();
  const std::string authority = storage_.files["/a/authority.pem"];
  log_.clear();
  const auto second = Start(2);
  UntilAddressOf(2);
  EXPECT_EQ(Count("CreateRequest /a/authority.pem"), 0);
  EXPECT_EQ(storage_.files["/a/authority.pem"], authority);
}

TEST_F(AmProcessTest, OneThatComesSecondToTheAuthorityReadsTheFirstOnes) {
  const auto made = wire::CertificateAuthority::Make(kApplication, WallTime(1'700'000'000'000ms));
  ASSERT_TRUE(made);
  storage_.hold = true;
  const auto process = Start(1);
  const auto answer = [this] {
    storage_.Release();
    Settle();
  };
  answer();                                            // The facts.
  answer();                                            // No authority yet.
  storage_.files["/a/authority.pem"] = made->ToPem();  // Another attempt's.
  storage_.hold = false;
  answer();  // It is there already.
  UntilRegistered();
  EXPECT_EQ(storage_.files["/a/authority.pem"], made->ToPem());
  EXPECT_THAT(process->exits, IsEmpty());
}

TEST_F(AmProcessTest, AsksAgainWhileStorageDoesNotAnswer) {
  storage_.failures["/a/cluster-facts"] = {HdfsErrorCode::kUnavailable, HdfsErrorCode::kSafeMode};
  const auto process = Start(1);
  UntilRegistered();
  EXPECT_THAT(process->notes, ElementsAre(HasSubstr("again in 1s"), HasSubstr("again in 1s")));
  EXPECT_EQ(Count("ReadRequest /a/cluster-facts"), 3);
  EXPECT_THAT(process->exits, IsEmpty());
}

TEST_F(AmProcessTest, WhatCanNeverWorkEndsIt) {
  struct Case {
    std::string name;
    std::function<void()> arrange;
    std::string note;
  };
  for (const Case& one : std::vector<Case>{
           {"no facts", [&] { storage_.files.erase("/a/cluster-facts"); }, "cluster-facts"},
           {"no permission",
            [&] { storage_.failures["/a/cluster-facts"] = {HdfsErrorCode::kAccessDenied}; },
            "scripted"},
           {"damaged facts", [&] { storage_.files["/a/cluster-facts"] = "x"; }, "damaged"},
           {"damaged authority", [&] { storage_.files["/a/authority.pem"] = "x"; }, ""}}) {
    SCOPED_TRACE(one.name);
    const auto files = storage_.files;
    one.arrange();
    const auto process = Start(1);
    UntilIdle();
    EXPECT_THAT(process->exits, ElementsAre(1));
    EXPECT_THAT(process->notes, ElementsAre(HasSubstr(one.note)));
    storage_.files = files;
  }
  const auto process = Start(1, "192.0.2.1");  // No machine's address.
  UntilIdle();
  EXPECT_THAT(process->exits, ElementsAre(1));
}

TEST_F(AmProcessTest, RecordsWithWhatItsMachineWasMade) {
  const auto process = Start(1);
  UntilRegistered();
  const auto recording = ReadRecording(PathOf("am-1.record"));
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->header.version, "1.2.3");
  EXPECT_EQ(recording->header.who, Recorded::kAm);
  EXPECT_EQ(recording->header.seed, 3u);
  EXPECT_EQ(recording->header.job_file, "name: mnist\n");
  am::AmOptions options;
  Decoder decoder(recording->header.options);
  decoder.Get(options);
  ASSERT_TRUE(decoder.at_end());
  EXPECT_EQ(options.staging_directory, "/a");
  EXPECT_EQ(options.surveyed, WallTime(77ms));
  EXPECT_THAT(options.agent_context.command, ElementsAre("/bin/tfyarn-agent"));
}

TEST_F(AmProcessTest, RunsWithoutARecordingWhereNoneCanBeMade) {
  WriteBytes(PathOf("am-1.record"), "precious");
  const auto process = Start(1);
  UntilRegistered();
  EXPECT_THAT(process->notes, ElementsAre(HasSubstr("am-1.record")));
  EXPECT_EQ(ReadFile(PathOf("am-1.record")), "precious");
}

TEST_F(AmProcessTest, MayGoWhileStorageOwesAnAnswer) {
  storage_.hold = true;
  auto process = Start(1);
  process->am.reset();
  storage_.Release();
  UntilIdle();
  EXPECT_THAT(process->exits, IsEmpty());
  EXPECT_EQ(log_.size(), 1u);
}

}  // namespace
}  // namespace tfyarn::hosts::am_process_test
