// tfyarn: runs jobs for real. Arguments in, one command, its exit code out.
#include <algorithm>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/file_commands.h"
#include "apps/cli/output.h"
#include "apps/cli/reference_commands.h"
#include "apps/local/arguments.h"
#include "apps/local/init_command.h"
#include "apps/local/render_command.h"
#include "apps/local/run_command.h"
#include "apps/yarn/application_commands.h"
#include "apps/yarn/config_command.h"
#include "apps/yarn/doctor_command.h"
#include "apps/yarn/history_commands.h"
#include "apps/yarn/logs_command.h"
#include "apps/yarn/submit_command.h"

namespace {

using namespace tfyarn;

struct Dispatch {
  int operator()(const cli::PrintText& print) const {
    const auto written = cli::WriteStdout(print.text);
    if (!written) cli::Complain(written.error().message);
    return cli::ToInt(written ? cli::ExitCode::kOk : cli::ExitCode::kInternal);
  }
  int operator()(const local::RunArguments& arguments) const {
    return local::RunCommand(arguments, TFYARN_VERSION);
  }
  int operator()(const local::RenderArguments& arguments) const {
    return local::RenderCommand(arguments);
  }
  int operator()(const cli::ValidateArguments& arguments) const {
    return cli::ValidateCommand(arguments, config::FileKind::kJob);
  }
  int operator()(const cli::InitArguments& arguments) const {
    return local::InitCommand(arguments);
  }
  int operator()(const cli::ExplainArguments& arguments) const {
    return cli::ExplainCommand(arguments, config::FileKind::kJob);
  }
  int operator()(const cli::SchemaArguments& arguments) const {
    return cli::SchemaCommand(arguments);
  }
  int operator()(const apps::SubmitArguments& arguments) const {
    return apps::SubmitCommand(arguments, TFYARN_VERSION);
  }
  int operator()(const apps::ListArguments& arguments) const {
    return apps::ListCommand(arguments);
  }
  int operator()(const apps::ApplicationArguments& arguments) const {
    return apps::ApplicationCommand(arguments, TFYARN_VERSION);
  }
  int operator()(const apps::LogsArguments& arguments) const {
    return apps::LogsCommand(arguments);
  }
  int operator()(const apps::DoctorArguments& arguments) const {
    return apps::DoctorCommand(arguments);
  }
  int operator()(const apps::HistoryArguments& arguments) const {
    return apps::HistoryCommand(arguments, TFYARN_VERSION);
  }
  int operator()(const apps::EventsArguments& arguments) const {
    return apps::EventsCommand(arguments);
  }
  int operator()(const apps::ConfigArguments& arguments) const {
    return apps::ConfigCommand(arguments);
  }
};

int Main(const std::vector<std::string>& words) {
  const auto command = local::ParseArguments(words, TFYARN_VERSION);
  if (!command) {
    cli::WriteStderr(cli::TerminalText(command.error().message));
    return cli::ToInt(cli::ExitCode::kUsage);
  }
  return std::visit(Dispatch{}, *command);
}

}  // namespace

int main(int argc, char** argv) {
  cli::PrepareStandardStreams();
  cli::SetProgram("tfyarn");
  try {
    return Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    cli::WriteStderr("tfyarn: out of memory\n");
  }
  return cli::ToInt(cli::ExitCode::kInternal);
}
