// What generator_test.py makes mutants of: a site of each kind, and some that no compiler takes.
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using Duration = std::chrono::nanoseconds;

#define TF_CHECK(condition) \
  if (!(condition)) return 9

#define TF_PROBE(name) ((void)0)

namespace {

constexpr Duration kPatience = 5s;
constexpr int kSizeOfAnArray = 3;

template <typename T, typename U>
bool Same(T a, U b) {
  return a == b;
}

int Minus(int a, int b) {
  return a - b;
}

void Add(std::vector<int>& to, int what) {
  if (what < 0) return to.clear();
  to.push_back(what);
}

bool IsLate(Duration waited, bool patient) {
  if (patient && waited > 1s) return false;
  return waited > kPatience;
}

void CheckFailed(const char*) {}

std::string Named(bool first) {
  const std::string name = first ? "four" : "fives";
  if (name.size() == 4) TF_PROBE("short-name");
  if (name.empty()) CheckFailed("a name without letters");
  return name.size() > 4 ? name : std::string("short");
}

}  // namespace

int main() {
  std::array<int, kSizeOfAnArray> numbers{0, 1, 2};
  std::vector<int> list;
  bool odd = false;
  for (int i = 0; i < kSizeOfAnArray; ++i) {
    Add(list, Minus(numbers[i] * 3, i));
    odd = !odd;
  }
  TF_CHECK(list.size() < 10);
  if (const auto size = list.size()) list[0] += static_cast<int>(size);
  Add(list, 7);
  std::printf("%zu %d %d %d", list.size(), list[0], Minus(list[1], 4), odd ? 1 : 2);
  for (const Duration waited : {1000ms, 1500ms, 5000ms, 9000ms})
    std::printf(" %d%d", IsLate(waited, true), IsLate(waited, false));
  std::printf(" %s %s %d %d\n", Named(true).c_str(), Named(false).c_str(), list.back(),
              Same(list[0], list[1]));
  Add(list, -1);
  return !list.empty() || !odd ? 1 : 0;
}
