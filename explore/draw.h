// Choices of the explorer: whole numbers from one seed, and values drawn with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/random_stream.h"
#include "core/model/time.h"

namespace tfyarn::explore {

class Draw {
 public:
  Draw(std::uint64_t seed, std::string_view name) : stream_(seed, name) {}

  /// In [least, most].
  [[nodiscard]] std::int64_t Whole(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(stream_.Below(static_cast<std::uint64_t>(most - least + 1)));
  }
  [[nodiscard]] bool Percent(int chance) { return Whole(1, 100) <= chance; }
  template <class T>
  [[nodiscard]] const T& Of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(Whole(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  /// Between the two, each order of magnitude equally likely: what matters in a run of minutes may
  /// be a matter of milliseconds. Two digits.
  [[nodiscard]] Duration Time(Duration least, Duration most);

 private:
  RandomStream stream_;
};

}  // namespace tfyarn::explore
