// How a refusal of the cluster ends a program.
#include "apps/yarn/application_watch.h"

#include <gtest/gtest.h>

#include "apps/cli/exit_codes.h"

namespace tfyarn::apps::application_watch_test {
namespace {

using hadoop::IpcErrorKind;

TEST(RefuseTest, EachKindOfRefusalHasItsExitCode) {
  const auto code = [](IpcErrorKind kind, const std::string& exception) {
    return Refuse({.kind = kind, .exception = exception, .message = "no"});
  };
  EXPECT_EQ(code(IpcErrorKind::kConnect, ""), cli::ToInt(cli::ExitCode::kCluster));
  EXPECT_EQ(code(IpcErrorKind::kSecurity, ""), cli::ToInt(cli::ExitCode::kCredentials));
  EXPECT_EQ(
      code(IpcErrorKind::kSecurity, "org.apache.hadoop.security.token.SecretManager$InvalidToken"),
      cli::ToInt(cli::ExitCode::kCredentials));
  EXPECT_EQ(
      code(IpcErrorKind::kRemote, "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException"),
      cli::ToInt(cli::ExitCode::kInvalidInput));
}

}  // namespace
}  // namespace tfyarn::apps::application_watch_test
