// What the channel between AM and agents costs: 10,000 agents that beat once a second, and 1,000
// that register at once and wait for the spec. Agents and TLS are real, the network is loopback.
//
// The server is this process; all agents live in a child, so that the server's CPU time can be told
// apart. They tell each other through pipes when something begins and what was measured.
// Usage: channel_bench [REPEATS [AGENTS]]: REPEATS seconds of heartbeats, REPEATS starts.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bench/summary.h"
#include "core/model/check.h"
#include "wire/channel_client.h"
#include "wire/channel_server.h"
#include "wire/identity.h"

namespace {

using namespace tfyarn;
using Clock = std::chrono::steady_clock;

const ApplicationId kApplication{.cluster_timestamp = 1700000000000, .id = 7};
constexpr auto kGiveUp = std::chrono::minutes(2);

ContainerId ContainerOf(std::size_t agent) {
  return {.application_attempt = {.application = kApplication, .attempt = 1},
          .id = static_cast<std::int64_t>(agent) + 2};
}

AgentFence FenceOfAgent(std::size_t agent) {
  return {.container = ContainerOf(agent),
          .task = {.type = "worker", .index = static_cast<std::int32_t>(agent)},
          .incarnation = Incarnation(0),
          .nonce = Nonce(0x9e3779b97f4a7c15 * (agent + 1))};
}

/// The size of a cluster: `per_host` tasks on each host.
SpecRef SpecOf(std::size_t tasks, std::size_t per_host) {
  ClusterSpec spec{.epoch = Epoch(1), .tasks = {}};
  for (std::size_t i = 0; i < tasks; ++i) {
    const std::size_t host = i / per_host;
    spec.tasks["worker"].push_back({.host = "node-" + std::to_string(1000 + host) + ".rack-" +
                                            std::to_string(host / 40) + ".cluster.example.org",
                                    .port = static_cast<std::int32_t>(32768 + i * 7919 % 28000)});
  }
  return Share(std::move(spec));
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---------------------------------------------------------------- what both processes do

class Pipe {
 public:
  Pipe() {
    int ends[2];
    TF_CHECK(::pipe(ends) == 0);
    read_ = ends[0];
    write_ = ends[1];
  }
  /// At once: the reader finds all of it or nothing.
  void Put(const std::vector<double>& values) const {
    std::vector<double> words{static_cast<double>(values.size())};
    words.insert(words.end(), values.begin(), values.end());
    const std::size_t size = words.size() * sizeof(double);
    TF_CHECK(::write(write_, words.data(), size) == static_cast<ssize_t>(size));
  }
  [[nodiscard]] std::vector<double> Take() const {
    double size = 0;
    TakeBytes(&size, sizeof size);
    std::vector<double> values(static_cast<std::size_t>(size));
    TakeBytes(values.data(), values.size() * sizeof(double));
    return values;
  }
  [[nodiscard]] int reading_end() const { return read_; }
  void Close() const {
    ::close(read_);
    ::close(write_);
  }

 private:
  void TakeBytes(void* bytes, std::size_t size) const {
    auto* at = static_cast<char*>(bytes);
    while (size > 0) {
      const ssize_t got = ::read(read_, at, size);
      TF_CHECK(got > 0);
      at += got;
      size -= static_cast<std::size_t>(got);
    }
  }

  int read_ = -1;
  int write_ = -1;
};

/// The AM's end. It answers as the core would, and sends the spec when all have registered.
class Server {
 public:
  Server(const wire::CertificateAuthority& authority, std::size_t agents, SpecRef spec)
      : agents_(agents), spec_(std::move(spec)) {
    server_ = std::make_unique<wire::ChannelServer>(
        io_, wire::ServerOptions{}, authority.IssueAm(1).value(), kApplication, 1,
        wire::ServerHandlers{.on_message = [this](const ContainerId& peer, AgentToAm message) {
          Take(peer, message);
        }});
    port_ = server_->Listen("127.0.0.1").value();
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] wire::ServerCounters counters() const { return server_->counters(); }
  /// Serves until the other process writes.
  void ServeUntilWord(const Pipe& pipe) {
    boost::asio::posix::stream_descriptor word(io_, ::dup(pipe.reading_end()));
    bool came = false;
    word.async_wait(word.wait_read, [&](const boost::system::error_code&) { came = true; });
    const auto start = Clock::now();
    while (!came) {
      TF_CHECK(Clock::now() - start < kGiveUp);
      io_.run_one_for(std::chrono::seconds(1));
      io_.restart();
    }
  }

 private:
  void Take(const ContainerId& peer, const AgentToAm& message) {
    const AgentFence& fence = FenceOf(message);
    if (std::holds_alternative<AgentHeartbeat>(message))
      return server_->Send(peer, HeartbeatSeen{.fence = fence});
    server_->Send(peer, AgentAccepted{.fence = fence});
    registered_.push_back(fence);
    if (registered_.size() != agents_ || spec_.get() == nullptr) return;
    for (const AgentFence& agent : registered_) {
      server_->Send(agent.container, StartProcess{.fence = agent,
                                                  .process = {TaskAttempt(0), Epoch(1)},
                                                  .spec = spec_,
                                                  .resume = false});
    }
  }

  boost::asio::io_context io_{1};
  std::size_t agents_;
  SpecRef spec_;
  std::vector<AgentFence> registered_;
  std::unique_ptr<wire::ChannelServer> server_;
  int port_ = 0;
};

/// All agents.
class Load {
 public:
  Load(const std::vector<wire::Identity>& identities, const Pipe& ports) {
    clients_.resize(identities.size());
    sent_.resize(identities.size());
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      clients_[i] = std::make_unique<wire::ChannelClient>(
          io_, wire::ClientOptions{.idle = kGiveUp}, identities[i], kApplication, ContainerOf(i),
          wire::ClientHandlers{
              .on_message = [this, i](const AmToAgent& message, std::int32_t) { Take(i, message); },
              .on_lost =
                  [this](wire::ChannelEnd why, const std::string& detail) {
                    if (lost_++ == 0)
                      std::fprintf(stderr, "lost: %s: %s\n",
                                   std::string(EnumeratorName(why)).c_str(), detail.c_str());
                  }});
    }
    am_.port = static_cast<std::int32_t>(ports.Take().at(0));
  }

  void Register(std::size_t agent) {
    clients_[agent]->Send(am_, 1,
                          RegisterAgent{.fence = FenceOfAgent(agent),
                                        .address = {.host = "127.0.0.1", .port = 40000},
                                        .running = {},
                                        .ended = {},
                                        .exit = {}});
  }
  /// At most `at_once` on their way.
  void RegisterAll(std::size_t at_once) {
    std::size_t begun = 0;
    while (accepted_ < clients_.size()) {
      for (; begun < clients_.size() && begun - accepted_ < at_once; ++begun) Register(begun);
      Run();
    }
  }
  void AwaitSpecs() {
    while (started_ < clients_.size()) Run();
  }
  /// Every agent once a second, evenly. For each second: p50 and p99 of the reply times in ms.
  [[nodiscard]] std::vector<double> Beat(int seconds) {
    std::vector<double> quantiles;
    const auto start = Clock::now();
    for (int second = 0; second < seconds; ++second) {
      replies_.clear();
      BeatOnce(start + std::chrono::seconds(second));
      std::sort(replies_.begin(), replies_.end());
      // All but those on their way as the second ends.
      if (replies_.size() < clients_.size() * 9 / 10)
        std::fprintf(stderr, "only %zu replies in a second\n", replies_.size());
      TF_CHECK(!replies_.empty());
      quantiles.push_back(replies_[replies_.size() / 2]);
      quantiles.push_back(replies_[replies_.size() * 99 / 100]);
    }
    return quantiles;
  }
  [[nodiscard]] double lost() const { return static_cast<double>(lost_); }

 private:
  void Run() {
    io_.run_one_for(std::chrono::seconds(1));
    io_.restart();
  }
  void BeatOnce(Clock::time_point begin) {
    boost::asio::steady_timer tick(io_);
    for (std::size_t next = 0; Clock::now() < begin + std::chrono::seconds(1);) {
      const auto due = static_cast<std::size_t>(
          std::clamp(std::chrono::duration<double>(Clock::now() - begin).count(), 0.0, 1.0) *
          static_cast<double>(clients_.size()));
      for (; next < due; ++next) {
        sent_[next] = Clock::now();
        clients_[next]->Send(am_, 1, AgentHeartbeat{.fence = FenceOfAgent(next)});
      }
      bool ticked = false;
      tick.expires_after(std::chrono::milliseconds(1));
      tick.async_wait([&](const boost::system::error_code&) { ticked = true; });
      while (!ticked) Run();
    }
  }
  void Take(std::size_t agent, const AmToAgent& message) {
    if (std::holds_alternative<AgentAccepted>(message)) ++accepted_;
    if (std::holds_alternative<StartProcess>(message)) ++started_;
    if (std::holds_alternative<HeartbeatSeen>(message))
      replies_.push_back(SecondsSince(sent_[agent]) * 1e3);
  }

  boost::asio::io_context io_{1};
  std::vector<std::unique_ptr<wire::ChannelClient>> clients_;
  std::vector<Clock::time_point> sent_;
  std::vector<double> replies_;
  TaskAddress am_{.host = "127.0.0.1", .port = 0};
  std::size_t accepted_ = 0;
  std::size_t started_ = 0;
  std::uint64_t lost_ = 0;
};

// ---------------------------------------------------------------- measurements

/// Runs `load` in a child process; `serve` is done here.
void WithLoad(const std::function<void()>& load, const std::function<void()>& serve) {
  const pid_t child = ::fork();
  TF_CHECK(child >= 0);
  if (child == 0) {
    load();
    ::_exit(0);
  }
  serve();
  int status = 0;
  TF_CHECK(::waitpid(child, &status, 0) == child);
  TF_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::vector<wire::Identity> IdentitiesOf(const wire::CertificateAuthority& authority,
                                         std::size_t agents) {
  std::vector<wire::Identity> identities;
  for (std::size_t i = 0; i < agents; ++i)
    identities.push_back(authority.IssueAgent(ContainerOf(i)).value());
  return identities;
}

void MeasureHeartbeats(const wire::CertificateAuthority& authority, std::size_t agents,
                       int seconds) {
  const auto identities = IdentitiesOf(authority, agents);
  const Pipe ports;
  const Pipe words;
  std::vector<double> shares;
  std::vector<double> quantiles;
  WithLoad(
      [&] {
        Load load(identities, ports);
        load.RegisterAll(200);
        for (int i = 0; i < seconds; ++i) {
          words.Put({});
          words.Put(load.Beat(1));
        }
        words.Put({load.lost()});
      },
      [&] {
        Server server(authority, agents, {});
        ports.Put({static_cast<double>(server.port())});
        for (int i = 0; i < seconds; ++i) {
          server.ServeUntilWord(words);
          (void)words.Take();
          const double cpu = bench::CpuNanoseconds();
          const auto start = Clock::now();
          server.ServeUntilWord(words);
          shares.push_back((bench::CpuNanoseconds() - cpu) / 1e7 / SecondsSince(start));
          for (const double value : words.Take()) quantiles.push_back(value);
        }
        server.ServeUntilWord(words);
        const double lost = words.Take().at(0);
        if (lost > 0) std::fprintf(stderr, "%g connections were lost\n", lost);
      });
  std::vector<double> p50;
  std::vector<double> p99;
  for (std::size_t i = 0; i < quantiles.size(); i += 2) {
    p50.push_back(quantiles[i]);
    p99.push_back(quantiles[i + 1]);
  }
  const std::string name = std::to_string(agents) + " agents beat at 1 Hz";
  bench::PrintResult(name, "AM's channel, of one core", "%", shares);
  bench::PrintResult(name, "reply, p50", "ms", p50);
  bench::PrintResult(name, "reply, p99", "ms", p99);
  ports.Close();
  words.Close();
}

void MeasureStart(const wire::CertificateAuthority& authority, std::size_t agents,
                  std::size_t per_host, int repeats) {
  const auto identities = IdentitiesOf(authority, agents);
  std::vector<double> seconds;
  std::vector<double> megabytes;
  std::vector<double> cpu;
  for (int i = 0; i < repeats; ++i) {
    const Pipe ports;
    const Pipe words;
    WithLoad(
        [&] {
          Load load(identities, ports);
          const auto start = Clock::now();
          load.RegisterAll(agents);
          load.AwaitSpecs();
          words.Put({SecondsSince(start), load.lost()});
        },
        [&] {
          Server server(authority, agents, SpecOf(agents, per_host));
          const double before = bench::CpuNanoseconds();
          ports.Put({static_cast<double>(server.port())});
          server.ServeUntilWord(words);
          const auto counters = server.counters();
          seconds.push_back(words.Take().at(0));
          cpu.push_back((bench::CpuNanoseconds() - before) / 1e9);
          megabytes.push_back(static_cast<double>(counters.bytes_in + counters.bytes_out) / 1e6);
        });
    ports.Close();
    words.Close();
  }
  const std::string name = std::to_string(agents) + " agents register and get the spec, " +
                           std::to_string(per_host) + " per host";
  bench::PrintResult(name, "until all hold it", "s", seconds);
  bench::PrintResult(name, "AM's channel, CPU", "s", cpu);
  bench::PrintResult(name, "on the wire, both ways", "MB", megabytes);
}

/// As many agents as there may be file descriptors, and not more than `wanted`.
std::size_t AgentsWithinLimit(std::size_t wanted) {
  constexpr std::size_t kOthers = 64;
  rlimit limit{};
  TF_CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  TF_CHECK(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_cur >= wanted + kOthers) return wanted;
  const std::size_t possible = limit.rlim_cur - kOthers;
  std::fprintf(stderr, "only %zu agents: the limit of file descriptors is %zu\n", possible,
               static_cast<std::size_t>(limit.rlim_cur));
  return possible;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::size_t agents =
      AgentsWithinLimit(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10'000);
  const auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto authority =
      wire::CertificateAuthority::Make(kApplication, WallTime(now.time_since_epoch())).value();
  MeasureHeartbeats(authority, agents, repeats);
  for (const std::size_t per_host : {std::size_t{1}, std::size_t{8}})
    MeasureStart(authority, std::min<std::size_t>(agents, 1000), per_host, repeats);
}
