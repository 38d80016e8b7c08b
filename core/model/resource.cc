#include "core/model/resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tfyarn {
namespace {

using Others = std::vector<std::pair<std::string, std::int64_t>>;

std::int64_t OtherOf(const Others& others, std::string_view name) {
  const auto at =
      std::lower_bound(others.begin(), others.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  return at != others.end() && at->first == name ? at->second : 0;
}

void SetOther(Others& others, std::string_view name, std::int64_t amount) {
  const auto at =
      std::lower_bound(others.begin(), others.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  if (at != others.end() && at->first == name) {
    if (amount == 0) {
      others.erase(at);
    } else {
      at->second = amount;
    }
  } else if (amount != 0) {
    others.emplace(at, std::string(name), amount);
  }
}

}  // namespace

std::int64_t Resource::Get(std::string_view name) const {
  if (name == "memory-mb") return memory_mb;
  if (name == "vcores") return vcores;
  if (name == kGpuResourceName) return gpus;
  return OtherOf(others, name);
}

void Resource::Set(std::string_view name, std::int64_t amount) {
  if (name == "memory-mb") {
    memory_mb = amount;
  } else if (name == "vcores") {
    vcores = amount;
  } else if (name == kGpuResourceName) {
    gpus = amount;
  } else {
    SetOther(others, name, amount);
  }
}

Resource& Resource::operator+=(const Resource& other) {
  memory_mb += other.memory_mb;
  vcores += other.vcores;
  gpus += other.gpus;
  for (const auto& [name, amount] : other.others)
    SetOther(others, name, OtherOf(others, name) + amount);
  return *this;
}

Resource& Resource::operator-=(const Resource& other) {
  memory_mb -= other.memory_mb;
  vcores -= other.vcores;
  gpus -= other.gpus;
  for (const auto& [name, amount] : other.others)
    SetOther(others, name, OtherOf(others, name) - amount);
  return *this;
}

bool FitsIn(const Resource& need, const Resource& available) {
  if (need.memory_mb > available.memory_mb || need.vcores > available.vcores ||
      need.gpus > available.gpus) {
    return false;
  }
  for (const auto& [name, amount] : need.others) {
    if (amount > OtherOf(available.others, name)) return false;
  }
  return true;
}

Resource Share(const Resource& r, std::int64_t ppm) {
  constexpr std::int64_t kWhole = 1'000'000;
  // No product overflows.
  const auto of = [ppm](std::int64_t amount) {
    return amount / kWhole * ppm + amount % kWhole * ppm / kWhole;
  };
  Resource share{.memory_mb = of(r.memory_mb), .vcores = of(r.vcores), .gpus = of(r.gpus)};
  for (const auto& [name, amount] : r.others) share.Set(name, of(amount));
  return share;
}

Resource Times(const Resource& r, std::int64_t times) {
  Resource product = r;
  product.memory_mb *= times;
  product.vcores *= times;
  product.gpus *= times;
  for (auto& [name, amount] : product.others) amount *= times;
  if (times == 0) product.others.clear();
  return product;
}

std::int64_t HowManyFit(const Resource& unit, const Resource& available) {
  std::int64_t fit = INT32_MAX;
  const auto limit = [&fit](std::int64_t need, std::int64_t have) {
    if (need > 0) fit = std::min(fit, have > 0 ? have / need : 0);
  };
  limit(unit.memory_mb, available.memory_mb);
  limit(unit.vcores, available.vcores);
  limit(unit.gpus, available.gpus);
  for (const auto& [name, amount] : unit.others) limit(amount, OtherOf(available.others, name));
  return fit;
}

std::string FirstShortage(const Resource& need, const Resource& available) {
  if (need.memory_mb > available.memory_mb) return "memory-mb";
  if (need.vcores > available.vcores) return "vcores";
  if (need.gpus > available.gpus) return std::string(kGpuResourceName);
  for (const auto& [name, amount] : need.others) {
    if (amount > OtherOf(available.others, name)) return name;
  }
  return {};
}

Resource ComponentMax(const Resource& a, const Resource& b) {
  Resource most = a;
  most.memory_mb = std::max(a.memory_mb, b.memory_mb);
  most.vcores = std::max(a.vcores, b.vcores);
  most.gpus = std::max(a.gpus, b.gpus);
  for (const auto& [name, amount] : b.others)
    SetOther(most.others, name, std::max(amount, OtherOf(a.others, name)));
  return most;
}

Resource ComponentMin(const Resource& a, const Resource& b) {
  Resource least{.memory_mb = std::min(a.memory_mb, b.memory_mb),
                 .vcores = std::min(a.vcores, b.vcores),
                 .gpus = std::min(a.gpus, b.gpus)};
  for (const auto& [name, amount] : a.others)
    least.Set(name, std::min(amount, OtherOf(b.others, name)));
  return least;
}

bool IsZero(const Resource& r) {
  return r.memory_mb == 0 && r.vcores == 0 && r.gpus == 0 &&
         std::all_of(r.others.begin(), r.others.end(),
                     [](const auto& entry) { return entry.second == 0; });
}

bool AnyNegative(const Resource& r) {
  return r.memory_mb < 0 || r.vcores < 0 || r.gpus < 0 ||
         std::any_of(r.others.begin(), r.others.end(),
                     [](const auto& entry) { return entry.second < 0; });
}

std::string ToString(const Resource& r) {
  std::string out = r.memory_mb % 1024 == 0 ? fmt::format("{} GiB", r.memory_mb / 1024)
                                            : fmt::format("{} MiB", r.memory_mb);
  out += fmt::format(", {} vcore{}", r.vcores, r.vcores == 1 ? "" : "s");
  if (r.gpus != 0) out += fmt::format(", {} GPU{}", r.gpus, r.gpus == 1 ? "" : "s");
  for (const auto& [name, amount] : r.others) out += fmt::format(", {} {}", amount, name);
  return out;
}

}  // namespace tfyarn
