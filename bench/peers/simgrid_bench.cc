// SimGrid in the hold model, by its cheapest events: the engine's timers, whose callbacks set the
// next one. (Its actors cost more: each is a context of its own.) One run per process, as the
// engine cannot be started twice: the program starts itself once for every measurement. Usage:
// simgrid_bench [REPEATS].
#include <cstdio>
#include <cstdlib>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>

#include "bench/hold_model.h"

namespace {

using simgrid::kernel::timer::Timer;
using tfyarn::bench::Gaps;

struct Run {
  Gaps gaps;
  std::size_t left = 0;
  double start = 0;
};

double Later(Run& run) {
  return simgrid::s4u::Engine::get_clock() + static_cast<double>(run.gaps.Next()) * 1e-9;
}

[[noreturn]] void Finish(const Run& run, std::size_t operations) {
  std::printf("%.6f\n",
              (tfyarn::bench::CpuNanoseconds() - run.start) / static_cast<double>(operations));
  std::fflush(stdout);
  std::_Exit(0);
}

void Fire(Run& run, std::size_t operations) {
  if (run.left == 0) Finish(run, operations);
  --run.left;
  Timer::set(Later(run), [&run, operations] { Fire(run, operations); });
  if (run.left % 10 == 0)
    Timer::set(Later(run), [&run, operations] { Fire(run, operations); })->remove();
}

int MeasureOnce(int argc, char** argv, std::size_t pending, std::size_t operations) {
  simgrid::s4u::Engine engine(&argc, argv);
  auto* zone = simgrid::s4u::create_full_zone("zone");
  auto* host = zone->create_host("host", "1Gf")->seal();
  zone->seal();
  simgrid::s4u::Actor::create("keeps the engine alive", host,
                              [] { simgrid::s4u::this_actor::sleep_for(1e9); });
  static Run run;
  run.left = operations;
  for (std::size_t i = 0; i < pending; ++i)
    Timer::set(Later(run), [operations] { Fire(run, operations); });
  run.start = tfyarn::bench::CpuNanoseconds();
  engine.run();
  return 1;
}

double InOwnProcess(const char* self, std::size_t pending) {
  const std::string command =
      std::string(self) + " --once " + std::to_string(pending) + " 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  double value = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &value) != 1) {
    std::fprintf(stderr, "simgrid_bench: %s failed\n", command.c_str());
    std::exit(1);
  }
  pclose(pipe);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  // Its timers are slower by orders of magnitude with many pending; fewer operations keep the wait
  // bearable.
  constexpr std::size_t kOperations = 200'000;
  if (argc == 3 && std::string(argv[1]) == "--once") {
    return MeasureOnce(1, argv, std::strtoul(argv[2], nullptr, 10), kOperations);
  }
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  tfyarn::bench::MeasureHold(
      "SimGrid timers", repeats,
      [&](std::size_t pending, std::size_t, Gaps&) { return InOwnProcess(argv[0], pending); });
}
