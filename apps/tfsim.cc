// tfsim: runs scenarios in simulated time. Arguments in, one command, its exit code out.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/compare_commands.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/explain_job.h"
#include "apps/cli/explore_command.h"
#include "apps/cli/file_commands.h"
#include "apps/cli/output.h"
#include "apps/cli/reference_commands.h"
#include "apps/cli/run_command.h"
#include "apps/cli/why_command.h"
#include "sim/run.h"

namespace {

using namespace tfyarn;

struct Dispatch {
  const cli::Simulator& simulator;

  int operator()(const cli::PrintText& print) const {
    const auto written = cli::WriteStdout(print.text);
    if (!written) cli::Complain(written.error().message);
    return cli::ToInt(written ? cli::ExitCode::kOk : cli::ExitCode::kInternal);
  }
  int operator()(const cli::RunArguments& arguments) const {
    return cli::RunCommand(arguments, simulator);
  }
  int operator()(const cli::ValidateArguments& arguments) const {
    return cli::ValidateCommand(arguments);
  }
  int operator()(const cli::ExplainArguments& arguments) const {
    return cli::ExplainCommand(arguments);
  }
  int operator()(const cli::ExplainJobArguments& arguments) const {
    return cli::ExplainJobCommand(arguments, simulator);
  }
  int operator()(const cli::SchemaArguments& arguments) const {
    return cli::SchemaCommand(arguments);
  }
  int operator()(const cli::InitArguments& arguments) const { return cli::InitCommand(arguments); }
  int operator()(const cli::FaultsArguments& arguments) const {
    return cli::FaultsCommand(arguments);
  }
  int operator()(const cli::ReplayArguments& arguments) const {
    return cli::ReplayCommand(arguments, simulator);
  }
  int operator()(const cli::DiffArguments& arguments) const {
    return cli::DiffCommand(arguments, simulator);
  }
  int operator()(const cli::ExploreArguments& arguments) const {
    return cli::ExploreCommand(arguments, simulator);
  }
  int operator()(const cli::WhyArguments& arguments) const {
    return cli::WhyCommand(arguments, simulator);
  }
};

}  // namespace

namespace {

/// Has the kernel back the heap with huge pages, where it does so on request (transparent_hugepage:
/// madvise): page faults took a tenth of a large run's time. It is what glibc does when started
/// with GLIBC_TUNABLES=glibc.malloc.hugetlb=1, for the heap's first 256 MiB. Memory that nothing
/// touches costs nothing. Where the heap does not grow by that much (another malloc, as under
/// sanitizers; a limit), all stays as it is.
void UseHugePages() {
  constexpr int kMebibyte = 1 << 20;
  constexpr int kAtOnce = 256 * kMebibyte;
  constexpr std::uintptr_t kHugePage = 2 * kMebibyte;
  // Set by hand these no longer follow what is freed: large blocks would come from mmap each time.
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMebibyte);
  ::mallopt(M_TRIM_THRESHOLD, kAtOnce);
  ::mallopt(M_TOP_PAD, kAtOnce);
  const auto begin = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  void* volatile block = std::malloc(kMebibyte);  // volatile: or the compiler leaves it out
  std::free(block);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  ::mallopt(M_TOP_PAD, kMebibyte);
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

int Main(const std::vector<std::string>& words) {
  const cli::Simulator simulator{.run = sim::RunScenario, .version = TFYARN_VERSION};
  const auto command = cli::ParseArguments(words, TFYARN_VERSION);
  if (!command) {
    cli::WriteStderr(cli::TerminalText(command.error().message));
    return cli::ToInt(cli::ExitCode::kUsage);
  }
  return std::visit(Dispatch{simulator}, *command);
}

}  // namespace

int main(int argc, char** argv) {
  cli::PrepareStandardStreams();
  UseHugePages();
  try {
    return Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    cli::WriteStderr("tfsim: out of memory\n");
  }
  return cli::ToInt(cli::ExitCode::kInternal);
}
