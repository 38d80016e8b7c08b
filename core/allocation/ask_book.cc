#include "core/allocation/ask_book.h"

#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::allocation {
namespace {

constexpr const char* kAnywhere = "*";

}  // namespace

bool AskBook::SetWanted(std::vector<Ask> asks) {
  if (asks == asks_) return false;
  wanted_.clear();
  for (const Ask& ask : asks) {
    TF_CHECK(ask.count > 0);
    const bool is_new = wanted_.emplace(ask.key, RowsOf(ask)).second;
    TF_CHECK(is_new);
  }
  asks_ = std::move(asks);
  UpdateChanged();
  return true;
}

AskBook::Rows AskBook::RowsOf(const Ask& ask) {
  Rows rows;
  const bool anywhere = ask.hosts.empty();
  const Row upper{.capability = ask.capability, .count = ask.count, .relax_locality = anywhere};
  Row& any = rows.by_name[kAnywhere] = upper;
  any.node_label = ask.node_label;
  for (const AskRack& rack : ask.racks) {
    TF_CHECK(rack.count > 0);
    Row& row = rows.by_name[rack.rack] = upper;
    row.count = rack.count;
  }
  for (const AskHost& host : ask.hosts) {
    TF_CHECK(host.count > 0);
    TF_CHECK(rows.by_name.contains(host.rack));
    rows.by_name[host.host] = Row{.capability = ask.capability, .count = host.count};
    rows.rack_of_host[host.host] = host.rack;
  }
  return rows;
}

yarn::ResourceRequest AskBook::RequestOf(const AskKey& key, const std::string& name,
                                         const Row& row) {
  yarn::ResourceRequest request{.priority = key.priority,
                                .resource_name = name,
                                .capability = row.capability,
                                .num_containers = row.count,
                                .relax_locality = row.relax_locality,
                                .allocation_request_id = key.allocation_request_id};
  if (name == kAnywhere) request.node_label_expression = row.node_label;
  return request;
}

std::vector<yarn::ResourceRequest> AskBook::TakeChanges() {
  std::vector<yarn::ResourceRequest> changes;
  before_.clear();
  for (const AskKey& key : KeysOfBoth()) {
    const std::size_t so_far = changes.size();
    AppendChanges(key, changes);
    if (changes.size() == so_far) continue;
    // "*" sorts before host names and rack names, and YARN wants it last: an RM that reads rows in
    // order then never sees a total without the places it is for.
    std::stable_partition(
        changes.begin() + static_cast<std::ptrdiff_t>(so_far), changes.end(),
        [](const yarn::ResourceRequest& row) { return row.resource_name != kAnywhere; });
    Before& before = before_[key];
    if (const auto told = told_.find(key); told != told_.end()) before.rows = told->second;
    for (auto row = changes.begin() + static_cast<std::ptrdiff_t>(so_far); row != changes.end();
         ++row) {
      before.replaced.insert(row->resource_name);
    }
    const auto wanted = wanted_.find(key);
    if (wanted == wanted_.end()) {
      told_.erase(key);
    } else {
      told_[key] = wanted->second;
    }
  }
  changed_ = false;
  return changes;
}

std::vector<AskKey> AskBook::KeysOfBoth() const {
  std::vector<AskKey> keys;
  for (const auto& [key, rows] : wanted_) keys.push_back(key);
  for (const auto& [key, rows] : told_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

void AskBook::AppendChanges(const AskKey& key, std::vector<yarn::ResourceRequest>& changes) const {
  static const Rows kNone;
  const auto wanted_at = wanted_.find(key);
  const auto told_at = told_.find(key);
  const Rows& wanted = wanted_at == wanted_.end() ? kNone : wanted_at->second;
  const Rows& told = told_at == told_.end() ? kNone : told_at->second;
  for (const auto& [name, row] : told.by_name) {
    if (wanted.by_name.contains(name)) continue;
    Row zero = row;
    zero.count = 0;
    changes.push_back(RequestOf(key, name, zero));
  }
  for (const auto& [name, row] : wanted.by_name) {
    const auto known = told.by_name.find(name);
    if (known == told.by_name.end() || known->second != row)
      changes.push_back(RequestOf(key, name, row));
  }
}

void AskBook::OnAnswered(const std::vector<yarn::Container>& granted) {
  for (const yarn::Container& container : granted) LowerFor(container);
  before_.clear();
  UpdateChanged();
}

/// Lowers the rows that the grant used up, as the RM did.
void AskBook::LowerFor(const yarn::Container& container) {
  const AskKey key{container.priority, container.allocation_request_id};
  const auto told = told_.find(key);
  const auto before = before_.find(key);
  // The RM answers with what it allocated before it read the request. So a grant lowered the old
  // count of a row that the request then replaced, as far as that goes, and the new count stands in
  // full.
  const auto lower = [&](const std::string& name) {
    if (before != before_.end() && before->second.replaced.contains(name) &&
        Lower(before->second.rows, name)) {
      TF_PROBE("asks/grant-of-a-replaced-row");
      return;
    }
    if (told != told_.end()) static_cast<void>(Lower(told->second, name));
  };
  const std::string& host = container.node.host;
  lower(kAnywhere);
  for (const Rows* rows : {told == told_.end() ? nullptr : &told->second,
                           before == before_.end() ? nullptr : &before->second.rows}) {
    if (rows == nullptr) continue;
    const auto rack = rows->rack_of_host.find(host);
    if (rack == rows->rack_of_host.end()) continue;
    lower(std::string(rack->second));
    lower(host);
    break;
  }
  if (told != told_.end() && told->second.by_name.empty()) told_.erase(told);
}

/// False when there is nothing of it left.
bool AskBook::Lower(Rows& rows, const std::string& name) {
  const auto row = rows.by_name.find(name);
  if (row == rows.by_name.end()) return false;
  if (--row->second.count == 0) rows.by_name.erase(row);
  return true;
}

void AskBook::OnRefused() {
  for (auto& [key, before] : before_) {
    if (before.rows.by_name.empty()) {
      told_.erase(key);
    } else {
      told_[key] = std::move(before.rows);
    }
  }
  before_.clear();
  UpdateChanged();
}

void AskBook::ForgetTold() {
  told_.clear();
  before_.clear();
  UpdateChanged();
}

void AskBook::UpdateChanged() {
  changed_ = false;
  std::vector<yarn::ResourceRequest> changes;
  for (const AskKey& key : KeysOfBoth()) {
    AppendChanges(key, changes);
    if (changes.empty()) continue;
    changed_ = true;
    return;
  }
}

std::int64_t AskBook::told_total() const {
  std::int64_t total = 0;
  for (const auto& [key, rows] : told_) {
    const auto any = rows.by_name.find(kAnywhere);
    if (any != rows.by_name.end()) total += any->second.count;
  }
  return total;
}

}  // namespace tfyarn::allocation
