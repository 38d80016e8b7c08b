#include "hosts/local/task_places.h"

#include <variant>

namespace tfyarn::hosts {
namespace {

template <class Map>
std::optional<typename Map::mapped_type> Find(const Map& map, const typename Map::key_type& key) {
  const auto entry = map.find(key);
  if (entry == map.end()) return std::nullopt;
  return entry->second;
}

}  // namespace

void TaskPlaces::Observe(const trace::TraceRecord& record) {
  if (const auto* gone = std::get_if<trace::ContainerGone>(&record.fact)) {
    const auto held = tasks_.find(gone->container);
    if (held == tasks_.end()) return;
    const auto place = containers_.find(held->second);
    if (place != containers_.end() && place->second == gone->container) containers_.erase(place);
    return;
  }
  const auto* told = std::get_if<trace::AgentTold>(&record.fact);
  if (told == nullptr) return;
  if (const auto* started = std::get_if<AgentStarted>(&told->event)) {
    containers_[started->fence.task] = told->container;
    tasks_[told->container] = started->fence.task;
  } else if (const auto* leased = std::get_if<PortLeased>(&told->event)) {
    ports_[told->container] = leased->port;
  }
}

std::optional<ContainerId> TaskPlaces::ContainerOf(const TaskId& task) const {
  return Find(containers_, task);
}

std::optional<TaskId> TaskPlaces::TaskIn(const ContainerId& container) const {
  return Find(tasks_, container);
}

std::optional<std::int32_t> TaskPlaces::PortIn(const ContainerId& container) const {
  return Find(ports_, container);
}

std::vector<TaskId> TaskPlaces::Tasks() const {
  std::vector<TaskId> tasks;
  for (const auto& [task, container] : containers_) tasks.push_back(task);
  return tasks;
}

}  // namespace tfyarn::hosts
