// The messages of core/model/channel.h as bytes (wire/am_agent.proto), and the Hello that begins a
// connection. Protobuf's own types stay in the .cc files.
//
// A peer is believed nothing: every number, name and length that the core relies on is checked on
// the way in. Fields that this version does not know are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/channel.h"
#include "core/model/error.h"
#include "core/model/ids.h"

namespace tfyarn::wire {

/// Versions of the messages that this build speaks.
inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr std::uint32_t kNewestVersion = 1;

/// Longest name of a host, in bytes. Source: RFC 1035, 2.3.4.
inline constexpr std::size_t kMaxHost = 253;
/// Longest name of a task type, in bytes.
inline constexpr std::size_t kMaxTaskType = 255;
/// Longest reason or launch error, in bytes; Encode() cuts what is longer.
inline constexpr std::size_t kMaxReason = 4096;
/// Longest tail of stderr, in bytes; Encode() keeps the end of what is longer.
inline constexpr std::size_t kMaxStderrTail = std::size_t{64} * 1024;
/// Most tasks of a cluster spec.
inline constexpr std::size_t kMaxSpecTasks = 100'000;

/// First word of each end.
struct Hello {
  std::uint32_t oldest_version = kOldestVersion;
  std::uint32_t newest_version = kNewestVersion;
  ApplicationId application;
  std::int32_t am_attempt = 0;           ///< From 1; in messages of the AM, else 0.
  std::optional<ContainerId> container;  ///< In messages of the agent only.
  friend bool operator==(const Hello&, const Hello&) = default;
};
BOOST_DESCRIBE_STRUCT(Hello, (),
                      (oldest_version, newest_version, application, am_attempt, container))

/// The newest version that both ends speak; nullopt when there is none.
[[nodiscard]] std::optional<std::uint32_t> CommonVersion(const Hello& peer);

/// The encoded form of the last few cluster specs: a spec is encoded once, not for every agent.
class SpecEncodings {
 public:
  /// Valid until the next call. `spec` is not a default-made one.
  [[nodiscard]] const std::string& Of(const SpecRef& spec);

 private:
  static constexpr std::size_t kKept = 4;
  std::deque<std::pair<SpecId, std::string>> newest_first_;
};

[[nodiscard]] std::string Encode(const Hello& hello);
[[nodiscard]] std::string Encode(const AgentToAm& message);
[[nodiscard]] std::string Encode(const AmToAgent& message);
/// As above; takes a spec's bytes from `specs`.
[[nodiscard]] std::string Encode(const AmToAgent& message, SpecEncodings& specs);

/// Errors: kInvalidArgument naming the field and what is wrong with it. An unknown kind of message
/// is kNotFound: a later version has more of them.
[[nodiscard]] Expected<Hello> DecodeHello(std::string_view bytes);
[[nodiscard]] Expected<AgentToAm> DecodeAgentToAm(std::string_view bytes);
/// As above. The spec of a StartProcess is whole and its id was computed anew.
[[nodiscard]] Expected<AmToAgent> DecodeAmToAgent(std::string_view bytes);

}  // namespace tfyarn::wire
