// Commands and environments through scripts of the shape that a NodeManager writes, run by a real
// bash: what comes out at the end is what went in.
#include "wire/hadoop/launch_quoting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/files.h"

namespace tfyarn::hadoop::launch_quoting_test {
namespace {

using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

void Replace(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

class LaunchQuotingTest : public ::testing::Test {
 protected:
  /// Source: ContainerLaunch.java expandEnvironment().
  std::string Expanded(std::string text) const {
    Replace(text, "<LOG_DIR>", directory_);
    Replace(text, "<CPS>", ":");
    Replace(text, "<ADD_OPENS>", "--add-opens=java.base/java.lang=ALL-UNNAMED");
    Replace(text, "{{", "$");
    Replace(text, "}}", "");
    return text;
  }

  /// As the NodeManager runs it. Source: ContainerLaunch.java writeLaunchEnv() and
  /// UnixShellScriptBuilder; DefaultContainerExecutor.java for the outer script, which has the
  /// environment as it is.
  void Run(const std::vector<std::string>& argv, const Environment& environment) {
    const auto launch = QuoteLaunch(argv, environment);
    ASSERT_TRUE(launch.has_value()) << launch.error().message;
    std::ofstream script(directory_ + "/launch_container.sh");
    script << "#!/bin/bash\n\nset -o pipefail -e\nexport CONTAINER_ID=\"c\"\n";
    std::string outer = "exec env -i";
    for (const auto& [name, value] : launch->environment) {
      script << "export " << name << "=\"" << Expanded(value) << "\"\n";
      std::string literal = name + "=" + Expanded(value);
      Replace(literal, "'", "'\\''");
      outer += " '" + literal + "'";
    }
    std::string command;
    for (const std::string& part : launch->command) command += (command.empty() ? "" : " ") + part;
    script << "exec /bin/bash -c \"" << Expanded(command) << "\"\n";
    script.close();
    std::ofstream(directory_ + "/outer.sh")
        << outer << " setsid /bin/bash '" << directory_ << "/launch_container.sh'\n";
    ASSERT_EQ(std::system(("/bin/bash '" + directory_ + "/outer.sh'").c_str()), 0)
        << Output("stderr");
  }
  std::string Output(const std::string& name) const { return ReadFile(directory_ + "/" + name); }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.path();
};

const std::vector<std::string> kNasty = {
    "plain",
    "",
    "two words",
    "$HOME ${HOME} $(id) `id` $$",
    "\"double\" 'single' \\ back\\\\slash",
    "{{HOME}} }}{{ {{{ }}} {{}}",
    "<LOG_DIR> <CPS> <<CPS>> <ADD_OPENS> <",
    "line\nbreak\ttab",
    "* ? [a] ~ ; & | > # ! ^ ( ) {a,b}",
    "-n",
    "\xc3\xa4\xff\x01",
    "a=b",
    "trailing \\",
    "'",
    "\"",
};

TEST_F(LaunchQuotingTest, EveryArgumentArrivesAsItWas) {
  std::vector<std::string> argv = {"/usr/bin/printf", "%s\\0"};
  argv.insert(argv.end(), kNasty.begin(), kNasty.end());
  ASSERT_NO_FATAL_FAILURE(Run(argv, {}));
  std::string expected;
  for (const std::string& argument : kNasty) expected += argument + '\0';
  EXPECT_EQ(Output("stdout"), expected);
}

TEST_F(LaunchQuotingTest, EveryVariableArrivesAsItWas) {
  Environment environment;
  for (std::size_t i = 0; i < kNasty.size(); ++i) environment["V" + std::to_string(i)] = kNasty[i];
  ASSERT_NO_FATAL_FAILURE(Run({"/usr/bin/env", "-0"}, environment));
  const std::string out = '\0' + Output("stdout");
  for (const auto& [name, value] : environment)
    EXPECT_THAT(out, HasSubstr('\0' + name + "=" + value + '\0'));
}

// A PATH in the environment would end the NodeManager's own script: "exec: setsid: not found".
TEST_F(LaunchQuotingTest, WhatWouldReachTheNodeManagersShellsIsSetBehindThem) {
  const Environment environment = {{"PATH", "/nowhere:$PATH"},
                                   {"BASH_ENV", "/nowhere/rc"},
                                   {"LD_PRELOAD", ""},
                                   {"SHELLOPTS", "noexec"},
                                   {"RANDOM", "4"},
                                   {"dotted.name-x", "{{y}}"},
                                   {"LD_LIBRARY_PATH", "/a b/'c'"},
                                   {"HOME", "/home/alice"},
                                   {"_", "kept"}};
  ASSERT_NO_FATAL_FAILURE(Run({"/usr/bin/env", "-0"}, environment));
  EXPECT_TRUE(QuoteLaunch({"x"}, environment)->environment.empty());
  const std::string out = '\0' + Output("stdout");
  for (const auto& [name, value] : environment)
    EXPECT_THAT(out, HasSubstr('\0' + name + "=" + value + '\0'));
}

TEST_F(LaunchQuotingTest, TheProgramTakesThePlaceOfTheShells) {
  ASSERT_NO_FATAL_FAILURE(Run({"/bin/sh", "-c", "cat /proc/$PPID/comm; echo wrong >&2"}, {}));
  EXPECT_EQ(Output("stderr"), "wrong\n");
  EXPECT_NE(Output("stdout"), "bash\n") << "its parent is who ran the script";
}

TEST_F(LaunchQuotingTest, AProgramMayBeginWithADash) {
  std::filesystem::create_symlink("/bin/echo", directory_ + "/-echo");
  ASSERT_NO_FATAL_FAILURE(Run({"-echo", "hello"}, {{"PATH", directory_}}));
  EXPECT_EQ(Output("stdout"), "hello\n");
}

TEST(LaunchQuotingRefusalTest, WhatNoShellCanSayIsRefused) {
  const auto message = [](const std::vector<std::string>& argv, const Environment& environment) {
    const auto launch = QuoteLaunch(argv, environment);
    return launch ? std::string("accepted") : launch.error().message;
  };
  EXPECT_THAT(message({}, {}), HasSubstr("empty"));
  EXPECT_THAT(message({""}, {}), HasSubstr("empty"));
  EXPECT_THAT(message({"a=b"}, {}), HasSubstr("has a '='"));
  EXPECT_THAT(message({"x", std::string("\0", 1)}, {}), HasSubstr("NUL"));
  EXPECT_THAT(message({"x"}, {{"A", std::string("\0", 1)}}), HasSubstr("NUL"));
  EXPECT_THAT(message({"x"}, {{"A=B", ""}}), HasSubstr("no name of a variable"));
  EXPECT_THAT(message({"x"}, {{"", ""}}), HasSubstr("no name of a variable"));
  EXPECT_THAT(message({"x"}, {{"CONTAINER_ID", ""}}), HasSubstr("set by the NodeManager"));
  EXPECT_THAT(message({"x", std::string(kMaxLaunchText, 'y')}, {}), HasSubstr("most are"));
  EXPECT_THAT(message({"x"}, {{"A", std::string(kMaxLaunchText, 'y')}}), HasSubstr("most are"));
}

}  // namespace
}  // namespace tfyarn::hadoop::launch_quoting_test
