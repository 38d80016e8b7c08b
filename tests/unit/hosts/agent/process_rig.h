// Starts programs for a test, runs the event loop until something has happened, and insists that no
// process is left when the test is over.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hosts/agent/process_tree.h"
#include "hosts/agent/spawner.h"
#include "hosts/agent/subreaper.h"
#include "tests/unit/files.h"

namespace tfyarn::agent_host {

/// The kernel's own /proc, and how often it was asked.
class CountingProc : public ProcSource {
 public:
  [[nodiscard]] std::optional<ProcessInfo> Process(pid_t pid) const override {
    ++processes;
    return ProcSource::Process(pid);
  }
  [[nodiscard]] std::vector<pid_t> Children(pid_t pid, std::int64_t threads) const override {
    ++lists;
    return ProcSource::Children(pid, threads);
  }
  [[nodiscard]] ProcessTable All() const override {
    ++tables;
    return ProcSource::All();
  }
  [[nodiscard]] bool lists_children() const override {
    return may_list && ProcSource::lists_children();
  }
  void Forget() { processes = lists = tables = 0; }

  bool may_list = true;  ///< False: as on a kernel without such lists.
  mutable int processes = 0;
  mutable int lists = 0;
  mutable int tables = 0;  ///< Readings of every process that there is.
};

class ProcessRig : public testing::Test {
 protected:
  void TearDown() override;

  /// odd_task with `words`, in the test's own directory.
  [[nodiscard]] SpawnSpec Odd(std::vector<std::string> words) const;
  /// Runs the loop until it runs or could not be started.
  Expected<Spawned> Spawn(const SpawnSpec& spec);
  /// Starts it as a tree of its own; its end goes to ended().
  void Start(const SpawnSpec& spec);
  void Start(std::vector<std::string> words) { Start(Odd(std::move(words))); }
  /// Runs the loop until the tree has ended.
  TreeExit End();
  /// Start() and End().
  TreeExit Whole(std::vector<std::string> words);
  /// Runs the loop until `done`, which is asked every few milliseconds. Fails after a minute.
  void Until(const std::function<bool()>& done, const std::string& what);
  /// Until the program has printed this line.
  void UntilSaid(const std::string& line = "ready");

  [[nodiscard]] ProcessTree& tree() { return *tree_; }
  [[nodiscard]] bool ended() const { return exit_.has_value(); }
  [[nodiscard]] std::string Stdout() const;
  [[nodiscard]] std::string Stderr() const;
  /// Descendants of the test, zombies included, that are not its gtest machinery.
  static std::vector<pid_t> Living();

  const TemporaryFolder folder_;
  const std::filesystem::path directory_ = folder_.path();
  boost::asio::io_context io_;
  CountingProc proc_;
  Subreaper subreaper_{io_, proc_};
  TreeOptions options_;  ///< Of the trees that Start() makes.
  std::unique_ptr<ProcessTree> tree_;
  std::optional<TreeExit> exit_;
};

/// Path of the program that behaves as told.
[[nodiscard]] std::string OddTask();

}  // namespace tfyarn::agent_host
