// One application of a YARN cluster, asked for as often as need be.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/yarn/cluster_access.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/ipc_error.h"

namespace tfyarn::apps {

/// A ResourceManager that is away for longer does not come back by itself.
inline constexpr Duration kLongestSilence = 15min;

/// "application_1700000000000_0007", of which YARN's own commands make nothing else either.
[[nodiscard]] std::optional<ApplicationId> ParseApplication(const std::string& text);
/// The same of a command's argument. nullopt: what is wrong was said; the exit code is
/// kInvalidInput.
[[nodiscard]] std::optional<ApplicationId> ApplicationFrom(const std::string& text);

[[nodiscard]] bool HasEnded(const hadoop::ApplicationDetails& application);
/// What its AM said at its end; what YARN says where no AM did.
[[nodiscard]] std::string StatusOf(const hadoop::ApplicationDetails& application);
/// Of a program that waited for it.
[[nodiscard]] int ExitCodeOf(const hadoop::ApplicationDetails& application);

/// How a job ended, for people or programs; returns `code`, or kInternal when it cannot be written.
struct JobEnd {
  std::string application;
  std::string name;
  std::string status;
  std::string diagnostics;
  int code = 0;
};
[[nodiscard]] int PrintEnd(const JobEnd& end, bool json);

/// Says it; returns kCredentials where a daemon does not take who we say to be, kInvalidInput where
/// there is no such application, else kCluster.
[[nodiscard]] int Refuse(const hadoop::IpcError& error);
/// An answer that is none.
[[nodiscard]] hadoop::IpcError Unreadable(const Error& error);
/// The cluster may answer later.
[[nodiscard]] bool MayPass(const hadoop::IpcError& error);

class ApplicationWatch {
 public:
  using Seen = tl::expected<hadoop::ApplicationDetails, hadoop::IpcError>;

  ApplicationWatch(ClusterQuestions& questions, const ApplicationId& application)
      : questions_(questions), application_(application) {}

  [[nodiscard]] Seen Look() const;
  /// A ResourceManager that starts again is waited for. `seen`: gets every answer. `longest`: after
  /// so long the last answer is returned also when it has not ended; nullopt = no limit.
  [[nodiscard]] Seen UntilItHasEnded(
      const std::function<void(const hadoop::ApplicationDetails&)>& seen = {},
      const std::optional<Duration>& longest = std::nullopt) const;
  /// The RM kills later.
  [[nodiscard]] tl::expected<std::string, hadoop::IpcError> Kill() const;

 private:
  [[nodiscard]] tl::expected<std::string, hadoop::IpcError> Ask(
      const yarn::RmRequest& request) const;

  ClusterQuestions& questions_;
  ApplicationId application_;
};

}  // namespace tfyarn::apps
