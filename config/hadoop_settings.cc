#include "config/hadoop_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "config/hadoop_values.h"

namespace tfyarn::config {
namespace {

constexpr std::int32_t kRmPort = 8032;
constexpr std::int32_t kRmSchedulerPort = 8030;
constexpr std::int32_t kRmWebPort = 8088;
constexpr std::int32_t kRmWebHttpsPort = 8090;
constexpr std::int32_t kNmWebPort = 8042;
constexpr std::int32_t kNmWebHttpsPort = 8044;
constexpr std::int32_t kNameNodePort = 8020;
constexpr std::int32_t kNameNodeWebPort = 9870;
constexpr std::int32_t kNameNodeWebHttpsPort = 9871;

/// Reads the settings and keeps all that is wrong.
class Reader {
 public:
  explicit Reader(const HadoopConfiguration& configuration) : from_(configuration) {}

  HadoopSettings Read() {
    const HadoopSurroundings& around = from_.surroundings();
    settings_.user = around.variable("HADOOP_USER_NAME").value_or("");
    if (settings_.user.empty()) settings_.user = around.user;
    settings_.kerberos =
        Take(from_.Choice("hadoop.security.authentication", {"simple", "kerberos"})) == "kerberos";
    Protection();
    settings_.yarn_https = Https("yarn.http.policy");
    settings_.hdfs_https = Https("dfs.http.policy");
    ResourceManagers();
    NameNodes();
    Files();
    Times();
    return std::move(settings_);
  }

  [[nodiscard]] std::vector<Finding> TakeFindings() { return std::move(findings_); }

 private:
  template <class T>
  T Take(HadoopConfiguration::Result<T> result) {
    if (result) return std::move(*result);
    findings_.push_back(std::move(result.error()));
    return T{};
  }

  void Complain(std::string_view key, std::string_view problem, std::vector<std::string> notes) {
    findings_.push_back(from_.Bad(key, problem, std::move(notes)));
  }

  bool Https(std::string_view key) {
    return Take(from_.Choice(key, {"http_only", "https_only", "http_and_https"})) == "https_only";
  }

  void Protection() {
    constexpr std::string_view kKey = "hadoop.rpc.protection";
    for (const std::string& name : Take(from_.List(kKey))) {
      const std::string lower = LowerCase(name);
      if (lower == "authentication") {
        settings_.rpc_protection.push_back(RpcProtection::kAuthentication);
      } else if (lower == "integrity") {
        settings_.rpc_protection.push_back(RpcProtection::kIntegrity);
      } else if (lower == "privacy") {
        settings_.rpc_protection.push_back(RpcProtection::kPrivacy);
      } else {
        Complain(kKey, "is not known here", {"allowed: authentication, integrity, privacy"});
      }
    }
    if (settings_.rpc_protection.empty()) {
      settings_.rpc_protection.push_back(RpcProtection::kAuthentication);
    }
  }

  HostPort Address(std::string_view key, std::int32_t default_port) {
    return AddressIn(key, Take(from_.Text(key)), default_port);
  }

  HostPort AddressIn(std::string_view key, const std::string& text, std::int32_t default_port) {
    auto address = ParseHadoopAddress(text, default_port);
    if (address) return std::move(*address);
    Complain(key, "is no address", {address.error().message});
    return {};
  }

  /// The port at which a daemon listens on each node: 0, any free one, is as good as another there.
  std::int32_t PortOf(std::string_view key, std::int32_t default_port) {
    const std::string text = Take(from_.Text(key));
    return text.ends_with(":0") ? 0 : AddressIn(key, text, default_port).port;
  }

  /// The address of one of several ResourceManagers: its own key, or its host and `port`.
  HostPort RmAddress(std::string_view key, const std::string& id, std::int32_t port) {
    if (id.empty()) return Address(key, port);
    const std::string own = fmt::format("{}.{}", key, id);
    const std::string text = Take(from_.Text(own));
    if (!text.empty()) return AddressIn(own, text, port);
    const std::string host_key = "yarn.resourcemanager.hostname." + id;
    const std::string host = Take(from_.Text(host_key));
    if (host.empty()) {
      Complain("yarn.resourcemanager.ha.rm-ids", "names a ResourceManager without address",
               {fmt::format("expected: {} or {}", host_key, own)});
      return {};
    }
    return {.host = host, .port = port};
  }

  void ResourceManagers() {
    std::vector<std::string> ids;
    if (Take(from_.Boolean("yarn.resourcemanager.ha.enabled"))) {
      constexpr std::string_view kIds = "yarn.resourcemanager.ha.rm-ids";
      ids = Take(from_.List(kIds));
      if (ids.empty()) Complain(kIds, "names no ResourceManager", {"expected: rm1,rm2"});
    } else {
      ids.emplace_back();
    }
    const bool https = settings_.yarn_https;
    const std::string web =
        https ? "yarn.resourcemanager.webapp.https.address" : "yarn.resourcemanager.webapp.address";
    for (const std::string& id : ids) {
      settings_.resource_managers.push_back(
          {.id = id,
           .client = RmAddress("yarn.resourcemanager.address", id, kRmPort),
           .scheduler = RmAddress("yarn.resourcemanager.scheduler.address", id, kRmSchedulerPort),
           .web = RmAddress(web, id, https ? kRmWebHttpsPort : kRmWebPort)});
    }
    settings_.node_manager_web_port =
        https ? PortOf("yarn.nodemanager.webapp.https.address", kNmWebHttpsPort)
              : PortOf("yarn.nodemanager.webapp.address", kNmWebPort);
    settings_.log_aggregation = Take(from_.Boolean("yarn.log-aggregation-enable"));
    settings_.log_directory = Take(from_.Text("yarn.nodemanager.remote-app-log-dir"));
    settings_.log_directory_suffix = Take(from_.Text("yarn.nodemanager.remote-app-log-dir-suffix"));
  }

  /// `suffix`: ".SERVICE.NAMENODE", ".SERVICE" or "".
  NameNodeAddresses NameNode(const std::string& id, const std::string& suffix, HostPort fallback) {
    NameNodeAddresses node{.id = id, .rpc = std::move(fallback)};
    const std::string rpc_key = "dfs.namenode.rpc-address" + suffix;
    const std::string rpc = Take(from_.Text(rpc_key));
    if (!rpc.empty()) {
      node.rpc = AddressIn(rpc_key, rpc, kNameNodePort);
    } else if (node.rpc.host.empty()) {
      Complain(rpc_key, "is no address",
               {"expected: HOST:PORT, as dfs.ha.namenodes names this NameNode"});
    }
    const bool https = settings_.hdfs_https;
    const std::int32_t port = https ? kNameNodeWebHttpsPort : kNameNodeWebPort;
    const std::string key = https ? "dfs.namenode.https-address" : "dfs.namenode.http-address";
    const std::string web = Take(from_.Text(key + suffix));
    node.web = web.empty() ? HostPort{.port = port} : AddressIn(key + suffix, web, port);
    // A server may listen everywhere; its clients need to know where that is.
    if (node.web.host.empty() || node.web.host == "0.0.0.0" || node.web.host == "::")
      node.web.host = node.rpc.host;
    return node;
  }

  void NameNodes() {
    constexpr std::string_view kKey = "fs.defaultFS";
    constexpr std::string_view kScheme = "hdfs://";
    const std::string uri = Take(from_.Text(kKey));
    std::string authority = uri.starts_with(kScheme) ? uri.substr(kScheme.size()) : "";
    authority.resize(std::min(authority.find('/'), authority.size()));
    if (authority.empty()) {
      return Complain(kKey, "is no file system for jobs",
                      {"expected: hdfs://HOST:PORT or hdfs://NAMESERVICE, in core-site.xml"});
    }
    settings_.hdfs.authority = authority;
    const auto services = Take(from_.List("dfs.nameservices"));
    const std::string suffix = "." + authority;
    if (std::find(services.begin(), services.end(), authority) == services.end()) {
      settings_.hdfs.name_nodes.push_back(
          NameNode("", "", AddressIn(kKey, authority, kNameNodePort)));
      // The address in the URI counts, whatever the NameNode itself may be told to listen at.
      settings_.hdfs.name_nodes.back().rpc = AddressIn(kKey, authority, kNameNodePort);
      return;
    }
    const auto ids = Take(from_.List("dfs.ha.namenodes" + suffix));
    if (ids.empty()) settings_.hdfs.name_nodes.push_back(NameNode("", suffix, {}));
    for (const std::string& id : ids) {
      settings_.hdfs.name_nodes.push_back(NameNode(id, suffix + "." + id, {}));
    }
  }

  void Files() {
    constexpr std::string_view kUmask = "fs.permissions.umask-mode";
    if (const auto umask = ParseUmask(Take(from_.Text(kUmask)))) {
      settings_.umask = *umask;
    } else {
      Complain(kUmask, "is no umask", {"allowed: 022, or what stays: u=rwx,g=rx,o=rx"});
    }
    constexpr std::string_view kRuntime = "tfyarn.runtime.dir";
    settings_.runtime_directory = Take(from_.Text(kRuntime));
    if (!settings_.runtime_directory.empty() && !settings_.runtime_directory.starts_with('/'))
      Complain(kRuntime, "is no absolute path of HDFS", {"for example: /apps/tfyarn"});
    settings_.replication = Take(from_.Whole("dfs.replication"));
    settings_.block_size = Take(from_.Bytes("dfs.blocksize"));
  }

  void Times() {
    HadoopSettings& s = settings_;
    s.resource_manager = {
        .longest = Take(from_.Time("yarn.resourcemanager.connect.max-wait.ms")),
        .pause = Take(from_.Time("yarn.resourcemanager.connect.retry-interval.ms"))};
    // -1 stands for "for ever".
    if (s.resource_manager.longest < Duration::zero()) s.resource_manager.longest = Duration::max();
    if (s.resource_managers.size() > 1) {
      s.resource_manager.pause =
          Take(from_.Time("yarn.client.failover-sleep-base-ms", s.resource_manager.pause));
    }
    s.node_manager = {
        .longest = Take(from_.Time("yarn.client.nodemanager-connect.max-wait-ms")),
        .pause = Take(from_.Time("yarn.client.nodemanager-connect.retry-interval-ms"))};
    s.name_node_failovers = Take(from_.Whole("dfs.client.failover.max.attempts"));
    s.name_node_pause_first = Take(from_.Time("dfs.client.failover.sleep.base.millis"));
    s.name_node_pause_most = Take(from_.Time("dfs.client.failover.sleep.max.millis"));
    s.connect_timeout = Take(from_.Time("ipc.client.connect.timeout"));
    s.rpc_timeout = Take(from_.Time("ipc.client.rpc-timeout.ms"));
    s.ping_interval = Take(from_.Time("ipc.ping.interval"));
    s.idle_connection = Take(from_.Time("ipc.client.connection.maxidletime"));
    s.data_timeout = Take(from_.Time("dfs.client.socket-timeout"));
    s.am_expiry = Take(from_.Time("yarn.am.liveness-monitor.expiry-interval-ms"));
  }

  const HadoopConfiguration& from_;
  HadoopSettings settings_;
  std::vector<Finding> findings_;
};

/// "rwx", in any order; nullopt: something else is among them.
std::optional<std::uint32_t> PermissionBits(std::string_view letters) {
  std::uint32_t bits = 0;
  for (const char c : letters) {
    if (c == 'r') {
      bits |= 4U;
    } else if (c == 'w') {
      bits |= 2U;
    } else if (c == 'x') {
      bits |= 1U;
    } else if (c != '-') {
      return std::nullopt;
    }
  }
  return bits;
}

}  // namespace

Expected<HostPort> ParseHadoopAddress(std::string_view text, std::int32_t default_port) {
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos)
    text.remove_prefix(scheme + 3);
  return ParseHostPort(text.substr(0, text.find('/')), default_port);
}

std::optional<std::uint32_t> ParseUmask(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.find('=') == std::string_view::npos) {
    std::uint32_t mask = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, mask, 8);
    if (failed != std::errc{} || stop != end || mask > 0777) return std::nullopt;
    return mask;
  }
  std::uint32_t stays = 0;
  for (const std::string& part : SplitHadoopList(text)) {
    const auto equals = part.find('=');
    const auto bits = PermissionBits(std::string_view(part).substr(
        std::min(equals == std::string::npos ? part.size() : equals + 1, part.size())));
    if (equals == std::string::npos || equals == 0 || !bits) return std::nullopt;
    for (const char who : part.substr(0, equals)) {
      if (who != 'u' && who != 'g' && who != 'o' && who != 'a') return std::nullopt;
      if (who == 'u' || who == 'a') stays = (stays & 0077U) | (*bits << 6U);
      if (who == 'g' || who == 'a') stays = (stays & 0707U) | (*bits << 3U);
      if (who == 'o' || who == 'a') stays = (stays & 0770U) | *bits;
    }
  }
  return 0777U & ~stays;
}

tl::expected<HadoopSettings, Diagnostics> ReadHadoopSettings(
    const HadoopConfiguration& configuration) {
  Reader reader(configuration);
  HadoopSettings settings = reader.Read();
  auto findings = reader.TakeFindings();
  if (!findings.empty()) return tl::unexpected(configuration.Finish(std::move(findings)));
  return settings;
}

}  // namespace tfyarn::config
