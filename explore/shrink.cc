#include "explore/shrink.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "config/quantity.h"

namespace tfyarn::explore {
namespace {

/// The way to a node: positions among entries or items.
using Way = std::vector<std::size_t>;

template <class AnyNode>
AnyNode& At(AnyNode& root, const Way& way) {
  AnyNode* node = &root;
  for (const std::size_t step : way)
    node = node->is_map() ? &node->entries[step].value : &node->items[step];
  return *node;
}

/// Every place below, larger ones first: a job before its fields.
void Collect(const Node& node, Way& way, std::vector<Way>& ways) {
  const std::size_t children = node.is_map() ? node.entries.size() : node.items.size();
  for (std::size_t i = 0; i < children; ++i) {
    way.push_back(i);
    ways.push_back(way);
    Collect(node.is_map() ? node.entries[i].value : node.items[i], way, ways);
    way.pop_back();
  }
}

std::vector<Way> Places(const Node& document) {
  std::vector<Way> ways;
  Way way;
  Collect(document, way, ways);
  std::stable_sort(ways.begin(), ways.end(),
                   [](const Way& a, const Way& b) { return a.size() < b.size(); });
  return ways;
}

/// These stay as they are: without them the scenario would be another.
bool IsFixed(std::string_view key) {
  return key == "expect" || key == "horizon" || key == "schema" || key == "name";
}

/// A job that must succeed must do so because of these, and of when a fault begins.
bool IsPremise(std::string_view key) {
  return key == "am" || key == "yarn" || key == "nodes" || key == "behavior" || key == "retries" ||
         key == "when" || key == "after";
}

/// What ends a fault or a job: without it a scenario may rightly go on for ever.
bool EndsSomething(Node& root, const Way& way) {
  const Node& holder = At(root, Way(way.begin(), way.end() - 1));
  if (!holder.is_map()) return false;
  const config::Entry& entry = holder.entries[way.back()];
  return entry.key == "for" || entry.key == "run" ||
         (entry.key == "deadlines" && entry.value.Find("run") != nullptr);
}

bool OnTheWayTo(const Node& root, const Way& way, bool premises) {
  const Node* node = &root;
  for (const std::size_t step : way) {
    if (node->is_map()) {
      const std::string& key = node->entries[step].key;
      if (IsFixed(key) || (premises && IsPremise(key))) return true;
      node = &node->entries[step].value;
    } else {
      node = &node->items[step];
    }
  }
  return false;
}

std::optional<Node> Without(Node document, const Way& way) {
  Way parent(way.begin(), way.end() - 1);
  Node& holder = At(document, parent);
  const std::size_t i = way.back();
  if (holder.is_map()) {
    holder.entries.erase(holder.entries.begin() + static_cast<std::ptrdiff_t>(i));
  } else {
    holder.items.erase(holder.items.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return document;
}

/// What a scalar may become, the simplest first.
std::vector<Node> Simpler(const Node& scalar) {
  std::vector<Node> simpler;
  if (const auto time = config::ParseDuration(scalar.text);
      time && *time > Duration::zero() && !scalar.text.empty() &&
      !std::all_of(scalar.text.begin(), scalar.text.end(),
                   [](char c) { return c >= '0' && c <= '9'; })) {
    for (const Duration round : {Duration(1s), Duration(10s), Duration(1min), Duration(5min)}) {
      if (round < *time) simpler.push_back(Time(round));
    }
    // The same to one digit less, down to whole seconds.
    for (const Duration unit : {Duration(1min), Duration(10s), Duration(1s), Duration(100ms)}) {
      const Duration rounded = *time / unit * unit;
      if (rounded > Duration::zero() && rounded < *time) simpler.push_back(Time(rounded));
    }
    return simpler;
  }
  std::int64_t number = 0;
  const char* end = scalar.text.data() + scalar.text.size();
  const auto [stop, error] = std::from_chars(scalar.text.data(), end, number);
  if (error != std::errc() || stop != end || number <= 0) return simpler;
  for (const std::int64_t less : {std::int64_t{1}, number / 10, number / 2, number - 1}) {
    if (less > 0 && less < number) simpler.push_back(Number(less));
  }
  return simpler;
}

/// A law becomes the least that it draws.
std::optional<Node> Constant(const Node& node) {
  const Node* least = node.Find("min");
  if (node.Find("dist") == nullptr || least == nullptr) return std::nullopt;
  return *least;
}

/// A fault that waits for something comes at a fixed time instead, so that what it waits for can
/// go: a message, a job, another fault.
std::vector<Node> AtFixedTimes(const Node& document, const Way& way) {
  std::vector<Node> candidates;
  const Way parent(way.begin(), way.end() - 1);
  Node fault = At(document, parent);
  if (!fault.is_map() || fault.entries[way.back()].key != "when") return candidates;
  Remove(fault, "when");
  Remove(fault, "after");
  for (const Duration at : {1s, 10s, 60s}) {
    Set(fault, "at", Time(at));
    candidates.push_back(document);
    At(candidates.back(), parent) = fault;
  }
  return candidates;
}

class Shrinker {
 public:
  Shrinker(Node document, const StillShows& still_shows, const ShrinkLimits& limits)
      : document_(std::move(document)), still_shows_(still_shows), limits_(limits) {}

  Node Finish() {
    bool smaller = true;
    while (smaller && tried_ < limits_.candidates) {
      smaller = Pass([this](const Way& way) { return Removals(way); });
      smaller = Pass([this](const Way& way) { return Simplifications(way); }) || smaller;
    }
    return std::move(document_);
  }

 private:
  std::vector<Node> Removals(const Way& way) {
    std::vector<Node> candidates;
    if (OnTheWayTo(document_, way, must_succeed_)) return candidates;
    if ((limits_.keep_ends || must_succeed_) && EndsSomething(document_, way)) return candidates;
    if (auto without = Without(document_, way)) candidates.push_back(std::move(*without));
    return candidates;
  }

  std::vector<Node> Simplifications(const Way& way) {
    if (OnTheWayTo(document_, way, must_succeed_)) return {};
    std::vector<Node> candidates = AtFixedTimes(document_, way);
    const Node& node = At(document_, way);
    std::vector<Node> values;
    if (node.is_scalar()) values = Simpler(node);
    if (auto constant = Constant(node)) values.push_back(std::move(*constant));
    for (Node& value : values) {
      Node candidate = document_;
      At(candidate, way) = std::move(value);
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  /// Goes through all places once, and again over what a success has changed. True when something
  /// went.
  template <class Candidates>
  bool Pass(Candidates candidates_at) {
    bool any = false;
    std::size_t from = 0;
    while (tried_ < limits_.candidates) {
      const std::vector<Way> ways = Places(document_);
      std::vector<Node> batch;
      std::vector<std::size_t> place_of;
      std::size_t next = from;
      for (; next < ways.size() && batch.size() < limits_.at_once; ++next) {
        for (Node& candidate : candidates_at(ways[next])) {
          batch.push_back(std::move(candidate));
          place_of.push_back(next);
        }
      }
      if (batch.empty()) return any;
      tried_ += batch.size();
      const std::vector<bool> shows = still_shows_(batch);
      const auto first = std::find(shows.begin(), shows.end(), true);
      if (first == shows.end()) {
        from = next;
        continue;
      }
      const auto chosen = static_cast<std::size_t>(first - shows.begin());
      document_ = std::move(batch[chosen]);
      from = place_of[chosen];
      any = true;
    }
    return any;
  }

  Node document_;
  bool must_succeed_ = MustSucceed(document_);
  const StillShows& still_shows_;
  ShrinkLimits limits_;
  std::size_t tried_ = 0;
};

}  // namespace

Node Shrink(Node document, const StillShows& still_shows, const ShrinkLimits& limits) {
  return Shrinker(std::move(document), still_shows, limits).Finish();
}

}  // namespace tfyarn::explore
