// The suite's arguments: GoogleTest's, and how many sequences are tried, from which seed.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/contract/sequences.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  tfyarn::contract::SequenceOptions& options = tfyarn::contract::Sequenced();
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    char* end = nullptr;
    const std::uint64_t value = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 10) : 0;
    const bool number = end != nullptr && *end == '\0' && *argv[i + 1] != '\0';
    if (!number || (name != "--sequences" && name != "--seed")) {
      std::fprintf(stderr, "usage: yarn_contract [--gtest_...] [--sequences N] [--seed S]\n");
      return 2;
    }
    (name == "--seed" ? options.seed : options.count) = value;
  }
  return RUN_ALL_TESTS();
}
