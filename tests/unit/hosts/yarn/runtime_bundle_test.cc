#include "hosts/yarn/runtime_bundle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/files.h"

namespace tfyarn::hosts::runtime_bundle_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

class RuntimeBundleTest : public testing::Test {
 protected:
  RuntimeBundleTest() {
    fs::create_directories(programs_);
    // Any program will do that needs libraries.
    for (const char* name : {"tfyarn-am", "tfyarn-agent"})
      fs::copy_file("/bin/sh", programs_ / name);
  }

  const TemporaryFolder folder_;
  fs::path root_ = folder_.path();
  fs::path programs_ = root_ / "programs with a 'quote'";
};

TEST_F(RuntimeBundleTest, HasTheProgramsTheirLibrariesAndTheLoader) {
  const auto bundle = FindRuntime(programs_);
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_THAT(bundle->files, Contains(Field(&BundledFile::name, "bin/tfyarn-am")));
  EXPECT_THAT(bundle->files, Contains(Field(&BundledFile::name, "bin/tfyarn-agent")));
  EXPECT_THAT(bundle->files, Contains(Field(&BundledFile::name, "lib/libc.so.6")));
  EXPECT_THAT(bundle->files, Contains(Field(&BundledFile::name, "lib/ld-linux-x86-64.so.2")));
}

volatile std::sig_atomic_t interrupts = 0;

// As a user presses Ctrl-C at a submission.
TEST_F(RuntimeBundleTest, AnInterruptDoesNotCutShortWhatTheLoaderSays) {
  struct sigaction counted {};
  counted.sa_handler = [](int) { interrupts = interrupts + 1; };
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGINT, &counted, &before), 0);
  std::atomic<bool> over = false;
  std::thread user([&over, here = pthread_self()] {
    while (!over) {
      pthread_kill(here, SIGINT);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto bundle = FindRuntime(programs_);
    const std::string said = bundle ? "" : bundle.error().message;
    EXPECT_EQ(said, "");
  }
  over = true;
  user.join();
  sigaction(SIGINT, &before, nullptr);
  EXPECT_GT(interrupts, 0);
}

TEST_F(RuntimeBundleTest, IsNamedByItsContents) {
  const auto first = FindRuntime(programs_);
  const auto again = FindRuntime(programs_);
  std::ofstream(programs_ / "tfyarn-am", std::ios::app) << "x";
  const auto changed = FindRuntime(programs_);
  ASSERT_TRUE(first && again && changed);
  EXPECT_THAT(first->name, StartsWith("tfyarn-runtime-"));
  EXPECT_EQ(first->name, again->name);
  EXPECT_NE(first->name, changed->name);
}

TEST_F(RuntimeBundleTest, RunsWhereItIsUnpacked) {
  const auto bundle = FindRuntime(programs_);
  ASSERT_TRUE(bundle) << bundle.error().message;
  const fs::path archive = root_ / "bundle.tar.gz";
  const auto written = WriteBundle(*bundle, archive);
  ASSERT_TRUE(written) << written.error().message;
  fs::create_directories(root_ / "container" / kRuntimeDirectory);
  std::string command;
  for (const std::string& word : BundledCommand("tfyarn-am")) command += " " + word;
  // No library is found but those that the bundle has.
  const std::string script =
      fmt::format("cd '{}' && tar xzf '{}' -C {} && env -i{} -c 'exit 7'",
                  (root_ / "container").string(), archive.string(), kRuntimeDirectory, command);
  const int status = std::system(script.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 7) << script;
}

TEST_F(RuntimeBundleTest, WhatIsNotThereIsNamed) {
  fs::remove(programs_ / "tfyarn-agent");
  const auto bundle = FindRuntime(programs_);
  ASSERT_FALSE(bundle);
  EXPECT_THAT(bundle.error().message, HasSubstr("tfyarn-agent"));
  const auto written = WriteBundle({}, root_ / "nowhere" / "bundle.tar.gz");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace tfyarn::hosts::runtime_bundle_test
