#include "tests/fake_hadoop/fake_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "fakes/hdfs/file_paths.h"
#include "fakes/server/quick_rm.h"
#include "fakes/server/wall_clock.h"
#include "tests/fake_hadoop/sites.h"

namespace tfyarn::fakes {
namespace {

constexpr char kHost[] = "127.0.0.1";
constexpr Duration kBeat = 100ms;

tl::unexpected<Error> Bad(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

YarnServerOptions YarnOptions(const FakeClusterOptions& options, const NameNode& files) {
  YarnServerOptions yarn{.folder = options.folder,
                         .hdfs = &files,
                         .environment = options.environment,
                         .kerberos = options.kerberos};
  yarn.rm = QuickRmOptions();
  yarn.rm.nm_expiry = options.node_expiry;
  yarn.rm.am_expiry = options.am_expiry;
  yarn.rm.am_max_attempts = 4;
  yarn.rm.preemption = options.preemption_notice > Duration{};
  yarn.rm.preemption_notice = options.preemption_notice;
  yarn.rm.preemption_interval = 500ms;
  yarn.rm.maximum_allocation = {.memory_mb = options.node_memory_mb, .vcores = options.node_vcores};
  yarn.rm.resource_types = {"yarn.io/gpu"};
  for (int i = 0; i < options.nodes; ++i) {
    const auto given = std::min<std::size_t>(static_cast<std::size_t>(i), options.gpus.size() - 1);
    yarn.nodes.push_back({.node = {.host = fmt::format("127.0.0.{}", 11 + i), .port = 0},
                          .rack = i % 2 == 0 ? "/rack1" : "/rack2",
                          .capacity = {.memory_mb = options.node_memory_mb,
                                       .vcores = options.node_vcores,
                                       .gpus = options.gpus.empty() ? 0 : options.gpus[given]},
                          .heartbeat = kBeat,
                          .heartbeat_phase = kBeat * i / options.nodes,
                          .sigkill_delay = 1s,
                          .register_retry = kBeat});
  }
  return yarn;
}

std::optional<std::int64_t> Number(const std::string& text) {
  std::int64_t number = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc{} || stop != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// Of a day at most.
Expected<Duration> Seconds(const std::string& text) {
  constexpr std::int64_t kDay = 86'400;
  const auto number = Number(text);
  if (number && *number >= 0 && *number <= kDay) return std::chrono::seconds(*number);
  return Bad(fmt::format("'{}' is no number of seconds from 0 to {}", text, kDay));
}

Expected<std::string> Path(const std::string& text) {
  if (IsValidPath(text)) return text;
  return Bad(fmt::format("'{}' is no path in HDFS: those look like /user/alice", text));
}

}  // namespace

FakeCluster::FakeCluster(boost::asio::io_context& io, FakeClusterOptions options)
    : io_(io),
      options_(std::move(options)),
      files_({.replicas = 1, .superuser = options_.user}),
      hdfs_(io, kHost, files_, [this](const ServedCall& call) { return rules_.Judge(call); }),
      yarn_(io, YarnOptions(options_, files_)) {
  if (options_.kerberos) hdfs_.DemandKerberos();
  yarn_.SetFate([this](const ServedCall& call) { return rules_.Judge(call); });
}

Expected<void> FakeCluster::Start() {
  if (auto opened = hdfs_.Open(); !opened) return opened;
  if (auto started = yarn_.Start(); !started) return started;
  return WriteSites(
      conf(),
      {.rm = yarn_.client_address(), .scheduler = yarn_.master_address(), .hdfs = hdfs_address()});
}

std::string FakeCluster::hdfs_address() const {
  return ToString(HostPort{.host = kHost, .port = hdfs_.port()});
}

// ---------------------------------------------------------------- orders

const std::vector<FakeCluster::Order>& FakeCluster::Orders() {
  static const std::vector<Order> kOrders = {
      {"kill PART", "kill -9 of rm, hdfs or nm1, nm2, ...; containers run on", &FakeCluster::Kill},
      {"start PART", "starts it again with what it had stored", &FakeCluster::Begin},
      {"away PART SECONDS", "both, one after the other", &FakeCluster::Away},
      {"drop-calls CALL N", "the next N calls of that name are lost: allocate, APPEND, ...",
       &FakeCluster::DropCalls},
      {"drop-answers CALL N", "they are carried out, and their answers are lost",
       &FakeCluster::DropAnswers},
      {"delay CALL N SECONDS", "their answers come later", &FakeCluster::Delay},
      {"rules", "what is left of these", &FakeCluster::Rules},
      {"clear", "ends them all", &FakeCluster::Clear},
      {"advance SECONDS", "the clocks of YARN's daemons go ahead", &FakeCluster::Advance},
      {"expire-am", "running AMs are heard no more, and time passes until they are missed",
       &FakeCluster::ExpireAm},
      {"expire-node PART", "a NodeManager is away until it is missed", &FakeCluster::ExpireNode},
      {"stop-queue NAME", "it takes no application", &FakeCluster::StopQueue},
      {"start-queue NAME", "it does again", &FakeCluster::StartQueue},
      {"deny-queue NAME", "no user may submit to it", &FakeCluster::DenyQueue},
      {"allow-queue NAME", "they may again", &FakeCluster::AllowQueue},
      {"full PATH", "no byte more fits into that directory of HDFS", &FakeCluster::Full},
      {"quota PATH MIB", "no more than that fits into it, all replicas counted",
       &FakeCluster::Quota},
      {"room PATH", "there is room again", &FakeCluster::Room},
      {"deny PATH", "no user may do anything there", &FakeCluster::Deny},
      {"allow PATH", "they may again", &FakeCluster::Allow},
      {"safe-mode on|off", "HDFS can be read only", &FakeCluster::SafeMode},
      {"nodes", "what the ResourceManager has of nodes", &FakeCluster::Nodes},
  };
  return kOrders;
}

std::string FakeCluster::Help() {
  std::string text;
  for (const Order& order : Orders()) text += fmt::format("{:22}  {}\n", order.form, order.what);
  return text + fmt::format("{:22}  {}\n", "quit", "ends the cluster and everything on it");
}

Expected<std::string> FakeCluster::Do(const std::string& line) {
  Words words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(std::move(word));
  if (words.empty()) return "";
  for (const Order& order : Orders()) {
    if (order.form.substr(0, order.form.find(' ')) != words[0]) continue;
    const auto wanted = std::count(order.form.begin(), order.form.end(), ' ') + 1;
    if (static_cast<std::ptrdiff_t>(words.size()) != wanted)
      return Bad(fmt::format("'{}' is not {}", line, order.form));
    return (this->*order.run)(words);
  }
  std::string names;
  for (const Order& order : Orders())
    names += (names.empty() ? "" : ", ") + order.form.substr(0, order.form.find(' '));
  return Bad(fmt::format("'{}' is no order; there are {}", words[0], names));
}

Expected<std::size_t> FakeCluster::NodeIn(const std::string& name) const {
  const auto number = name.starts_with("nm") ? Number(name.substr(2)) : std::nullopt;
  if (number && *number >= 1 && *number <= options_.nodes)
    return static_cast<std::size_t>(*number - 1);
  return Bad(
      fmt::format("'{}' is no part of this cluster: rm, hdfs, nm1 to nm{}", name, options_.nodes));
}

FakeCluster::Said FakeCluster::Kill(const Words& words) {
  if (words[1] == "rm") {
    yarn_.StopRm();
  } else if (words[1] == "hdfs") {
    files_.set_down(true);
    hdfs_.Close();
  } else {
    const auto node = NodeIn(words[1]);
    if (!node) return tl::unexpected<Error>(node.error());
    yarn_.StopNode(*node);
  }
  return "";
}

FakeCluster::Said FakeCluster::Begin(const Words& words) {
  Expected<void> started;
  if (words[1] == "rm") {
    started = yarn_.StartRm();
  } else if (words[1] == "hdfs") {
    if (files_.down()) started = hdfs_.Open();
    files_.set_down(false);
  } else {
    const auto node = NodeIn(words[1]);
    if (!node) return tl::unexpected<Error>(node.error());
    started = yarn_.StartNode(*node);
  }
  if (!started) return tl::unexpected<Error>(started.error());
  return "";
}

FakeCluster::Said FakeCluster::Away(const Words& words) {
  const auto time = Seconds(words[2]);
  if (!time) return tl::unexpected<Error>(time.error());
  if (auto killed = Kill(words); !killed) return killed;
  boost::asio::steady_timer& timer = away_.try_emplace(words[1], io_).first->second;
  timer.expires_after(*time);
  timer.async_wait([this, words](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    if (const auto begun = Begin(words); !begun)
      fmt::print(stderr, "{} stays away: {}\n", words[1], begun.error().message);
  });
  return "";
}

FakeCluster::Said FakeCluster::AddRule(const std::string& name, const std::string& count,
                                       CallFate fate) {
  const auto number = Number(count);
  if (!number || *number < 1) return Bad(fmt::format("'{}' is no number of calls", count));
  rules_.Add({.name = name, .left = *number, .fate = fate});
  return "";
}

FakeCluster::Said FakeCluster::DropCalls(const Words& words) {
  return AddRule(words[1], words[2], {.take_in = false});
}

FakeCluster::Said FakeCluster::DropAnswers(const Words& words) {
  return AddRule(words[1], words[2], {.answer = false});
}

FakeCluster::Said FakeCluster::Delay(const Words& words) {
  const auto time = Seconds(words[3]);
  if (!time) return tl::unexpected<Error>(time.error());
  return AddRule(words[1], words[2], {.answer_after = *time});
}

FakeCluster::Said FakeCluster::Rules(const Words&) {
  std::string text;
  for (const FaultRule& rule : rules_.rules()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        rule.attempt ? ToString(*rule.attempt) : rule.name,
                        rule.left < 0 ? "all" : std::to_string(rule.left));
  }
  return text;
}

FakeCluster::Said FakeCluster::Clear(const Words&) {
  rules_.Clear();
  return "";
}

FakeCluster::Said FakeCluster::Advance(const Words& words) {
  const auto time = Seconds(words[1]);
  if (!time) return tl::unexpected<Error>(time.error());
  yarn_.Advance(*time);
  return "";
}

FakeCluster::Said FakeCluster::ExpireAm(const Words&) {
  for (const ApplicationAttemptId& attempt : yarn_.Attempts())
    rules_.Add({.attempt = attempt, .left = -1, .fate = {.take_in = false}});
  yarn_.Advance(options_.am_expiry + 1s);
  return "";
}

FakeCluster::Said FakeCluster::StopQueue(const Words& words) {
  yarn_.SetStopped(words[1], true);
  return "";
}

FakeCluster::Said FakeCluster::DenyQueue(const Words& words) {
  yarn_.SetDenied(words[1], true);
  return "";
}

FakeCluster::Said FakeCluster::AllowQueue(const Words& words) {
  yarn_.SetDenied(words[1], false);
  return "";
}

FakeCluster::Said FakeCluster::StartQueue(const Words& words) {
  yarn_.SetStopped(words[1], false);
  return "";
}

FakeCluster::Said FakeCluster::ExpireNode(const Words& words) {
  const auto node = NodeIn(words[1]);
  if (!node) return tl::unexpected<Error>(node.error());
  yarn_.StopNode(*node);
  yarn_.Advance(options_.node_expiry + 1s);
  return Begin(words);
}

/// Made where it is not there, as a quota is of a directory.
Expected<std::string> FakeCluster::Directory(const std::string& text) {
  auto path = Path(text);
  if (!path) return path;
  const auto made = files_.MkdirsFor(WallNow(), options_.user, *path, 0755);
  if (!made) return Bad(fmt::format("{} can have no quota: {}", text, made.error().message));
  return path;
}

FakeCluster::Said FakeCluster::Full(const Words& words) {
  const auto path = Directory(words[1]);
  if (!path) return path;
  files_.SetQuota(*path, 0);
  return "";
}

FakeCluster::Said FakeCluster::Quota(const Words& words) {
  constexpr std::int64_t kMostMib = 1 << 20;
  const auto mib = Number(words[2]);
  if (!mib || *mib < 0 || *mib > kMostMib)
    return Bad(fmt::format("'{}' is no number of MiB from 0 to {}", words[2], kMostMib));
  const auto path = Directory(words[1]);
  if (!path) return path;
  files_.SetQuota(*path, *mib << 20);
  return "";
}

FakeCluster::Said FakeCluster::Room(const Words& words) {
  const auto path = Directory(words[1]);
  if (!path) return path;
  files_.SetQuota(*path, std::nullopt);
  return "";
}

FakeCluster::Said FakeCluster::Deny(const Words& words) {
  const auto path = Path(words[1]);
  if (!path) return path;
  files_.SetAccess(*path, false);
  return "";
}

FakeCluster::Said FakeCluster::Allow(const Words& words) {
  const auto path = Path(words[1]);
  if (!path) return path;
  files_.SetAccess(*path, true);
  return "";
}

FakeCluster::Said FakeCluster::SafeMode(const Words& words) {
  if (words[1] != "on" && words[1] != "off")
    return Bad(fmt::format("'{}' is neither on nor off", words[1]));
  files_.set_safe_mode(words[1] == "on");
  return "";
}

FakeCluster::Said FakeCluster::Nodes(const Words&) {
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.nodes); ++i) {
    text += fmt::format("{}nm{} {} {}", text.empty() ? "" : ", ", i + 1, ToString(yarn_.node(i)),
                        yarn_.IsRunning(i) ? "running" : "not running");
  }
  return text;
}

}  // namespace tfyarn::fakes
