#include "hosts/agent/subreaper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "core/model/check.h"

namespace tfyarn::agent_host {

Subreaper::Subreaper(boost::asio::io_context& io, const ProcSource& proc)
    : io_(io),
      signals_(io),
      own_pid_(::getpid()),
      own_session_(::getsid(0)),
      family_(
          own_pid_, [this](pid_t pid) { return IsRoot(pid); }, proc) {
  // Both fail only when the arguments are wrong.
  TF_CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  boost::system::error_code error;
  signals_.add(SIGCHLD, error);
  TF_CHECK(!error);
  Listen();
}

void Subreaper::Reserve(pid_t root) {
  TF_CHECK(!trees_.contains(root));
  trees_.emplace(root, nullptr);
}

void Subreaper::Add(pid_t root, Ended ended) {
  Ended& entry = trees_[root];
  TF_CHECK(!entry);
  entry = std::move(ended);
}

void Subreaper::Remove(pid_t root) {
  trees_.erase(root);
  disowned_.erase(root);
}

void Subreaper::Disown(pid_t root) {
  trees_.erase(root);
  disowned_.insert(root);
}

bool Subreaper::IsOnly(pid_t root) const {
  return trees_.size() == 1 && trees_.contains(root);
}

void Subreaper::Close() {
  boost::system::error_code ignored;
  signals_.cancel(ignored);
}

void Subreaper::Listen() {
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    Listen();
    TellTrees();
  });
}

void Subreaper::TellTrees() {
  const auto orphans = family_.EndedOrphans();
  // A tree may end, and be removed, while the others are told.
  std::vector<pid_t> roots;
  for (const auto& [root, ended] : trees_) roots.push_back(root);
  for (const pid_t root : roots) {
    const auto tree = trees_.find(root);
    if (tree == trees_.end()) continue;
    const auto ended = tree->second;
    if (ended) ended(orphans);
  }
}

}  // namespace tfyarn::agent_host
