#include "tests/contract/subject.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>
#include <cstdlib>

#include "fakes/server/quick_rm.h"
#include "fakes/server/yarn_server.h"
#include "tests/unit/patience.h"

namespace tfyarn::contract {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// ---------------------------------------------------------------- the fake one

fakes::YarnServerOptions FakeOptions(const std::string& folder) {
  fakes::YarnServerOptions options{.folder = folder};
  options.rm = fakes::QuickRmOptions();
  options.rm.nm_expiry = kNodeExpiry;
  options.rm.am_expiry = kAmExpiry;
  options.rm.container_expiry = kContainerExpiry;
  options.rm.am_max_attempts = kMaxAttempts;
  options.rm.maximum_allocation = {.memory_mb = 2048, .vcores = 8};
  options.rm.preemption = true;
  options.rm.preemption_interval = 500ms;
  options.rm.preemption_notice = 1500ms;
  for (int i = 0; i < 3; ++i) {
    fakes::NmOptions node{.node = {.host = fmt::format("127.0.0.{}", 11 + i), .port = 0},
                          .rack = i == 1 ? "/rack2" : "/rack1",
                          .partition = i == 2 ? "gpu" : "",
                          .capacity = {.memory_mb = 2048, .vcores = 8, .gpus = 2 * i},
                          .heartbeat = 100ms,
                          .heartbeat_phase = 33ms * i,
                          .sigkill_delay = kSigkillDelay,
                          .register_retry = 100ms};
    options.nodes.push_back(std::move(node));
  }
  return options;
}

class FakeSubject final : public Subject {
 public:
  FakeSubject(boost::asio::io_context& io, const std::string& folder)
      : server_(io, FakeOptions(folder)) {
    Check(server_.Start());
  }

  bool is_fake() const override { return true; }
  HostPort clients() const override { return server_.client_address(); }
  HostPort masters() const override { return server_.master_address(); }
  void StopRm() override { server_.StopRm(); }
  void StartRm() override { Check(server_.StartRm()); }
  void StopNode(std::size_t index) override { server_.StopNode(index); }
  void StartNode(std::size_t index) override { Check(server_.StartNode(index)); }
  void LetPass(Duration time) override { server_.Advance(time); }

 private:
  static void Check(const Expected<void>& done) {
    EXPECT_TRUE(done.has_value()) << done.error().message;
  }
  fakes::YarnServer server_;
};

// ---------------------------------------------------------------- the real one

HostPort AddressIn(const char* variable) {
  return ParseHostPort(Variable(variable)).value();
}

class RealSubject final : public Subject {
 public:
  explicit RealSubject(boost::asio::io_context& io) : io_(io) {}

  bool is_fake() const override { return false; }
  HostPort clients() const override { return AddressIn("TFYARN_CONTRACT_RM"); }
  HostPort masters() const override { return AddressIn("TFYARN_CONTRACT_SCHEDULER"); }
  void StopRm() override { Control("kill rm"); }
  void StartRm() override { Control("start rm"); }
  void StopNode(std::size_t index) override { Control(fmt::format("kill nm{}", index + 1)); }
  void StartNode(std::size_t index) override { Control(fmt::format("start nm{}", index + 1)); }
  void LetPass(Duration time) override { RunFor(io_, time); }

 private:
  static void Control(const std::string& words) {
    const std::string command = Variable("TFYARN_CONTRACT_CONTROL") + " " + words;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  boost::asio::io_context& io_;
};

}  // namespace

Duration Patience() {
  return tfyarn::Patience(1min);
}

std::unique_ptr<Subject> MakeSubject(boost::asio::io_context& io, const std::string& folder) {
  if (Variable("TFYARN_CONTRACT_RM").empty()) return std::make_unique<FakeSubject>(io, folder);
  return std::make_unique<RealSubject>(io);
}

void RunFor(boost::asio::io_context& io, Duration time) {
  bool over = false;
  boost::asio::steady_timer timer(io, time);
  timer.async_wait([&](const boost::system::error_code&) { over = true; });
  while (!over) {
    io.restart();
    io.run_one();
  }
}

}  // namespace tfyarn::contract
