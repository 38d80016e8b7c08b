#include "wire/spec_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "wire/am_agent.pb.h"
#include "wire/am_agent_codec.h"
#include "wire/names.h"

namespace tfyarn::wire {
namespace {

tl::unexpected<Error> Bad(std::string what) {
  return Fail(ErrorCode::kInvalidArgument, "cluster spec: " + std::move(what));
}

std::size_t CommonFront(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(ends.first - a.begin());
}

std::size_t CommonBack(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(ends.first - a.rbegin());
}

/// Sorted distinct hosts and their places.
using HostPlaces = std::map<std::string_view, std::uint32_t>;

HostPlaces PlacesOf(const ClusterSpec& spec) {
  HostPlaces places;
  for (const auto& [type, tasks] : spec.tasks) {
    for (const HostPort& task : tasks) places.emplace(task.host, 0);
  }
  std::uint32_t place = 0;
  for (auto& [host, number] : places) number = place++;
  return places;
}

void PutHosts(const HostPlaces& places, v1::Hosts& out) {
  std::string_view before;
  for (const auto& [host, place] : places) {
    const std::size_t front = CommonFront(before, host);
    const std::size_t back = CommonBack(before.substr(front), host.substr(front));
    out.add_kept_front(static_cast<std::uint32_t>(front));
    out.add_kept_back(static_cast<std::uint32_t>(back));
    out.add_middle(std::string(host.substr(front, host.size() - front - back)));
    before = host;
  }
}

Expected<std::vector<std::string>> GetHosts(const v1::Hosts& in) {
  const int count = in.middle_size();
  if (in.kept_front_size() != count || in.kept_back_size() != count)
    return Bad("the parts of the host names are not equally many");
  // The empty host of tasks without an address may come on top.
  if (static_cast<std::size_t>(count) > kMaxSpecTasks + 1)
    return Bad(fmt::format("has {} hosts; most are {}", count, kMaxSpecTasks));
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(count));
  std::string_view before;
  for (int i = 0; i < count; ++i) {
    const std::size_t front = in.kept_front(i);
    const std::size_t back = in.kept_back(i);
    if (front > before.size() || back > before.size() - front)
      return Bad(fmt::format("host {} keeps more of the one before it than that has", i));
    std::string host(before.substr(0, front));
    host += in.middle(i);
    host += before.substr(before.size() - back);
    if (const std::string fault = HostFault(host); !fault.empty())
      return Bad(fmt::format("host {} {}", i, fault));
    before = hosts.emplace_back(std::move(host));
  }
  return hosts;
}

Expected<std::vector<HostPort>> GetTasks(const v1::TaskType& in,
                                         const std::vector<std::string>& hosts) {
  if (in.host_size() != in.port_size())
    return Bad(
        fmt::format("{} has {} hosts and {} ports", in.name(), in.host_size(), in.port_size()));
  std::vector<HostPort> tasks;
  tasks.reserve(static_cast<std::size_t>(in.host_size()));
  for (int i = 0; i < in.host_size(); ++i) {
    if (in.host(i) >= hosts.size())
      return Bad(fmt::format("{}:{} is on host {} of {}", in.name(), i, in.host(i), hosts.size()));
    const std::string& host = hosts[in.host(i)];
    if (const std::string fault = AddressFault(host, in.port(i)); !fault.empty())
      return Bad(fmt::format("{}:{} {}", in.name(), i, fault));
    tasks.push_back({.host = host, .port = static_cast<std::int32_t>(in.port(i))});
  }
  return tasks;
}

}  // namespace

std::string EncodeSpec(const ClusterSpec& spec) {
  const HostPlaces places = PlacesOf(spec);
  v1::ClusterSpec out;
  out.set_epoch(spec.epoch.value);
  PutHosts(places, *out.mutable_hosts());
  for (const auto& [name, tasks] : spec.tasks) {
    v1::TaskType& type = *out.add_types();
    type.set_name(name);
    for (const HostPort& task : tasks) {
      type.add_host(places.at(task.host));
      type.add_port(static_cast<std::uint32_t>(task.port));
    }
  }
  return out.SerializeAsString();
}

Expected<ClusterSpec> DecodeSpec(std::string_view bytes) {
  v1::ClusterSpec in;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Bad("is not a protobuf message");
  const auto hosts = GetHosts(in.hosts());
  if (!hosts) return tl::unexpected(hosts.error());
  ClusterSpec spec{.epoch = Epoch(in.epoch()), .tasks = {}};
  std::size_t count = 0;
  for (const v1::TaskType& type : in.types()) {
    if (const std::string fault = TaskTypeFault(type.name()); !fault.empty())
      return Bad("a task type " + fault);
    count += static_cast<std::size_t>(type.host_size());
    if (count > kMaxSpecTasks) return Bad(fmt::format("has more than {} tasks", kMaxSpecTasks));
    auto tasks = GetTasks(type, *hosts);
    if (!tasks) return tl::unexpected(tasks.error());
    if (!spec.tasks.emplace(type.name(), std::move(*tasks)).second)
      return Bad(type.name() + " comes twice");
  }
  return spec;
}

const std::string& SpecEncodings::Of(const SpecRef& spec) {
  TF_CHECK(spec.get() != nullptr);
  for (const auto& [id, bytes] : newest_first_) {
    if (id == spec.id()) return bytes;
  }
  if (newest_first_.size() == kKept) newest_first_.pop_back();
  return newest_first_.emplace_front(spec.id(), EncodeSpec(*spec.get())).second;
}

}  // namespace tfyarn::wire
