#include "core/model/probe.h"

#include <algorithm>
#include <span>

// Made by the linker: the bounds of the section. Weak, as a program may have no probe at all.
extern "C" {
[[gnu::weak]] extern const tfyarn::ProbeGroup* const __start_tf_probes[];
[[gnu::weak]] extern const tfyarn::ProbeGroup* const __stop_tf_probes[];
}

namespace tfyarn {
namespace {

constinit std::atomic<std::uint32_t> passed = 0;

}  // namespace

void ProbeSite::PassFirst() {
  rank_.store(passed.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::string ProbeSite::name() const {
  std::string name(area_);
  if (!name.empty()) name += '/';
  return name.append(name_);
}

const std::vector<ProbeSite*>& AllProbes() {
  static const std::vector<ProbeSite*> all = [] {
    std::vector<ProbeSite*> sites;
    for (const ProbeGroup* const* entry = __start_tf_probes; entry != __stop_tf_probes; ++entry) {
      for (ProbeSite& site : std::span((*entry)->sites, (*entry)->count)) sites.push_back(&site);
    }
    std::sort(sites.begin(), sites.end(),
              [](const ProbeSite* a, const ProbeSite* b) { return a->name() < b->name(); });
    return sites;
  }();
  return all;
}

std::uint32_t PassedProbes() {
  return passed.load(std::memory_order_relaxed);
}

void ForgetProbes() {
  for (ProbeSite* site : AllProbes()) site->Forget();
  passed.store(0, std::memory_order_relaxed);
}

}  // namespace tfyarn
