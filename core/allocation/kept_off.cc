#include "core/allocation/kept_off.h"

#include <utility>

#include "core/model/probe.h"

namespace tfyarn::allocation {

/// Never all of them for what they hold: then it is for the RM to say that there is no room.
std::set<std::string> KeptOff::Wanted(std::int32_t nodes) const {
  std::set<std::string> hosts = exclusion_.excluded();
  const std::set<std::string>& useless = gang_.useless_hosts();
  if (useless.empty()) return hosts;
  hosts.insert(useless.begin(), useless.end());
  if (static_cast<std::int64_t>(hosts.size()) >= nodes) return exclusion_.excluded();
  TF_PROBE("asks/hosts-that-would-not-help");
  return hosts;
}

std::optional<std::vector<std::string>> KeptOff::ToStore(Instant now, std::int32_t nodes,
                                                         const std::set<std::string>& stored,
                                                         bool finishing) {
  if (exclusion_.OnTime(now)) gang_.SetExcludedHosts(exclusion_.excluded());
  // What is stored has more hosts than are kept off while the RM has yet to confirm the others.
  const bool changed = gang_.has_news() || std::exchange(made_of_, nodes) != nodes;
  const bool settled = !changed && stored.size() == hosts_.size();
  if (finishing || settled) return std::nullopt;
  if (changed) hosts_ = Wanted(nodes);
  untold_ = true;
  std::set<std::string> hosts = rm_.BlacklistOfRm();
  hosts.insert(hosts_.begin(), hosts_.end());
  if (hosts == stored) return std::nullopt;
  return std::vector<std::string>(hosts.begin(), hosts.end());
}

void KeptOff::Tell(const journal::Outbox& out) {
  if (!untold_) return;
  if (out.IsDurable(entry_)) {
    untold_ = false;
    return rm_.SetBlacklist(hosts_);
  }
  std::set<std::string> still;
  for (const std::string& host : rm_.blacklist()) {
    if (hosts_.contains(host)) still.insert(host);
  }
  rm_.SetBlacklist(still);
}

}  // namespace tfyarn::allocation
