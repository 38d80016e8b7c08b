#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "core/model/text.h"
#include "tests/unit/wire/random_message.h"
#include "wire/am_agent.pb.h"
#include "wire/am_agent_codec.h"
#include "wire/frame.h"
#include "wire/spec_codec.h"

namespace tfyarn::wire::codec_test {
namespace {

constexpr std::uint64_t kRounds = 300;

AgentFence SomeFence() {
  return {.container = {.application_attempt = {.application = {1700000000000, 7}, .attempt = 1},
                        .id = 2},
          .task = {"worker", 3},
          .incarnation = Incarnation(1),
          .nonce = Nonce(99)};
}

/// `tasks` workers, `per_host` on each host.
SpecRef SpecOf(std::size_t tasks, std::size_t per_host) {
  ClusterSpec spec{.epoch = Epoch(1), .tasks = {}};
  for (std::size_t i = 0; i < tasks; ++i) {
    spec.tasks["worker"].push_back(
        {.host = "node-" + std::to_string(1000 + i / per_host) + ".cluster.example.org",
         .port = static_cast<std::int32_t>(32768 + i * 7919 % 28000)});
  }
  return Share(std::move(spec));
}

StartProcess StartWith(SpecRef spec) {
  return {.fence = SomeFence(),
          .process = {TaskAttempt(0), Epoch(1)},
          .spec = std::move(spec),
          .resume = false};
}

// ---------------------------------------------------------------- round trips

TEST(CodecTest, EveryMessageOfAnAgentIsReadBack) {
  RandomMessages random(1);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto message = random.Make<AgentToAm>(round % std::variant_size_v<AgentToAm>);
    const auto read = DecodeAgentToAm(Encode(message));
    ASSERT_TRUE(read.has_value()) << read.error().message << " of " << ToText(message);
    EXPECT_EQ(ToText(*read), ToText(message));
  }
}

TEST(CodecTest, EveryMessageOfTheAmIsReadBack) {
  RandomMessages random(2);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto message = random.Make<AmToAgent>(round % std::variant_size_v<AmToAgent>);
    const auto read = DecodeAmToAgent(Encode(message));
    ASSERT_TRUE(read.has_value()) << read.error().message << " of " << ToText(message);
    EXPECT_EQ(ToText(*read), ToText(message));
    if (const auto* start = std::get_if<StartProcess>(&message)) {
      EXPECT_EQ(*std::get<StartProcess>(*read).spec.get(), *start->spec.get());
    }
  }
}

TEST(CodecTest, AProcessThatNeverRanHasNeitherCodeNorSignal) {
  ProcessEnded ended{
      .fence = SomeFence(), .process = {}, .exit = {}, .launch_error = "no such file"};
  EXPECT_TRUE(DecodeAgentToAm(Encode(AgentToAm(ended))).has_value());
  ended.launch_error.clear();
  EXPECT_FALSE(DecodeAgentToAm(Encode(AgentToAm(ended))).has_value());
}

TEST(CodecTest, HelloIsReadBack) {
  const Hello am{.application = {1700000000000, 7}, .am_attempt = 3, .container = {}};
  EXPECT_EQ(DecodeHello(Encode(am)), am);
  const Hello agent{.oldest_version = 1,
                    .newest_version = 9,
                    .application = {1700000000000, 7},
                    .am_attempt = 0,
                    .container = SomeFence().container};
  EXPECT_EQ(DecodeHello(Encode(agent)), agent);
  EXPECT_LE(Encode(agent).size(), kMaxHelloFrame);
}

TEST(CodecTest, TheNewestVersionThatBothSpeakIsTaken) {
  EXPECT_EQ(CommonVersion({.oldest_version = 1, .newest_version = 1}), 1U);
  EXPECT_EQ(CommonVersion({.oldest_version = 1, .newest_version = 7}), kNewestVersion);
  EXPECT_EQ(CommonVersion({.oldest_version = kNewestVersion + 1, .newest_version = 9}),
            std::nullopt);
}

TEST(CodecTest, LongTextsAreCutToWhatTheOtherEndTakes) {
  const AgentToAm ended = ProcessEnded{.fence = SomeFence(),
                                       .process = {},
                                       .exit = {},
                                       .launch_error = "b" + std::string(kMaxReason, 'x'),
                                       .stderr_tail = std::string(kMaxStderrTail, 'x') + "e"};
  const std::string bytes = Encode(ended);
  EXPECT_LE(bytes.size(), kMaxAgentFrame);
  const auto read = DecodeAgentToAm(bytes);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(std::get<ProcessEnded>(*read).launch_error.front(), 'b');
  EXPECT_EQ(std::get<ProcessEnded>(*read).stderr_tail.back(), 'e');
  EXPECT_EQ(std::get<ProcessEnded>(*read).stderr_tail.size(), kMaxStderrTail);
}

// ---------------------------------------------------------------- size

TEST(CodecTest, ASpecOfAThousandTasksIsSmall) {
  // A thousand agents get it within 15 MB, of which their handshakes take 2.4 MB.
  EXPECT_LE(Encode(AmToAgent(StartWith(SpecOf(1000, 1)))).size(), 12'000U);
  EXPECT_LE(Encode(AmToAgent(StartWith(SpecOf(1000, 8)))).size(), 6'500U);
}

TEST(CodecTest, ASpecIsEncodedOnceForAllAgents) {
  SpecEncodings specs;
  const SpecRef spec = SpecOf(10, 2);
  const std::string* first = &specs.Of(spec);
  EXPECT_EQ(&specs.Of(spec), first);
  EXPECT_EQ(specs.Of(SpecOf(11, 2)), EncodeSpec(*SpecOf(11, 2).get()));
  EXPECT_EQ(specs.Of(spec), EncodeSpec(*spec.get()));
}

// ---------------------------------------------------------------- hostile bytes

/// The error that DecodeAmToAgent gives for a StartProcess with `spec`.
std::string SpecError(const v1::ClusterSpec& spec) {
  v1::AmToAgent message;
  EXPECT_TRUE(message.ParseFromString(Encode(AmToAgent(StartWith(SpecOf(2, 1))))));
  message.mutable_start_process()->set_spec(spec.SerializeAsString());
  const auto read = DecodeAmToAgent(message.SerializeAsString());
  EXPECT_FALSE(read.has_value());
  return read ? "" : read.error().message;
}

v1::ClusterSpec SmallSpec() {
  v1::ClusterSpec spec;
  EXPECT_TRUE(spec.ParseFromString(EncodeSpec(*SpecOf(2, 1).get())));
  return spec;
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(CodecTest, ASpecWithAWrongNumberIsRefusedWithItsPlace) {
  v1::ClusterSpec spec = SmallSpec();
  spec.mutable_types(0)->set_host(1, 2);
  EXPECT_SAYS(SpecError(spec), "worker:1 is on host 2 of 2");
  spec = SmallSpec();
  spec.mutable_types(0)->set_port(0, 65536);
  EXPECT_SAYS(SpecError(spec), "worker:0 has port 65536");
  spec = SmallSpec();
  spec.mutable_types(0)->add_port(1);
  EXPECT_SAYS(SpecError(spec), "worker has 2 hosts and 3 ports");
  spec = SmallSpec();
  spec.mutable_hosts()->set_kept_front(1, 4'000'000'000);
  EXPECT_SAYS(SpecError(spec), "host 1 keeps more");
  spec = SmallSpec();
  spec.mutable_hosts()->set_kept_back(0, 1);
  EXPECT_SAYS(SpecError(spec), "host 0 keeps more");
}

TEST(CodecTest, ASpecWithAWrongNameIsRefusedWithItsPlace) {
  v1::ClusterSpec spec = SmallSpec();
  spec.mutable_types(0)->clear_name();
  EXPECT_SAYS(SpecError(spec), "task type is empty");
  spec.mutable_types(0)->set_name("wor ker");
  EXPECT_SAYS(SpecError(spec), "characters");
  spec.mutable_types(0)->set_name(std::string(kMaxTaskType + 1, 'a'));
  EXPECT_SAYS(SpecError(spec), "256 bytes; most are 255");
  spec = SmallSpec();
  *spec.add_types() = spec.types(0);
  EXPECT_SAYS(SpecError(spec), "worker comes twice");
  spec = SmallSpec();
  spec.mutable_hosts()->set_middle(1, std::string(kMaxHost + 1, 'a'));
  EXPECT_SAYS(SpecError(spec), "host 1 has");
  spec.mutable_hosts()->set_middle(1, "a\nb");
  EXPECT_SAYS(SpecError(spec), "host 1 has characters");
}

TEST(CodecTest, ASpecThatGrowsWithoutEndIsRefused) {
  v1::ClusterSpec spec;  // Three bytes for each host of 253.
  spec.mutable_hosts()->add_middle(std::string(kMaxHost, 'a'));
  spec.mutable_hosts()->add_kept_front(0);
  spec.mutable_hosts()->add_kept_back(0);
  for (std::size_t i = 0; i <= kMaxSpecTasks; ++i) {
    spec.mutable_hosts()->add_middle("");
    spec.mutable_hosts()->add_kept_front(kMaxHost);
    spec.mutable_hosts()->add_kept_back(0);
  }
  EXPECT_SAYS(SpecError(spec), "hosts; most are");
  spec = SmallSpec();
  for (std::size_t i = 0; i < kMaxSpecTasks; ++i) {
    spec.mutable_types(0)->add_host(0);
    spec.mutable_types(0)->add_port(1);
  }
  EXPECT_SAYS(SpecError(spec), "more than 100000 tasks");
}

TEST(CodecTest, ASpecWithTheIdOfAnotherIsRefused) {
  v1::ClusterSpec other;
  ASSERT_TRUE(other.ParseFromString(EncodeSpec(*SpecOf(3, 1).get())));
  EXPECT_SAYS(SpecError(other), "but the id");
}

/// Changes what Encode() made of `message`, and gives the error of reading that.
template <class Change>
std::string ErrorAfter(const AgentToAm& message, Change change) {
  v1::AgentToAm wire;
  EXPECT_TRUE(wire.ParseFromString(Encode(message)));
  change(wire);
  const auto read = DecodeAgentToAm(wire.SerializeAsString());
  EXPECT_FALSE(read.has_value());
  if (read) return "";
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  return read.error().message;
}

TEST(CodecTest, AFenceThatCannotBeIsRefused) {
  const AgentToAm beat = AgentHeartbeat{.fence = SomeFence()};
  const auto error = [&](auto change) {
    return ErrorAfter(beat, [&](v1::AgentToAm& wire) { change(*wire.mutable_heartbeat()); });
  };
  EXPECT_SAYS(error([](auto& wire) { wire.clear_fence(); }), "AgentHeartbeat: fence is missing");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_fence()->clear_container(); }),
              "container is missing");
  EXPECT_SAYS(
      error([](auto& wire) { wire.mutable_fence()->mutable_container()->clear_application(); }),
      "application is missing");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_fence()->mutable_container()->set_id(-1); }),
              "id is -1; least is 0");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_fence()->mutable_task()->set_index(-1); }),
              "index is -1");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_fence()->mutable_task()->clear_type(); }),
              "task type is empty");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_fence()->clear_task(); }), "task is missing");
}

TEST(CodecTest, AReportThatCannotBeIsRefused) {
  const AgentToAm ended =
      ProcessEnded{.fence = SomeFence(), .process = {}, .exit = {.code = 1, .signal = {}}};
  const auto error = [&](auto change) {
    return ErrorAfter(ended, [&](v1::AgentToAm& wire) { change(*wire.mutable_process_ended()); });
  };
  EXPECT_SAYS(error([](auto& wire) { wire.clear_process(); }), "process is missing");
  EXPECT_SAYS(error([](auto& wire) { wire.clear_exit(); }), "exit is missing");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_exit()->set_code(256); }), "code is 256");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_exit()->set_code(-1); }), "code is -1");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_exit()->set_signal(9); }), "both");
  EXPECT_SAYS(error([](auto& wire) { wire.mutable_exit()->clear_code(); }), "neither");
  EXPECT_SAYS(error([](auto& wire) { wire.set_stderr_tail(std::string(70'000, 'x')); }),
              "stderr tail has 70000 bytes");
  EXPECT_SAYS(error([](auto& wire) { wire.set_launch_error(std::string(5000, 'x')); }),
              "launch error has 5000 bytes");
}

TEST(CodecTest, AStandstillOfALaterVersionIsRefusedAndNoneIsTheDefault) {
  const AgentToAm signs = ProcessSigns{.fence = SomeFence(),
                                       .process = {},
                                       .standstill = Standstill::kStopped,
                                       .catches_term = true,
                                       .number = 7};
  const auto said = [&](int standstill) {
    return ErrorAfter(signs, [&](v1::AgentToAm& wire) {
      wire.mutable_process_signs()->set_standstill(static_cast<v1::Standstill>(standstill));
    });
  };
  EXPECT_SAYS(said(3), "standstill is 3, which is unknown");
  v1::AgentToAm wire;
  ASSERT_TRUE(wire.ParseFromString(Encode(signs)));
  wire.mutable_process_signs()->clear_standstill();
  wire.mutable_process_signs()->clear_catches_term();
  const auto plain = DecodeAgentToAm(wire.SerializeAsString());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(std::get<ProcessSigns>(*plain).standstill, Standstill::kNone);
  EXPECT_FALSE(std::get<ProcessSigns>(*plain).catches_term);
}

TEST(CodecTest, AReportOnAPortComesThroughAndAListenerOfALaterVersionIsRefused) {
  const PortReport report{.fence = SomeFence(),
                          .process = {},
                          .use = {.listener = PortListener::kNobody, .elsewhere = {5001, 65535}},
                          .after = 5min,
                          .number = 3};
  const auto same = DecodeAgentToAm(Encode(AgentToAm(report)));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(ToText(*same), ToText(AgentToAm(report)));
  const auto wrong = [&](auto change) {
    return ErrorAfter(AgentToAm(report),
                      [&](v1::AgentToAm& wire) { change(*wire.mutable_port_report()); });
  };
  EXPECT_SAYS(wrong([](v1::PortReport& in) { in.set_listener(static_cast<v1::PortListener>(3)); }),
              "listener is 3, which is unknown");
  EXPECT_SAYS(wrong([](v1::PortReport& in) { in.add_elsewhere(65536); }),
              "elsewhere has port 65536");
  const auto seen = DecodeAmToAgent(Encode(AmToAgent(NewsSeen{.fence = SomeFence(), .number = 9})));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(std::get<NewsSeen>(*seen).number, 9U);
}

TEST(CodecTest, NegativeTimesAndPortsBeyondSixteenBitsAreRefused) {
  const AgentToAm stalled =
      ProgressStalled{.fence = SomeFence(), .process = {}, .silent = Duration(-1)};
  EXPECT_SAYS(DecodeAgentToAm(Encode(stalled)).error().message, "silence is -1");
  const AmToAgent stop =
      StopProcess{.fence = SomeFence(), .attempt = TaskAttempt(1), .grace = Duration(-1)};
  EXPECT_SAYS(DecodeAmToAgent(Encode(stop)).error().message, "grace is -1");
  const AmToAgent end = EndAgent{.fence = SomeFence(), .grace = Duration(-1)};
  EXPECT_SAYS(DecodeAmToAgent(Encode(end)).error().message, "grace is -1");
  for (const std::int32_t port : {-1, 65536}) {
    const AgentToAm changed = AddressChanged{.fence = SomeFence(), .address = {"n1", port}};
    EXPECT_SAYS(DecodeAgentToAm(Encode(changed)).error().message, "address has port");
  }
  const AgentToAm nowhere = AddressChanged{.fence = SomeFence(), .address = {"", 1}};
  EXPECT_SAYS(DecodeAgentToAm(Encode(nowhere)).error().message, "no host");
}

TEST(CodecTest, AKindOfReportThatIsUnknownIsRefused) {
  v1::AmToAgent wire;
  ASSERT_TRUE(wire.ParseFromString(Encode(AmToAgent(ReportSeen{.fence = SomeFence()}))));
  wire.mutable_report_seen()->set_kind(static_cast<v1::Report>(17));
  EXPECT_SAYS(DecodeAmToAgent(wire.SerializeAsString()).error().message, "is 17, which is unknown");
  wire.mutable_report_seen()->set_kind(v1::REPORT_UNKNOWN);
  EXPECT_FALSE(DecodeAmToAgent(wire.SerializeAsString()).has_value());
}

TEST(CodecTest, AHelloThatCannotBeIsRefused) {
  EXPECT_FALSE(DecodeHello("").has_value());
  EXPECT_FALSE(DecodeHello(Encode(Hello{.oldest_version = 0})).has_value());
  EXPECT_FALSE(DecodeHello(Encode(Hello{.oldest_version = 2, .newest_version = 1})).has_value());
  EXPECT_FALSE(DecodeHello(Encode(Hello{.am_attempt = -1})).has_value());
}

/// A field of number 500 with five bytes, as a later version might have it.
const char kUnknownField[] = "\xa2\x1f\x05later";

TEST(CodecTest, FieldsOfALaterVersionAreIgnored) {
  const AgentToAm beat = AgentHeartbeat{.fence = SomeFence()};
  const auto read = DecodeAgentToAm(Encode(beat) + kUnknownField);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(ToText(*read), ToText(beat));
}

TEST(CodecTest, AMessageOfALaterVersionIsToldFromADamagedOne) {
  EXPECT_EQ(DecodeAgentToAm(kUnknownField).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(DecodeAmToAgent(kUnknownField).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(DecodeAgentToAm("\x0a\x7f").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(DecodeAmToAgent("\x0a\x7f").error().code, ErrorCode::kInvalidArgument);
}

TEST(CodecTest, NoDamageEndsTheProcess) {
  RandomMessages random(3);
  RandomStream damage(4, "damage");
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::string bytes = Encode(random.Make<AmToAgent>(round % std::variant_size_v<AmToAgent>));
    std::string others = Encode(random.Make<AgentToAm>(round % std::variant_size_v<AgentToAm>));
    for (std::string* text : {&bytes, &others}) {
      for (int i = 0; i < 3 && !text->empty(); ++i)
        (*text)[damage.Below(text->size())] = static_cast<char>(damage.Next());
      text->resize(damage.Below(text->size() + 1));
    }
    (void)DecodeAmToAgent(bytes);
    (void)DecodeAgentToAm(others);
    (void)DecodeHello(others);
  }
}

}  // namespace
}  // namespace tfyarn::wire::codec_test
