#include "fakes/yarn-rm/resource_manager.h"

#include <utility>

#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {

ResourceManager::ResourceManager(RmOptions options, std::uint64_t seed)
    : core_(std::make_unique<RmCore>(std::move(options), seed)) {}

ResourceManager::ResourceManager(RmOptions options, const RmStateStore& store, std::uint64_t seed,
                                 Instant now)
    : core_(std::make_unique<RmCore>(std::move(options), store, seed, now)) {}

ResourceManager::~ResourceManager() = default;
ResourceManager::ResourceManager(ResourceManager&&) noexcept = default;
ResourceManager& ResourceManager::operator=(ResourceManager&&) noexcept = default;

void ResourceManager::Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions) {
  core_->Step(now, event, actions);
}

std::optional<Instant> ResourceManager::next_deadline() const {
  return core_->next_deadline();
}

const RmBooks& ResourceManager::books() const {
  return core_->books();
}

RmStateStore ResourceManager::state_store() const {
  return core_->StateStore();
}

std::shared_ptr<const TokenBook> ResourceManager::tokens() const {
  return core_->tokens();
}

yarn::Token ResourceManager::AmRmTokenOf(const ApplicationAttemptId& attempt) const {
  return core_->AmRmTokenOf(attempt);
}

bool ResourceManager::HasNewsForNode(const NodeId& node) const {
  return core_->HasNewsForNode(node);
}

bool ResourceManager::ConfirmNewsForNode(const NodeId& node) {
  return core_->ConfirmNewsForNode(node);
}

}  // namespace tfyarn::fakes
