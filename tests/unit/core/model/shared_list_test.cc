#include "core/model/shared_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tfyarn::shared_list_test {
namespace {

std::vector<int> UpTo(std::size_t n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<int> Elements(const SharedList<int>& list) {
  return {list.begin(), list.end()};
}

TEST(SharedListTest, IsTheVectorItWasMadeFrom) {
  for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 64U, 1000U}) {
    const SharedList<int> list(UpTo(n));
    EXPECT_EQ(Elements(list), UpTo(n));
    EXPECT_EQ(list.size(), n);
    EXPECT_EQ(list.empty(), n == 0);
    EXPECT_EQ(list.end() - list.begin(), static_cast<std::ptrdiff_t>(n));
  }
  EXPECT_EQ(SharedList<int>(UpTo(100))[57], 57);
}

TEST(SharedListTest, CanBeSearched) {
  const SharedList<int> list(UpTo(1000));
  for (const int wanted : {0, 31, 32, 500, 999}) {
    const auto at = std::lower_bound(list.begin(), list.end(), wanted);
    ASSERT_NE(at, list.end());
    EXPECT_EQ(*at, wanted);
  }
  EXPECT_EQ(std::lower_bound(list.begin(), list.end(), 1000), list.end());
}

TEST(SharedListTest, AChangedListSharesTheBlocksThatDidNotChange) {
  const SharedList<int> list(UpTo(100));
  const SharedList<int> changed = list.With({{40, -1}, {41, -2}, {40, -3}});
  std::vector<int> wanted = UpTo(100);
  wanted[40] = -3;
  wanted[41] = -2;
  EXPECT_EQ(Elements(changed), wanted);
  EXPECT_EQ(Elements(list), UpTo(100)) << "no holder of the old list may see the change";
  ASSERT_EQ(changed.blocks().size(), 4U);
  EXPECT_EQ(changed.blocks()[0], list.blocks()[0]);
  EXPECT_NE(changed.blocks()[1], list.blocks()[1]);
  EXPECT_EQ(changed.blocks()[2], list.blocks()[2]);
  EXPECT_EQ(changed.blocks()[3], list.blocks()[3]);
  EXPECT_EQ(list.With({}).blocks(), list.blocks());
}

TEST(SharedListDeathTest, AChangeBeyondTheEndIsRefused) {
  const SharedList<int> list(UpTo(3));
  EXPECT_DEATH((void)list.With({{3, 0}}), "place < size_");
}

}  // namespace
}  // namespace tfyarn::shared_list_test
