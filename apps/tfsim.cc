// tfsim: runs scenarios in simulated time. Arguments in, one command, its exit code out.
#include <algorithm>
#include <new>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/compare_commands.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/explain_job.h"
#include "apps/cli/file_commands.h"
#include "apps/cli/output.h"
#include "apps/cli/reference_commands.h"
#include "apps/cli/run_command.h"
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
};

}  // namespace

namespace {

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
  try {
    return Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    cli::WriteStderr("tfsim: out of memory\n");
  }
  return cli::ToInt(cli::ExitCode::kInternal);
}
