#include "fakes/yarn-rm/dominant.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <functional>

#include "core/model/check.h"

namespace tfyarn::fakes {
namespace {

using Shares = boost::container::small_vector<std::int64_t, 6>;

Shares SharesOf(const Resource& r, const Resource& whole) {
  Shares shares;
  const auto add = [&shares](std::int64_t amount, std::int64_t of) {
    if (of > 0) shares.push_back(PartsOf(amount, of));
  };
  add(r.memory_mb, whole.memory_mb);
  add(r.vcores, whole.vcores);
  add(r.gpus, whole.gpus);
  for (const auto& [name, of] : whole.others) add(r.Get(name), of);
  return shares;
}

/// Of SharesOf, without the list; INT64_MIN where there is none.
std::int64_t LargestShare(const Resource& r, const Resource& whole) {
  std::int64_t largest = INT64_MIN;
  const auto add = [&largest](std::int64_t amount, std::int64_t of) {
    if (of > 0) largest = std::max(largest, PartsOf(amount, of));
  };
  add(r.memory_mb, whole.memory_mb);
  add(r.vcores, whole.vcores);
  add(r.gpus, whole.gpus);
  for (const auto& [name, of] : whole.others) add(r.Get(name), of);
  return largest;
}

template <class F>
Resource ForEachAmount(const Resource& r, F f) {
  Resource result{
      .memory_mb = f(r.memory_mb), .vcores = f(r.vcores), .gpus = f(r.gpus), .others = {}};
  for (const auto& [name, amount] : r.others) result.Set(name, f(amount));
  return result;
}

std::int64_t RoundUpTo(std::int64_t amount, std::int64_t step) {
  const std::int64_t unit = std::max<std::int64_t>(step, 1);
  return amount <= 0 ? amount : (amount + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t DominantShare(const Resource& amount, const Resource& whole) {
  std::int64_t share = 0;
  const auto add = [&share](std::int64_t part, std::int64_t of) {
    if (of > 0) share = std::max(share, PartsOf(part, of));
  };
  add(amount.memory_mb, whole.memory_mb);
  add(amount.vcores, whole.vcores);
  add(amount.gpus, whole.gpus);
  for (const auto& [name, of] : whole.others) add(amount.Get(name), of);
  return share;
}

int CompareDominant(const Resource& a, const Resource& b, const Resource& whole) {
  const std::int64_t most_left = LargestShare(a, whole);
  const std::int64_t most_right = LargestShare(b, whole);
  if (most_left != most_right) return most_left < most_right ? -1 : 1;
  Shares left = SharesOf(a, whole);
  Shares right = SharesOf(b, whole);
  std::sort(left.begin(), left.end(), std::greater<>());
  std::sort(right.begin(), right.end(), std::greater<>());
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

const Resource& DominantMax(const Resource& a, const Resource& b, const Resource& whole) {
  return CompareDominant(a, b, whole) >= 0 ? a : b;
}

const Resource& DominantMin(const Resource& a, const Resource& b, const Resource& whole) {
  return CompareDominant(a, b, whole) <= 0 ? a : b;
}

Resource Scaled(const Resource& r, std::int64_t numerator, std::int64_t denominator) {
  TF_CHECK(denominator > 0);
  return ForEachAmount(r, [&](std::int64_t amount) {
    return (amount / denominator) * numerator + (amount % denominator) * numerator / denominator;
  });
}

Resource ScaledUp(const Resource& r, std::int64_t numerator, std::int64_t denominator) {
  TF_CHECK(denominator > 0);
  return ForEachAmount(r, [&](std::int64_t amount) {
    const std::int64_t rest = (amount % denominator) * numerator;
    return (amount / denominator) * numerator + (rest + denominator - 1) / denominator;
  });
}

Resource DividedUp(const Resource& r, std::int64_t divisor) {
  TF_CHECK(divisor > 0);
  return ForEachAmount(r, [&](std::int64_t amount) { return (amount + divisor - 1) / divisor; });
}

Resource RoundedUp(const Resource& r, const Resource& step) {
  Resource result = r;
  result.memory_mb = RoundUpTo(r.memory_mb, step.memory_mb);
  result.vcores = RoundUpTo(r.vcores, step.vcores);
  result.gpus = RoundUpTo(r.gpus, step.gpus);
  for (auto& [name, amount] : result.others) amount = RoundUpTo(amount, step.Get(name));
  return result;
}

bool AnyPositive(const Resource& r) {
  return r.memory_mb > 0 || r.vcores > 0 || r.gpus > 0 ||
         std::any_of(r.others.begin(), r.others.end(),
                     [](const auto& entry) { return entry.second > 0; });
}

bool HasRoomForOthers(const Resource& need, const Resource& free) {
  return std::all_of(need.others.begin(), need.others.end(), [&](const auto& entry) {
    return HasRoomFor(entry.second, free.Get(entry.first));
  });
}

bool SumFitsIn(const Resource& a, const Resource& b, const Resource& limit) {
  if (a.others.empty() && b.others.empty()) {
    return a.memory_mb + b.memory_mb <= limit.memory_mb && a.vcores + b.vcores <= limit.vcores &&
           a.gpus + b.gpus <= limit.gpus;
  }
  return FitsIn(a + b, limit);
}

}  // namespace tfyarn::fakes
