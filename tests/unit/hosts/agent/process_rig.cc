#include "tests/unit/hosts/agent/process_rig.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "hosts/agent/proc_table.h"
#include "tests/unit/patience.h"

namespace tfyarn::agent_host {

std::string OddTask() {
  return TFYARN_ODD_TASK;
}

void ProcessRig::TearDown() {
  tree_.reset();
  const std::vector<pid_t> living = Living();
  EXPECT_TRUE(living.empty()) << living.size() << " processes left, the first is " << living[0];
  for (const pid_t pid : living) ::kill(pid, SIGKILL);
}

std::vector<pid_t> ProcessRig::Living() {
  const std::set<pid_t> all = WithDescendants(ReadProcessTable(), {::getpid()});
  std::vector<pid_t> living(all.begin(), all.end());
  std::erase(living, ::getpid());
  return living;
}

SpawnSpec ProcessRig::Odd(std::vector<std::string> words) const {
  SpawnSpec spec;
  spec.argv = std::move(words);
  spec.argv.insert(spec.argv.begin(), OddTask());
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  spec.directory = directory_;
  spec.stdout_path = directory_ / "stdout";
  spec.stderr_path = directory_ / "stderr";
  return spec;
}

Expected<Spawned> ProcessRig::Spawn(const SpawnSpec& spec) {
  std::optional<Expected<Spawned>> result;
  agent_host::Spawn(subreaper_, spec,
                    [&](Expected<Spawned> spawned) { result = std::move(spawned); });
  EXPECT_FALSE(result) << "called from within the call";
  Until([&] { return result.has_value(); }, "the word of the child");
  return result ? std::move(*result) : Fail(ErrorCode::kInternal, "nothing came");
}

void ProcessRig::Start(const SpawnSpec& spec) {
  exit_.reset();
  auto spawned = Spawn(spec);
  ASSERT_TRUE(spawned) << spawned.error().message;
  tree_ = std::make_unique<ProcessTree>(
      subreaper_, std::move(*spawned), [this](const TreeExit& exit) { exit_ = exit; }, options_);
}

TreeExit ProcessRig::End() {
  Until([this] { return exit_.has_value(); }, "end of the tree");
  return exit_.value_or(TreeExit{});
}

TreeExit ProcessRig::Whole(std::vector<std::string> words) {
  Start(std::move(words));
  return HasFatalFailure() ? TreeExit{} : End();
}

void ProcessRig::Until(const std::function<bool()>& done, const std::string& what) {
  const auto watchdog = std::chrono::steady_clock::now() + Patience(1min);
  while (!done()) {
    if (std::chrono::steady_clock::now() > watchdog) {
      ADD_FAILURE() << "waited in vain for: " << what;
      return;
    }
    io_.restart();
    io_.run_for(std::chrono::milliseconds(2));
  }
}

void ProcessRig::UntilSaid(const std::string& line) {
  Until([&] { return Stdout().find(line + "\n") != std::string::npos; }, "\"" + line + "\"");
}

std::string ProcessRig::Stdout() const {
  return ReadFile(directory_ / "stdout");
}
std::string ProcessRig::Stderr() const {
  return ReadFile(directory_ / "stderr");
}

}  // namespace tfyarn::agent_host
