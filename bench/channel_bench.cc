// What one ApplicationMaster and its channel cost: 10,000 agents that beat once a second, and 1,000
// that register at once and wait for the spec. The AM is the process that runs in production, with
// its journal, its recording, TLS and the certificates that it issues; the agents are the machines
// that run in production, each with a connection of its own. What is around them (ResourceManager,
// NodeManagers, users' processes) answers at once, and the network is loopback.
//
// The AM is this process; all agents live in a child, so that the AM's CPU time can be told apart.
// The AM tells it through a pipe of every container that it starts, as a NodeManager would. Of the
// agents that beat one more is awaited and never comes: a job of 10,001 that waits for its last
// task. So no spec of 10,000 hosts goes to each of 10,000 agents of one process.
// Usage: channel_bench [REPEATS [AGENTS]]: REPEATS seconds of heartbeats, REPEATS starts.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/job_world.h"
#include "bench/summary.h"
#include "core/agent/task_agent.h"
#include "core/model/check.h"
#include "core/model/launch.h"
#include "core/model/visit.h"
#include "hosts/local/local_storage.h"
#include "hosts/runtime/am_process.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/cluster.h"
#include "hosts/runtime/machine_driver.h"
#include "hosts/runtime/staging.h"
#include "wire/channel_client.h"
#include "wire/identity.h"

namespace {

using namespace tfyarn;
using Clock = std::chrono::steady_clock;

const ApplicationAttemptId kAttempt{
    .application = {.cluster_timestamp = 1'700'000'000'000, .id = 7}, .attempt = 1};
constexpr auto kGiveUp = std::chrono::minutes(5);
/// A reply that takes longer comes after the agent's next heartbeat.
constexpr double kLateMs = 1000;

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
  /// Few enough: the reader finds all of it or nothing.
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
  void PutText(const std::string& text) const {
    const std::size_t size = text.size();
    GiveBytes(&size, sizeof size);
    GiveBytes(text.data(), size);
  }
  [[nodiscard]] std::string TakeText() const {
    std::size_t size = 0;
    TakeBytes(&size, sizeof size);
    std::string text(size, ' ');
    TakeBytes(text.data(), size);
    return text;
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

  void GiveBytes(const void* bytes, std::size_t size) const {
    const auto* at = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t put = ::write(write_, at, size);
      TF_CHECK(put > 0);
      at += put;
      size -= static_cast<std::size_t>(put);
    }
  }

  int read_ = -1;
  int write_ = -1;
};

/// What a container is started with, on its way to the process of the agents.
void PutLaunch(const Pipe& pipe, const NodeId& node,
               const std::map<std::string, std::string>& environment, const std::string& identity) {
  std::string text;
  for (const auto& [name, value] : environment) text += fmt::format("{}={}\n", name, value);
  pipe.PutText(text);
  pipe.PutText(node.host);
  pipe.PutText(identity);
}

struct Launch {
  AgentLaunch agent;
  std::string host;
  wire::Identity identity;
};

Launch TakeLaunch(const Pipe& pipe) {
  std::map<std::string, std::string> environment;
  std::istringstream lines(pipe.TakeText());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    environment[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const std::string host = pipe.TakeText();
  return {.agent = AgentLaunchFrom(environment).value(),
          .host = host,
          .identity = wire::IdentityFromPem(pipe.TakeText()).value()};
}

std::shared_ptr<const JobSpec> JobOf(std::size_t workers) {
  auto job = std::make_shared<JobSpec>(*bench::WorkersJob(static_cast<std::int32_t>(workers)));
  job->deadlines.registration = 1h;
  return job;
}

// ---------------------------------------------------------------- the AM's process

/// Grants at once, and tells the other process of the first `agents` containers that are started.
class InstantCluster : public hosts::Cluster {
 public:
  InstantCluster(boost::asio::io_context& loop, bench::RmService rm, std::size_t agents,
                 const Pipe& launches)
      : loop_(loop), rm_(std::move(rm)), left_(agents), launches_(launches) {}

  void CallRm(yarn::RmRequest request, RmAnswer answer) override {
    boost::asio::post(loop_, [response = rm_(hosts::Now(), request), answer = std::move(answer)] {
      answer(response);
    });
  }
  void CallNm(const NodeId& node, const yarn::Token&, yarn::NmRequest request, Secrets secrets,
              NmAnswer answer) override {
    const auto* start = std::get_if<yarn::StartContainersRequest>(&request);
    TF_CHECK(start != nullptr);  // Nothing ends here, so nothing is stopped.
    yarn::StartContainersResponse response;
    for (const yarn::StartContainerRequest& one : start->containers) {
      response.succeeded.push_back(one.container);
      if (left_ == 0) continue;
      --left_;
      PutLaunch(launches_, node, one.context.environment, secrets.at(one.container));
    }
    boost::asio::post(
        loop_, [response = std::move(response), answer = std::move(answer)] { answer(response); });
  }

 private:
  boost::asio::io_context& loop_;
  bench::RmService rm_;
  std::size_t left_;
  const Pipe& launches_;
};

class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "channel_bench.XXXXXX";
    TF_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Master {
 public:
  /// A job of `workers` on `nodes`, of which the first `agents` are started.
  Master(std::size_t workers, std::int32_t nodes, std::size_t agents, const Pipe& launches)
      : storage_(io_, scratch_.path(), ""),
        cluster_(io_, bench::ImmediateRm(kAttempt, nodes), agents, launches),
        process_(
            JobOf(workers),
            {.container = {.application_attempt = kAttempt, .id = 1},
             .host = "127.0.0.1",
             .listen_on = "127.0.0.1",
             .am = {.staging_directory = "/staging", .nodes_may_come = false},
             .seed = 1,
             .version = "bench",
             .recording = scratch_.path() + "/am.record"},
            {.loop = io_,
             .cluster = cluster_,
             .storage = storage_,
             .exit = [](std::int32_t) { CheckFailed(__FILE__, __LINE__, "the AM ended"); },
             .note =
                 [](const std::string& text) { std::fprintf(stderr, "AM: %s\n", text.c_str()); }}) {
    const std::string facts = ToBytes(hosts::StagedFacts{
        .facts = {.nodes = bench::NodeReports(nodes, 0)}, .surveyed = hosts::WallNow()});
    const auto stored =
        storage_.Carry(hdfs::CreateRequest{.path = "/staging/" + std::string(hosts::kFactsFile),
                                           .bytes = facts,
                                           .size = static_cast<std::int64_t>(facts.size())});
    TF_CHECK(std::holds_alternative<hdfs::FileStatus>(stored));
    process_.Start();
  }
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
  boost::asio::io_context io_{1};
  Scratch scratch_;
  hosts::LocalStorage storage_;
  InstantCluster cluster_;
  hosts::AmProcess process_;
};

// ---------------------------------------------------------------- the agents' process

/// When which heartbeat was sent and answered. An agent's messages and the AM's answers keep their
/// order on a connection, so each answer is that of the oldest heartbeat without one.
class ReplyTimes {
 public:
  explicit ReplyTimes(std::size_t agents) : sent_(agents) {}

  /// Heartbeats from here on count; each of so many seconds is a sample.
  void Start(int seconds) {
    samples_.resize(static_cast<std::size_t>(seconds));
    start_ = Clock::now();
    counting_ = true;
  }
  /// Those from here on do not count any more; the others' answers do.
  void Stop() { counting_ = false; }
  void Sent(std::size_t agent) {
    sent_[agent].push_back({Clock::now(), counting_});
    if (counting_) ++awaited_;
  }
  void Answered(std::size_t agent) {
    if (sent_[agent].empty()) return;
    const auto [when, counts] = sent_[agent].front();
    sent_[agent].pop_front();
    if (!counts) return;
    --awaited_;
    const double at = std::chrono::duration<double>(when - start_).count();
    const std::size_t second = std::min(static_cast<std::size_t>(at), samples_.size() - 1);
    samples_[second].push_back(SecondsSince(when) * 1e3);
  }
  /// Its connection broke: what was on the way is not answered.
  void Lost(std::size_t agent) {
    for (const auto& [when, counts] : sent_[agent]) {
      if (!counts) continue;
      --awaited_;
      ++never_;
    }
    sent_[agent].clear();
  }
  [[nodiscard]] std::size_t awaited() const { return awaited_; }
  /// By second: how many, p50, p99 in ms; then how many answers came late and how many never.
  [[nodiscard]] std::vector<double> Summary() {
    std::vector<double> summary;
    std::size_t late = 0;
    for (std::vector<double>& sample : samples_) {
      std::sort(sample.begin(), sample.end());
      late += static_cast<std::size_t>(sample.end() -
                                       std::upper_bound(sample.begin(), sample.end(), kLateMs));
      TF_CHECK(!sample.empty());
      summary.insert(summary.end(), {static_cast<double>(sample.size()), sample[sample.size() / 2],
                                     sample[sample.size() * 99 / 100]});
    }
    summary.insert(summary.end(),
                   {static_cast<double>(late), static_cast<double>(never_ + awaited_)});
    return summary;
  }

 private:
  struct Beat {
    Clock::time_point when;
    bool counts = false;
  };
  Clock::time_point start_;
  bool counting_ = false;
  std::vector<std::deque<Beat>> sent_;  // by agent: not answered yet
  std::vector<std::vector<double>> samples_;
  std::size_t awaited_ = 0;
  std::size_t never_ = 0;
};

/// All agents: the production machine and channel of each. Ports and processes are not real.
class Load {
 public:
  Load(std::vector<Launch> launches, std::shared_ptr<const JobSpec> job)
      : job_(std::move(job)), launches_(std::move(launches)), replies_(launches_.size()) {}

  /// At most `at_once` that the AM has not accepted yet.
  void StartAll(std::size_t at_once) {
    agents_.resize(launches_.size());
    std::size_t begun = 0;
    while (accepted_ < launches_.size()) {
      for (; begun < launches_.size() && begun - accepted_ < at_once; ++begun) Start(begun);
      Run();
    }
  }
  void AwaitSpecs() {
    while (spawned_ < launches_.size()) Run();
  }
  void RunFor(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
      io_.run_one_until(end);
      io_.restart();
    }
  }
  [[nodiscard]] ReplyTimes& replies() { return replies_; }
  [[nodiscard]] double lost() const { return static_cast<double>(lost_); }
  [[nodiscard]] double megabytes() const {
    std::uint64_t bytes = 0;
    for (const auto& agent : agents_) {
      const wire::ClientCounters counters = agent->channel->counters();
      bytes += counters.bytes_in + counters.bytes_out;
    }
    return static_cast<double>(bytes) / 1e6;
  }

 private:
  using Driver = hosts::MachineDriver<agent::TaskAgent, AgentEvent, AgentAction>;
  struct Agent {
    std::unique_ptr<agent::TaskAgent> machine;
    std::unique_ptr<wire::ChannelClient> channel;
    std::unique_ptr<Driver> driver;
  };

  void Run() {
    TF_CHECK(Clock::now() - created_ < kGiveUp);
    io_.run_one_for(std::chrono::seconds(1));
    io_.restart();
  }

  void Start(std::size_t i) {
    const Launch& launch = launches_[i];
    const AgentFence& fence = launch.agent.fence;
    auto agent = std::make_unique<Agent>();
    agent->machine = std::make_unique<agent::TaskAgent>(job_, i);
    agent->channel = std::make_unique<wire::ChannelClient>(
        io_, wire::ClientOptions{}, launch.identity,
        fence.container.application_attempt.application, fence.container,
        wire::ClientHandlers{
            .on_message = [this, i](AmToAgent message,
                                    std::int32_t am_attempt) { Take(i, message, am_attempt); },
            .on_lost =
                [this, i](wire::ChannelEnd why, const std::string& detail) {
                  replies_.Lost(i);
                  if (lost_++ == 0) {
                    std::fprintf(stderr, "lost: %s: %s\n", std::string(EnumeratorName(why)).c_str(),
                                 detail.c_str());
                  }
                }});
    agent->driver = std::make_unique<Driver>(
        io_, *agent->machine,
        Driver::Handlers{.told = [](Instant, const AgentEvent&) {},
                         .ordered = [](Instant, const AgentAction&) {},
                         .carry_out = [this, i](AgentAction& action) { CarryOut(i, action); }});
    agents_[i] = std::move(agent);
    agents_[i]->driver->Tell(AgentStarted{.fence = fence,
                                          .am_attempt = launch.agent.am_attempt,
                                          .am_address = launch.agent.am_address,
                                          .host = launch.host});
  }

  void Take(std::size_t i, const AmToAgent& message, std::int32_t am_attempt) {
    if (std::holds_alternative<AgentAccepted>(message)) ++accepted_;
    if (std::holds_alternative<HeartbeatSeen>(message)) replies_.Answered(i);
    agents_[i]->driver->Tell(AmSaid{.message = message, .am_attempt = am_attempt});
  }

  void CarryOut(std::size_t i, AgentAction& action) {
    Agent& agent = *agents_[i];
    std::visit(
        Overloaded{[&](LeasePort&) {
                     agent.driver->Tell(
                         PortLeased{.port = static_cast<std::int32_t>(32768 + i % 28000)});
                   },
                   [&](SendToAm& send) {
                     if (std::holds_alternative<AgentHeartbeat>(send.message)) replies_.Sent(i);
                     agent.channel->Send(send.am_address, send.am_attempt, send.message);
                   },
                   [&](SpawnProcess& spawn) {
                     ++spawned_;
                     agent.driver->Tell(ProcessSpawned{.attempt = spawn.process.attempt});
                   },
                   [&](ReadAmAddress&) { agent.driver->Tell(AmAddressRead{}); },
                   [](ExitAgent& exit) { CheckFailed(__FILE__, __LINE__, exit.reason.c_str()); },
                   Ignore<SignalProcess, DumpStacks, Note>{}},
        action);
  }

  boost::asio::io_context io_{1};
  std::shared_ptr<const JobSpec> job_;
  std::vector<Launch> launches_;
  ReplyTimes replies_;
  std::vector<std::unique_ptr<Agent>> agents_;
  Clock::time_point created_ = Clock::now();
  std::size_t accepted_ = 0;
  std::size_t spawned_ = 0;
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

std::vector<Launch> TakeLaunches(const Pipe& pipe, std::size_t agents) {
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < agents; ++i) launches.push_back(TakeLaunch(pipe));
  return launches;
}

void MeasureHeartbeats(std::size_t agents, int seconds) {
  const Pipe launches;
  const Pipe words;
  std::vector<double> shares;
  std::vector<double> summary;
  WithLoad(
      [&] {
        Load load(TakeLaunches(launches, agents), JobOf(agents + 1));
        load.StartAll(200);
        load.RunFor(std::chrono::seconds(2));
        load.replies().Start(seconds);
        for (int i = 0; i < seconds; ++i) {
          words.Put({});
          load.RunFor(std::chrono::seconds(1));
        }
        words.Put({});
        load.replies().Stop();
        for (int i = 0; i < 20 && load.replies().awaited() > 0; ++i)
          load.RunFor(std::chrono::milliseconds(500));
        if (load.lost() > 0) std::fprintf(stderr, "%g connections were lost\n", load.lost());
        for (const double value : load.replies().Summary()) words.Put({value});
      },
      [&] {
        Master master(agents + 1, static_cast<std::int32_t>(agents), agents, launches);
        master.ServeUntilWord(words);
        (void)words.Take();
        for (int i = 0; i < seconds; ++i) {
          const double cpu = bench::CpuNanoseconds();
          const auto start = Clock::now();
          master.ServeUntilWord(words);
          (void)words.Take();
          shares.push_back((bench::CpuNanoseconds() - cpu) / 1e7 / SecondsSince(start));
        }
        for (int i = 0; i < 3 * seconds + 2; ++i) {
          master.ServeUntilWord(words);
          summary.push_back(words.Take().at(0));
        }
      });
  std::vector<double> count;
  std::vector<double> p50;
  std::vector<double> p99;
  for (std::size_t i = 0; i + 2 < summary.size(); i += 3) {
    count.push_back(summary[i]);
    p50.push_back(summary[i + 1]);
    p99.push_back(summary[i + 2]);
  }
  const std::string name = std::to_string(agents) + " agents beat at 1 Hz";
  bench::PrintResult(name, "AM, of one core", "%", shares);
  bench::PrintResult(name, "answered heartbeats of a second", "replies", count);
  bench::PrintResult(name, "reply, p50", "ms", p50);
  bench::PrintResult(name, "reply, p99", "ms", p99);
  bench::PrintResult(name, "late: after more than 1 s", "replies", {summary[summary.size() - 2]});
  bench::PrintResult(name, "never answered", "replies", {summary.back()});
  launches.Close();
  words.Close();
}

void MeasureStart(std::size_t agents, std::size_t per_host, int repeats) {
  std::vector<double> seconds;
  std::vector<double> megabytes;
  std::vector<double> cpu;
  for (int i = 0; i < repeats; ++i) {
    const Pipe launches;
    const Pipe words;
    WithLoad(
        [&] {
          Load load(TakeLaunches(launches, agents), JobOf(agents));
          words.Put({});
          const auto start = Clock::now();
          load.StartAll(agents);
          load.AwaitSpecs();
          words.Put({SecondsSince(start), load.megabytes()});
        },
        [&] {
          const std::size_t hosts = (agents + per_host - 1) / per_host;
          Master master(agents, static_cast<std::int32_t>(hosts), agents, launches);
          master.ServeUntilWord(words);
          (void)words.Take();
          const double before = bench::CpuNanoseconds();
          master.ServeUntilWord(words);
          cpu.push_back((bench::CpuNanoseconds() - before) / 1e9);
          const std::vector<double> measured = words.Take();
          seconds.push_back(measured.at(0));
          megabytes.push_back(measured.at(1));
        });
    launches.Close();
    words.Close();
  }
  const std::string name = std::to_string(agents) + " agents register and get the spec, " +
                           std::to_string(per_host) + " per host";
  bench::PrintResult(name, "until all hold it", "s", seconds);
  bench::PrintResult(name, "AM, CPU", "s", cpu);
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
  MeasureHeartbeats(agents, repeats);
  for (const std::size_t per_host : {std::size_t{1}, std::size_t{8}})
    MeasureStart(std::min<std::size_t>(agents, 1000), per_host, repeats);
}
