#include "apps/local/init_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "config/load.h"

namespace tfyarn::local {

int InitCommand(const cli::InitArguments& arguments) {
  namespace fs = std::filesystem;
  const fs::path directory(arguments.directory);
  const std::pair<std::string, std::string> files[] = {
      {(directory / "job.yaml").string(), config::InitJobText()},
      {(directory / "train.py").string(), config::InitProgramText()}};
  for (const auto& [path, text] : files) {
    std::error_code error;
    if (arguments.force || !fs::exists(path, error)) continue;
    cli::Complain(fmt::format("{} is there already; --force replaces it", path));
    return cli::ToInt(cli::ExitCode::kInvalidInput);
  }
  for (const auto& [path, text] : files) {
    if (auto written = cli::WriteFile(path, text); !written) {
      cli::Complain(written.error().message);
      return cli::ToInt(cli::ExitCode::kInternal);
    }
  }
  const std::string& job = files[0].first;
  const auto written = cli::WriteStdout(cli::TerminalText(
      fmt::format("wrote {} and {}; next: tfyarn run {}\n", job, files[1].first, job)));
  return cli::ToInt(written ? cli::ExitCode::kOk : cli::ExitCode::kInternal);
}

}  // namespace tfyarn::local
