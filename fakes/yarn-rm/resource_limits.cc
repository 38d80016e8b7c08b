#include "fakes/yarn-rm/resource_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/probe.h"
#include "fakes/yarn-rm/dominant.h"

namespace tfyarn::fakes {
namespace {

std::int64_t Highest(std::int64_t configured, std::int64_t largest_node, bool known) {
  if (configured > 0) return configured;
  return known ? largest_node : INT64_MAX;
}

}  // namespace

void ResourceLimits::Restore(const RmStateStore& store) {
  types_.insert(store.resource_types.begin(), store.resource_types.end());
  largest_node_ = store.largest_node;
  any_node_seen_ = !IsZero(largest_node_);
  awaited_ = store.nodes;
}

void ResourceLimits::SeeNode(const Resource& resource) {
  for (const auto& [type, amount] : resource.others) types_.insert(type);
  largest_node_ = ComponentMax(largest_node_, resource);
  any_node_seen_ = true;
}

// Before a node was seen nothing but the configuration limits; what it does not name reads as the
// largest number (run).
Resource ResourceLimits::Maximum() const {
  const bool known = any_node_seen_ && awaited_ == 0;
  const Resource& configured = options_.maximum_allocation;
  Resource maximum{.memory_mb = Highest(configured.memory_mb, largest_node_.memory_mb, known),
                   .vcores = Highest(configured.vcores, largest_node_.vcores, known),
                   .gpus = Highest(configured.gpus, largest_node_.gpus, known),
                   .others = {}};
  for (const std::string& type : types_) {
    maximum.Set(type, Highest(configured.Get(type), largest_node_.Get(type), known));
  }
  return maximum;
}

Resource ResourceLimits::WithKnownTypes(const Resource& asked) const {
  if (asked.others.empty()) return asked;
  Resource known = asked;
  for (const auto& [name, amount] : asked.others) {
    if (types_.count(name) == 0) known.Set(name, 0);
  }
  return known;
}

// Source: ResourceCalculator.normalize: at least the minimum, in its multiples, at most the
// maximum.
Resource ResourceLimits::Normalized(const Resource& asked) const {
  Resource result =
      RoundedUp(ComponentMax(asked, options_.minimum_allocation), options_.minimum_allocation);
  const Resource maximum = Maximum();
  result.memory_mb = std::min(result.memory_mb, std::max(maximum.memory_mb, asked.memory_mb));
  result.vcores = std::min(result.vcores, std::max(maximum.vcores, asked.vcores));
  return result;
}

// Source: SchedulerUtils.throwInvalidResourceException.
std::optional<yarn::RpcError> ResourceLimits::Check(const Resource& asked) const {
  if (AnyNegative(asked)) {
    return yarn::RpcError{
        .code = yarn::RpcErrorCode::kInvalidResourceRequest,
        .message = fmt::format(
            "Invalid resource request! Cannot allocate containers as requested resource "
            "is less than 0! Requested resource={}",
            ToString(asked))};
  }
  const Resource maximum = Maximum();
  const std::string shortage = FirstShortage(asked, maximum);
  if (shortage.empty()) return std::nullopt;
  TF_PROBE("yarn/ask-beyond-the-largest-node");
  return yarn::RpcError{
      .code = yarn::RpcErrorCode::kInvalidResourceRequest,
      .message = fmt::format(
          "Invalid resource request! Cannot allocate containers as requested resource is "
          "greater than maximum allowed allocation. Requested resource type=[{}], "
          "Requested resource={}, maximum allowed allocation={}",
          shortage, ToString(asked), ToString(maximum))};
}

}  // namespace tfyarn::fakes
