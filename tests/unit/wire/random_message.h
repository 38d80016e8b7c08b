// Messages with random values in every described field, as far as a field may have them: what the
// two ends may say to each other.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/channel.h"
#include "core/model/describe.h"
#include "core/model/random_stream.h"

namespace tfyarn::wire {

class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : random_(seed, "messages") {}

  /// Alternative `index` of `Message`.
  template <class Message>
  [[nodiscard]] Message Make(std::size_t index) {
    Message message;
    boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<Message>>>([&](auto i) {
      if (i == index) Fill(message.template emplace<i>());
    });
    return message;
  }

  [[nodiscard]] SpecRef Spec() {
    ClusterSpec spec{.epoch = Epoch(Number<std::uint32_t>()), .tasks = {}};
    const std::uint64_t types = random_.Below(4);
    for (std::uint64_t type = 0; type < types; ++type) {
      auto& tasks = spec.tasks[TaskType()];
      tasks.resize(random_.Below(5));
      for (HostPort& task : tasks) Fill(task);
    }
    return Share(std::move(spec));
  }

 private:
  bool Coin() { return random_.Below(2) == 0; }

  template <class I>
  I Number() {
    constexpr std::uint64_t kMost = static_cast<std::uint64_t>(std::numeric_limits<I>::max());
    switch (random_.Below(4)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<I>::max();
      case 2:
        return static_cast<I>(random_.Below(300));
      default:
        return static_cast<I>(random_.Next() & kMost);
    }
  }
  std::string Of(std::string_view characters, std::size_t least, std::size_t most) {
    std::string text(least + random_.Below(most - least + 1), ' ');
    for (char& c : text) c = characters[random_.Below(characters.size())];
    return text;
  }
  std::string Bytes() {
    std::string bytes(random_.Below(40), ' ');
    for (char& c : bytes) c = static_cast<char>(random_.Next());
    return bytes;
  }
  std::string TaskType() { return "t" + Of("abcdefghijklmnopqrstuvwxyz0123456789_-", 0, 12); }

  void Fill(HostPort& address) {
    address.port = static_cast<std::int32_t>(random_.Below(65536));
    address.host = Of("abcXYZ012.:%-_", address.port == 0 ? 0 : 1, 20);
  }
  void Fill(PortUse& use) {
    Fill(use.listener);
    use.elsewhere.resize(random_.Below(5));
    for (std::int32_t& port : use.elsewhere)
      port = static_cast<std::int32_t>(1 + random_.Below(65535));
  }
  void Fill(TaskId& task) {
    task.type = TaskType();
    task.index = Number<std::int32_t>();
  }
  void Fill(ProcessExit& exit) {
    if (Coin()) {
      exit.code = static_cast<std::int32_t>(random_.Below(256));
    } else {
      exit.signal = static_cast<std::int32_t>(1 + random_.Below(64));
    }
    exit.out_of_memory = Coin();
    exit.stopped_by_agent = Coin();
  }
  void Fill(RegisterAgent& message) {
    Fill(message.fence);
    Fill(message.address);
    if (Coin()) Fill(message.running.emplace());
    if (Coin()) {
      Fill(message.ended.emplace());
      Fill(message.exit.emplace());
    }
    if (!Coin()) return;
    Fill(message.stood.emplace().process);
    Fill(message.stood->standstill);
    if (Coin()) message.stood->ago = Duration(static_cast<std::int64_t>(random_.Below(1U << 30U)));
  }
  template <class T>
  void Fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = Coin();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = Bytes();
    } else if constexpr (std::is_integral_v<T>) {
      value = Number<T>();
    } else if constexpr (std::is_same_v<T, SpecRef>) {
      value = Spec();
    } else if constexpr (StrongNumber<T>) {
      value = T(Number<typename T::rep>());
    } else if constexpr (kIsDuration<T>) {
      value = T(Number<typename T::rep>());
    } else if constexpr (DescribedEnum<T>) {
      constexpr auto kCount = boost::mp11::mp_size<boost::describe::describe_enumerators<T>>::value;
      value = static_cast<T>(random_.Below(kCount));
    } else {
      ForEachMember(value, [&](std::string_view, auto& member) { Fill(member); });
    }
  }

  RandomStream random_;
};

}  // namespace tfyarn::wire
