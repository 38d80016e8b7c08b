#include "config/hadoop_keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tfyarn::config {
namespace {

using enum HadoopKind;

constexpr HadoopKey Unset(std::string_view name, HadoopKind kind = kText) {
  return {.name = name, .kind = kind};
}
constexpr HadoopKey Key(std::string_view name, HadoopKind kind, std::string_view fallback) {
  return {.name = name, .kind = kind, .has_default = true, .fallback = fallback};
}

constexpr auto kKeys = std::to_array<HadoopKey>({
    Key("dfs.block.access.token.enable", kBoolean, "false"),
    Key("dfs.blocksize", kBytes, "134217728"),
    Key("dfs.client.failover.max.attempts", kWhole, "15"),
    Key("dfs.client.failover.sleep.base.millis", kMilliseconds, "500"),
    Key("dfs.client.failover.sleep.max.millis", kMilliseconds, "15000"),
    Key("dfs.client.retry.max.attempts", kWhole, "10"),
    Key("dfs.client.socket-timeout", kMilliseconds, "60000"),
    Key("dfs.client.use.datanode.hostname", kBoolean, "false"),
    Unset("dfs.data.transfer.protection"),
    Key("dfs.encrypt.data.transfer", kBoolean, "false"),
    Unset("dfs.ha.namenodes", kList),
    Key("dfs.http.policy", kText, "HTTP_ONLY"),
    Key("dfs.namenode.http-address", kText, "0.0.0.0:9870"),
    Key("dfs.namenode.https-address", kText, "0.0.0.0:9871"),
    Unset("dfs.namenode.kerberos.principal"),
    Key("dfs.namenode.kerberos.principal.pattern", kText, "*"),
    Unset("dfs.namenode.rpc-address"),
    Unset("dfs.nameservices", kList),
    Key("dfs.replication", kWhole, "3"),
    Key("fs.defaultFS", kText, "file:///"),
    Key("fs.permissions.umask-mode", kText, "022"),
    Key("hadoop.http.authentication.type", kText, "simple"),
    Key("hadoop.rpc.protection", kList, "authentication"),
    Unset("hadoop.security.auth_to_local"),
    Key("hadoop.security.authentication", kText, "simple"),
    Key("hadoop.security.token.service.use_ip", kBoolean, "true"),
    Key("hadoop.tmp.dir", kText, "/tmp/hadoop-${user.name}"),
    Unset("hadoop.token.files", kList),
    Key("ipc.client.connect.max.retries", kWhole, "10"),
    Key("ipc.client.connect.max.retries.on.timeouts", kWhole, "45"),
    Key("ipc.client.connect.retry.interval", kMilliseconds, "1000"),
    Key("ipc.client.connect.timeout", kMilliseconds, "20000"),
    Key("ipc.client.connection.maxidletime", kMilliseconds, "10000"),
    Key("ipc.client.fallback-to-simple-auth-allowed", kBoolean, "false"),
    Key("ipc.client.rpc-timeout.ms", kMilliseconds, "120000"),
    Key("ipc.maximum.data.length", kWhole, "134217728"),
    Key("ipc.maximum.response.length", kWhole, "134217728"),
    Key("ipc.ping.interval", kMilliseconds, "60000"),
    Key("tfyarn.runtime.dir", kText, ""),
    Key("yarn.am.liveness-monitor.expiry-interval-ms", kMilliseconds, "900000"),
    Unset("yarn.application.classpath", kList),
    Key("yarn.client.application-client-protocol.poll-interval-ms", kMilliseconds, "200"),
    Unset("yarn.client.failover-max-attempts", kWhole),
    Unset("yarn.client.failover-sleep-base-ms", kMilliseconds),
    Unset("yarn.client.failover-sleep-max-ms", kMilliseconds),
    Key("yarn.client.nodemanager-connect.max-wait-ms", kMilliseconds, "180000"),
    Key("yarn.client.nodemanager-connect.retry-interval-ms", kMilliseconds, "10000"),
    Key("yarn.http.policy", kText, "HTTP_ONLY"),
    Key("yarn.log-aggregation-enable", kBoolean, "false"),
    Unset("yarn.log.server.url"),
    Key("yarn.nodemanager.hostname", kText, "0.0.0.0"),
    Key("yarn.nodemanager.remote-app-log-dir", kText, "/tmp/logs"),
    Key("yarn.nodemanager.remote-app-log-dir-suffix", kText, "logs"),
    Key("yarn.nodemanager.vmem-check-enabled", kBoolean, "true"),
    Key("yarn.nodemanager.webapp.address", kText, "${yarn.nodemanager.hostname}:8042"),
    Key("yarn.nodemanager.webapp.https.address", kText, "0.0.0.0:8044"),
    Unset("yarn.resource-types", kList),
    Key("yarn.resourcemanager.address", kText, "${yarn.resourcemanager.hostname}:8032"),
    Key("yarn.resourcemanager.am.max-attempts", kWhole, "2"),
    Unset("yarn.resourcemanager.cluster-id"),
    Key("yarn.resourcemanager.connect.max-wait.ms", kMilliseconds, "900000"),
    Key("yarn.resourcemanager.connect.retry-interval.ms", kMilliseconds, "30000"),
    Key("yarn.resourcemanager.ha.enabled", kBoolean, "false"),
    Unset("yarn.resourcemanager.ha.rm-ids", kList),
    Key("yarn.resourcemanager.hostname", kText, "0.0.0.0"),
    Unset("yarn.resourcemanager.principal"),
    Key("yarn.resourcemanager.scheduler.address", kText, "${yarn.resourcemanager.hostname}:8030"),
    Key("yarn.resourcemanager.webapp.address", kText, "${yarn.resourcemanager.hostname}:8088"),
    Key("yarn.resourcemanager.webapp.https.address", kText,
        "${yarn.resourcemanager.hostname}:8090"),
    Key("yarn.scheduler.maximum-allocation-mb", kWhole, "8192"),
    Key("yarn.scheduler.minimum-allocation-mb", kWhole, "1024"),
    Unset("yarn.web-proxy.address"),
});

constexpr auto kOldNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"dfs.block.size", "dfs.blocksize"},
    {"dfs.federation.nameservices", "dfs.nameservices"},
    {"dfs.http.address", "dfs.namenode.http-address"},
    {"dfs.https.address", "dfs.namenode.https-address"},
    {"dfs.socket.timeout", "dfs.client.socket-timeout"},
    {"dfs.umaskmode", "fs.permissions.umask-mode"},
    {"fs.default.name", "fs.defaultFS"},
});

constexpr bool ByName(const HadoopKey& key, std::string_view name) {
  return key.name < name;
}

static_assert(std::is_sorted(kKeys.begin(), kKeys.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

}  // namespace

std::span<const HadoopKey> HadoopKeys() {
  return kKeys;
}

const HadoopKey* FindHadoopKey(std::string_view name) {
  const auto* found = std::lower_bound(kKeys.begin(), kKeys.end(), name, ByName);
  return found != kKeys.end() && found->name == name ? found : nullptr;
}

std::string_view CurrentHadoopName(std::string_view name) {
  for (const auto& [old, current] : kOldNames) {
    if (old == name) return current;
  }
  return name;
}

}  // namespace tfyarn::config
