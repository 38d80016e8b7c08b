// All fuzz targets in one program, without libFuzzer: each gets its seeds, and then inputs that are
// drawn by changing them. No coverage leads the changes (the programs of the preset `fuzz` have
// that): it is what a test run can afford, with every input under the sanitizers of its tree.
//
// usage: fuzz_corpus NAME FILE...              each file once
//        fuzz_corpus NAME --seed S --rounds N FILE...   and N changed inputs that follow from S
//        fuzz_corpus NAME --seed S --round R FILE...    only the R-th of those: how a crash comes
//        again
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#define FUZZ_TARGET(name) extern "C" int Fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "tests/fuzz/fuzz_targets.inc"
#undef FUZZ_TARGET

namespace {

using Target = int (*)(const std::uint8_t* data, std::size_t size);

const std::map<std::string_view, Target> kTargets = {
#define FUZZ_TARGET(name) {#name, Fuzz_##name},
#include "tests/fuzz/fuzz_targets.inc"
#undef FUZZ_TARGET
};

void Run(Target target, const std::string& bytes) {
  (void)target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// Draws of one round. Modulo, not a distribution: those differ between standard libraries.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t round) : engine_(seed * 1'000'003 + round) {}
  /// From 0 to below `bound`; 0 where `bound` is 0.
  std::size_t Below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(engine_() % bound);
  }

 private:
  std::mt19937_64 engine_;
};

/// Lengths and numbers at the edges of what fits, as text and as bytes.
std::string EdgeValue(Draws& draws) {
  static const std::vector<std::string> kValues = {std::string(1, '\0'),
                                                   "\x7f",
                                                   "\x80",
                                                   "\xff",
                                                   std::string(4, '\xff'),
                                                   "\x7f\xff\xff\xff",
                                                   "-1",
                                                   "4294967296",
                                                   "1e309",
                                                   "9223372036854775808",
                                                   "\"",
                                                   "[[[[[",
                                                   "{\"a\":",
                                                   "\xc3\x28",
                                                   "\r\n",
                                                   "%00",
                                                   "../",
                                                   "\xef\xbb\xbf"};
  return kValues[draws.Below(kValues.size())];
}

void ChangeOnce(std::string& bytes, const std::vector<std::string>& seeds, Draws& draws) {
  const std::size_t at = draws.Below(bytes.size() + 1);
  const std::size_t length = draws.Below(std::min<std::size_t>(bytes.size() - at, 64) + 1);
  switch (draws.Below(6)) {
    case 0:
      if (at < bytes.size()) {
        bytes[at] =
            static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << draws.Below(8)));
      }
      break;
    case 1:
      bytes.erase(at, length);
      break;
    case 2:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 3:
      bytes.insert(at, EdgeValue(draws));
      break;
    case 4: {
      const std::string value = EdgeValue(draws);
      bytes.replace(at, value.size(), value);
      break;
    }
    case 5: {
      const std::string& other = seeds[draws.Below(seeds.size())];
      bytes = bytes.substr(0, at) + other.substr(draws.Below(other.size() + 1));
      break;
    }
  }
}

std::string Changed(const std::vector<std::string>& seeds, std::uint64_t seed,
                    std::uint64_t round) {
  Draws draws(seed, round);
  std::string bytes = seeds[draws.Below(seeds.size())];
  for (std::size_t left = 1 + draws.Below(8); left > 0; --left) ChangeOnce(bytes, seeds, draws);
  return bytes;
}

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Arguments {
  Target target = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  std::optional<std::uint64_t> round;
  std::vector<std::string> files;
};

std::optional<Arguments> Parse(const std::vector<std::string>& words) {
  Arguments arguments;
  if (words.empty() || !kTargets.contains(words[0])) return std::nullopt;
  arguments.target = kTargets.at(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      arguments.files.push_back(words[i]);
      continue;
    }
    const auto value = i + 1 < words.size() ? Number(words[i + 1]) : std::nullopt;
    if (!value) return std::nullopt;
    if (words[i] == "--seed") {
      arguments.seed = *value;
    } else if (words[i] == "--rounds") {
      arguments.rounds = *value;
    } else if (words[i] == "--round") {
      arguments.round = *value;
    } else {
      return std::nullopt;
    }
    ++i;
  }
  if (arguments.files.empty()) return std::nullopt;
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!arguments) {
    std::fprintf(
        stderr,
        "usage: fuzz_corpus NAME [--seed S (--rounds N | --round R)] FILE...; NAME is one of");
    for (const auto& [name, target] : kTargets)
      std::fprintf(stderr, " %s", std::string(name).c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  std::vector<std::string> seeds;
  for (const std::string& file : arguments->files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!in.is_open() || in.bad()) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 1;
    }
    if (arguments->round) continue;
    // Before: a crash then names its file.
    std::fprintf(stderr, "%s: %zu bytes\n", file.c_str(), seeds.back().size());
    Run(arguments->target, seeds.back());
  }
  const std::uint64_t first = arguments->round.value_or(0);
  const std::uint64_t end = arguments->round ? first + 1 : arguments->rounds;
  for (std::uint64_t round = first; round < end; ++round) {
    std::fprintf(stderr, "round %llu\n", static_cast<unsigned long long>(round));
    Run(arguments->target, Changed(seeds, arguments->seed, round));
  }
  return 0;
}
