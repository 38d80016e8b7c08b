// fake-hadoop: a cluster of fakes for `tfyarn submit`, without a JVM; docs/fakes.md.
//
// It takes orders, one a line, from its standard input, and answers each with `ok` or `error: ...`.
// It ends with its input, so that nothing outlives who started it.
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "tests/fake_hadoop/fake_cluster.h"

namespace {

using namespace tfyarn;

/// Lines of the standard input, until its end or that of this. It may be a file or /dev/null, for
/// which no event loop waits: hence the thread.
class Lines {
 public:
  Lines(boost::asio::io_context& io, std::function<void(std::string)> line,
        std::function<void()> end)
      : io_(io),
        line_(std::move(line)),
        end_(std::move(end)),
        wake_(eventfd(0, EFD_CLOEXEC)),
        thread_([this] { Read(); }) {}
  ~Lines() {
    eventfd_write(wake_, 1);
    thread_.join();
    close(wake_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

 private:
  void Read() {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
      std::array<pollfd, 2> both = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
      if (poll(both.data(), both.size(), -1) < 0 || both[1].revents != 0) return;
      const auto got = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got <= 0) return boost::asio::post(io_, end_);
      text.append(buffer.data(), static_cast<std::size_t>(got));
      for (auto stop = text.find('\n'); stop != std::string::npos; stop = text.find('\n')) {
        boost::asio::post(io_, [this, line = text.substr(0, stop)] { line_(line); });
        text.erase(0, stop + 1);
      }
    }
  }

  boost::asio::io_context& io_;
  const std::function<void(std::string)> line_;
  const std::function<void()> end_;
  const int wake_;
  std::thread thread_;
};

void Say(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

/// Its number when the system does not know the name.
std::string OwnUser() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? std::to_string(geteuid()) : entry->pw_name;
}

/// Source: yarn.nodemanager.env-whitelist.
std::map<std::string, std::string> Inherited() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "LANG", "TZ", "JAVA_HOME"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) environment.emplace(name, value);
  }
  return environment;
}

void AnswerTo(fakes::FakeCluster& cluster, boost::asio::io_context& io, const std::string& line) {
  if (line == "quit") return io.stop();
  if (line == "help") return Say(fakes::FakeCluster::Help());
  const auto done = cluster.Do(line);
  if (!done) return Say("error: " + done.error().message);
  Say(done->empty() ? "ok" : "ok " + *done);
}

int Run(const fakes::FakeClusterOptions& options) {
  boost::asio::io_context io;
  fakes::FakeCluster cluster(io, options);
  if (const auto started = cluster.Start(); !started) {
    fmt::print(stderr, "fake-hadoop: {}\n", started.error().message);
    return 1;
  }
  Say(fmt::format("export HADOOP_CONF_DIR={}", cluster.conf().string()));
  Say(fmt::format("# HDFS: http://{}/webhdfs/v1/; `help` lists the orders; `quit` ends it",
                  cluster.hdfs_address()));
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int) { io.stop(); });
  const Lines lines(
      io, [&](const std::string& line) { AnswerTo(cluster, io, line); }, [&] { io.stop(); });
  io.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  fakes::FakeClusterOptions options{.user = OwnUser(), .environment = Inherited()};
  std::string folder;
  double node_expiry = 15;
  double am_expiry = 30;
  double preemption_notice = 0;
  CLI::App app("A YARN cluster and HDFS of fakes on this machine, for trying and testing tfyarn.");
  app.add_option("--dir", folder, "Configuration and containers' files; made when needed")
      ->required();
  app.add_option("--nodes", options.nodes, "NodeManagers")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  app.add_option("--gpus", options.gpus, "yarn.io/gpu of each node; the last counts for the rest")
      ->delimiter(',');
  app.add_option("--node-memory-mb", options.node_memory_mb)
      ->check(CLI::Range(16, 1 << 30))
      ->capture_default_str();
  app.add_option("--node-vcores", options.node_vcores)
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--node-expiry", node_expiry, "Seconds until a silent NodeManager is lost")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  app.add_option("--am-expiry", am_expiry, "Seconds until a silent AM has failed")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  app.add_option("--preemption-notice", preemption_notice,
                 "Queues take their share back, so many seconds after they have said so; 0: never")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_flag("--kerberos", options.kerberos, "Refuse every client that says only who it is");
  CLI11_PARSE(app, argc, argv);
  constexpr double kMilli = 1000;
  options.node_expiry = std::chrono::milliseconds(static_cast<std::int64_t>(node_expiry * kMilli));
  options.am_expiry = std::chrono::milliseconds(static_cast<std::int64_t>(am_expiry * kMilli));
  options.preemption_notice =
      std::chrono::milliseconds(static_cast<std::int64_t>(preemption_notice * kMilli));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  options.folder = std::filesystem::canonical(folder, failed);
  if (failed) {
    fmt::print(stderr, "fake-hadoop: --dir {}: {}\n", folder, failed.message());
    return 1;
  }
  return Run(options);
}
