// The command line of tfyarn, as plain values.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/command_line.h"
#include "apps/yarn/application_commands.h"
#include "apps/yarn/config_command.h"
#include "apps/yarn/doctor_command.h"
#include "apps/yarn/history_commands.h"
#include "apps/yarn/logs_command.h"
#include "apps/yarn/submit_command.h"

namespace tfyarn::local {

struct RunArguments {
  std::string file;
  std::vector<std::string> sets;  ///< path=value
  std::string out;                ///< Run directory; "" = below tfyarn-runs.
  std::string faults;             ///< File of what goes wrong; "" = nothing.
  bool oversubscribe = false;     ///< Run what does not fit into this machine.
  bool dry_run = false;           ///< Check, and say what would be run.
  bool propagate_exit = false;    ///< End with the cause's own exit code.
  bool json = false;              ///< The result document on stdout, in place of logs and verdict.
  bool page = true;               ///< Show the run on a page while it goes on.
  bool quiet = false;             ///< Neither logs nor status line.
};

struct RenderArguments {
  std::string file;
  std::vector<std::string> sets;
};

using Command = std::variant<cli::PrintText, RunArguments, RenderArguments, cli::ValidateArguments,
                             cli::InitArguments, cli::ExplainArguments, cli::SchemaArguments,
                             apps::ConfigArguments, apps::SubmitArguments, apps::ListArguments,
                             apps::ApplicationArguments, apps::LogsArguments, apps::DoctorArguments,
                             apps::HistoryArguments, apps::EventsArguments>;

/// `words`: without the program's name.
[[nodiscard]] tl::expected<Command, cli::UsageError> ParseArguments(
    const std::vector<std::string>& words, const std::string& version);

}  // namespace tfyarn::local
