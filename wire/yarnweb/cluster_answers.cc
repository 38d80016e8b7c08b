#include "wire/yarnweb/cluster_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "wire/http/http_url.h"
#include "wire/yarnweb/json_list.h"

namespace tfyarn::wire {
namespace {

using nlohmann::json;

constexpr int kDeepest = 64;
constexpr std::size_t kMostQueues = 10'000;

std::int64_t Whole(const json& value) {
  return value.is_number_integer() ? value.get<std::int64_t>() : -1;
}

/// A percentage as thousandths.
std::int64_t Permille(const json& value) {
  const double percent = value.is_number() ? value.get<double>() : -1.0;
  return percent >= 0.0 && percent <= 1e6 ? std::lround(percent * 10.0) : -1;
}

/// CapacityScheduler names its queues by the last part of their paths, and says the paths only
/// since Hadoop 3.4; FairScheduler names them by their paths.
std::string PathOf(const json& entry, const std::string& parent) {
  std::string path = TextOf(MemberOf(entry, "queuePath"));
  if (!path.empty()) return path;
  std::string name = TextOf(MemberOf(entry, "queueName"));
  return parent.empty() || name.starts_with(parent + ".") ? name : parent + "." + name;
}

SchedulerQueue QueueOf(const json& entry, std::string path) {
  SchedulerQueue queue{.path = std::move(path),
                       .state = TextOf(MemberOf(entry, "state")),
                       .policy = TextOf(MemberOf(entry, "schedulingPolicy")),
                       .capacity = Permille(MemberOf(entry, "absoluteCapacity")),
                       .maximum = Permille(MemberOf(entry, "absoluteMaxCapacity")),
                       .used = Permille(MemberOf(entry, "absoluteUsedCapacity"))};
  const json& am = MemberOf(entry, "AMResourceLimit");
  queue.am_memory_mb = Whole(MemberOf(am, "memory"));
  queue.am_vcores = Whole(MemberOf(am, "vCores"));
  return queue;
}

/// The leaves below; false: this is no queue, or there is no end to them.
bool AddLeaves(const json& entry, const std::string& parent, int depth,
               std::vector<SchedulerQueue>& leaves) {
  if (!entry.is_object() || depth > kDeepest || leaves.size() >= kMostQueues) return false;
  std::string path = PathOf(entry, parent);
  for (const char* name : {"queues", "childQueues"}) {
    const json& below = MemberOf(MemberOf(entry, name), "queue");
    if (below.is_null() || (below.is_array() && below.empty())) continue;
    return ForEachOf(below,
                     [&](const json& each) { return AddLeaves(each, path, depth + 1, leaves); });
  }
  leaves.push_back(QueueOf(entry, std::move(path)));
  return true;
}

std::optional<int> Number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || failed != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ClusterInfo> ParseClusterInfo(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  const json& info = MemberOf(document, "clusterInfo");
  ClusterInfo out{.ha_state = TextOf(MemberOf(info, "haState")),
                  .version = TextOf(MemberOf(info, "hadoopVersion"))};
  if (out.ha_state.empty()) return std::nullopt;
  return out;
}

std::optional<SchedulerAnswer> ParseScheduler(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  const json& info = MemberOf(MemberOf(document, "scheduler"), "schedulerInfo");
  SchedulerAnswer out{.type = TextOf(MemberOf(info, "type"))};
  if (out.type.empty()) return std::nullopt;
  out.most_memory_mb = Whole(MemberOf(MemberOf(info, "maximumAllocation"), "memory"));
  out.most_vcores = Whole(MemberOf(MemberOf(info, "maximumAllocation"), "vCores"));
  const json& root = MemberOf(info, "rootQueue");
  if (!AddLeaves(root.is_object() ? root : info, "", 0, out.queues)) return std::nullopt;
  return out;
}

std::string ConfigurationTarget(std::string_view key) {
  return fmt::format("/conf?name={}", EncodeQueryValue(key));
}

std::optional<std::string> ParseConfigurationValue(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  const json& value = MemberOf(MemberOf(document, "property"), "value");
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

std::optional<WallTime> ParseHttpDate(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::size_t kLength = 29;
  if (text.size() != kLength || text.substr(25) != " GMT") return std::nullopt;
  const auto day = Number(text.substr(5, 2));
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto year = Number(text.substr(12, 4));
  const auto hour = Number(text.substr(17, 2));
  const auto minute = Number(text.substr(20, 2));
  const auto second = Number(text.substr(23, 2));
  if (!day || month == kMonths.end() || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(*year),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto since = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(*hour) +
                     std::chrono::minutes(*minute) + std::chrono::seconds(*second);
  return WallTime(std::chrono::duration_cast<WallTime::duration>(since));
}

}  // namespace tfyarn::wire
