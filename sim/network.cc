#include "sim/network.h"

#include <algorithm>

namespace tfyarn::sim {
namespace {

bool Separates(const Cut& cut, Place from, Place to) {
  if (from == to) return false;  // A machine reaches itself.
  const auto matches = [&cut](Place a, Place b) {
    if (!cut.from.contains(a)) return false;
    return cut.to.empty() ? !cut.from.contains(b) : cut.to.contains(b);
  };
  return (cut.forward && matches(from, to)) || (cut.backward && matches(to, from));
}

}  // namespace

Network::Network(const config::NetworkSpec& spec, std::vector<std::int32_t> rack_of_node,
                 std::uint64_t seed)
    : spec_(spec), rack_of_node_(std::move(rack_of_node)), seed_(seed) {}

bool Network::Reachable(Place from, Place to) const {
  return std::none_of(cuts_.begin(), cuts_.end(),
                      [&](const auto& entry) { return Separates(entry.second, from, to); });
}

bool Network::Undisturbed(Place a, Place b) const {
  if (LossBetween(a, b) > 0) return false;
  if (cuts_.empty() && delays_.empty() && disorders_.empty()) return true;
  return Reachable(a, b) && Reachable(b, a) && ExtraDelay(a, b) == Duration::zero() &&
         DisorderBetween(a, b) == Duration::zero();
}

Duration Network::Latency(Place from, Place to, std::uint32_t sender) {
  const config::Distribution& law = CrossesRacks(from, to) ? spec_.cross_rack : spec_.latency;
  const Duration base =
      law.is_constant() && !anew_ ? SecondsToDuration(law.a) : StreamOf(sender).DrawDuration(law);
  const Duration disorder = DisorderBetween(from, to);
  if (disorder == Duration::zero()) return base + ExtraDelay(from, to);
  const auto most_us = static_cast<std::uint64_t>(disorder / 1us);
  return base + ExtraDelay(from, to) +
         std::chrono::microseconds(StreamOf(sender).UniformInt(most_us + 1));
}

Duration Network::PollRoundTrip(Place from, Place to, std::uint32_t sender) const {
  const config::Distribution& law = CrossesRacks(from, to) ? spec_.cross_rack : spec_.latency;
  const Duration one_way = law.is_constant() && !anew_
                               ? SecondsToDuration(law.a)
                               : NewStream("network/poll", sender).DrawDuration(law);
  return 2 * one_way;
}

bool Network::Lost(Place from, Place to, std::uint32_t sender) {
  const double probability = LossBetween(from, to);
  return probability > 0 && StreamOf(sender).Uniform01() < probability;
}

Duration Network::LongestBadLuck(Duration timeout) const {
  const double answered = (1 - spec_.loss) * (1 - spec_.loss);
  Duration luck{};
  double chance = spec_.loss > 0 ? 1 : 0;
  for (; chance > 1e-9 && luck < 1h; luck += timeout) chance *= 1 - answered;
  return luck;
}

void Network::AddCut(std::uint64_t key, Cut cut) {
  cuts_.emplace_back(key, std::move(cut));
}

void Network::RemoveCut(std::uint64_t key) {
  std::erase_if(cuts_, [key](const auto& entry) { return entry.first == key; });
}

void Network::AddDelay(std::uint64_t key, std::set<Place> places, Duration extra) {
  delays_.push_back({.key = key, .places = std::move(places), .amount = extra});
}

void Network::RemoveDelay(std::uint64_t key) {
  std::erase_if(delays_, [key](const auto& delay) { return delay.key == key; });
}

void Network::AddDisorder(std::uint64_t key, std::set<Place> places, Duration most) {
  disorders_.push_back({.key = key, .places = std::move(places), .amount = most});
}

void Network::RemoveDisorder(std::uint64_t key) {
  std::erase_if(disorders_, [key](const auto& disorder) { return disorder.key == key; });
}

void Network::AddLoss(std::uint64_t key, std::set<Place> places, double probability) {
  losses_.push_back({.key = key, .places = std::move(places), .amount = probability});
}

void Network::RemoveLoss(std::uint64_t key) {
  std::erase_if(losses_, [key](const auto& loss) { return loss.key == key; });
}

double Network::LossBetween(Place a, Place b) const {
  double probability = spec_.loss;
  for (const auto& loss : losses_) {
    if (loss.Touches(a, b)) probability += loss.amount;
  }
  return probability;
}

bool Network::CrossesRacks(Place a, Place b) const {
  // The masters stand in a rack of their own, next to every other: they count as near.
  if (a < 0 || b < 0) return false;
  return rack_of_node_[static_cast<std::size_t>(a)] != rack_of_node_[static_cast<std::size_t>(b)];
}

Duration Network::ExtraDelay(Place a, Place b) const {
  Duration extra{};
  for (const auto& delay : delays_) {
    if (delay.Touches(a, b)) extra += delay.amount;
  }
  return extra;
}

Duration Network::DisorderBetween(Place a, Place b) const {
  Duration most{};
  for (const auto& disorder : disorders_) {
    if (disorder.Touches(a, b)) most += disorder.amount;
  }
  return most;
}

Random& Network::StreamOf(std::uint32_t sender) {
  if (sender >= streams_.size()) streams_.resize(sender + 1);
  std::optional<Random>& stream = streams_[sender];
  if (!stream) stream.emplace(NewStream("network", sender));
  return *stream;
}

Random Network::NewStream(std::string_view name, std::uint32_t sender) const {
  const Random stream(seed_, name, sender);
  return anew_ ? stream.Shaking() : stream;
}

void Network::DrawAnew(std::uint64_t seed) {
  seed_ = seed;
  anew_ = true;
  streams_.clear();
}

}  // namespace tfyarn::sim
