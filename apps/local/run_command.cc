#include "apps/local/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/local/local_run.h"
#include "apps/process_environment.h"
#include "config/fault_file.h"
#include "config/fault_kinds.h"
#include "hosts/local/last_watcher.h"
#include "hosts/local/machine.h"

namespace tfyarn::local {
namespace {

/// All runs on this machine lock there.
constexpr const char* kGpuLocks = "/tmp/tfyarn-gpus";

/// False: what is wrong was said.
bool CanBeStaged(const RunArguments& arguments, const JobSpec& job) {
  const std::vector<std::string> missing = cli::MissingFiles(arguments.file, job);
  for (const std::string& problem : missing) cli::Complain(problem);
  if (job.container_image.empty()) return missing.empty();
  cli::Complain(fmt::format(
      "{}: container: images are for YARN's docker runtime; on this machine tasks run as they are. "
      "Leave `container` out here: --set container=",
      arguments.file));
  return false;
}

/// nullopt: what is wrong was said.
std::optional<Admission> Admit(const RunArguments& arguments, const JobSpec& job) {
  Resource capacity = hosts::MachineCapacity();
  const Resource wanted = WantedBy(job);
  std::vector<std::string> gpus;
  if (wanted.gpus > 0) gpus = hosts::FindGpus(apps::OwnEnvironment());
  capacity.gpus = static_cast<std::int64_t>(gpus.size());
  const std::string shortage = FirstShortage(wanted, capacity);
  if (shortage.empty() || arguments.oversubscribe) {
    auto locks =
        hosts::GpuLocks::Take(gpus, static_cast<std::size_t>(std::min(wanted.gpus, capacity.gpus)),
                              kGpuLocks, fmt::format("job {} of process {}", job.name, ::getpid()));
    if (!locks) {
      cli::Complain(locks.error().message);
      return std::nullopt;
    }
    const Resource machine = capacity;
    if (arguments.oversubscribe) capacity = ComponentMax(capacity, wanted);
    // The AM asks YARN for room that it does not use here.
    return Admission{
        .machine = machine, .capacity = capacity + job.am.resource, .gpus = std::move(*locks)};
  }
  cli::Complain(fmt::format(
      "{}: the tasks want {} together, and this machine has {}: too little {}. Ask for less, or "
      "run it all the same with --oversubscribe",
      arguments.file, ToString(wanted), ToString(capacity), shortage));
  return std::nullopt;
}

/// nullopt: what is wrong was said.
std::optional<std::vector<config::FaultSpec>> LoadFaults(const RunArguments& arguments,
                                                         const JobSpec& job) {
  if (arguments.faults.empty()) return std::vector<config::FaultSpec>();
  auto faults = config::LoadRealFaults(arguments.faults, job);
  if (!faults) {
    cli::Explain(faults.error());
    return std::nullopt;
  }
  for (const config::FaultSpec& fault : *faults) {
    const config::FaultKind* kind = config::FindFaultKind(fault.kind);
    if (kind == nullptr || kind->here.effect != config::RealEffect::kFillDisk) continue;
    const auto room = hosts::Ballast::Check(arguments.out.empty() ? "." : arguments.out);
    if (room) continue;
    cli::Complain(fmt::format("{}: {}: {}", arguments.faults, fault.kind, room.error().message));
    return std::nullopt;
  }
  return std::move(*faults);
}

/// What the tasks want, and what the machine has.
std::string DryRunText(const JobSpec& job, const Resource& machine) {
  const Resource wanted = WantedBy(job);
  const std::string shortage = FirstShortage(wanted, machine);
  return fmt::format("{}: {}, {} together; this machine has {}{}\n", job.name,
                     cli::Plural(static_cast<std::uint64_t>(job.task_count()), "task"),
                     ToString(wanted), ToString(machine),
                     shortage.empty() ? "" : fmt::format(": too little {}", shortage));
}

}  // namespace

int RunCommand(const RunArguments& arguments, const std::string& version) {
  auto job =
      config::LoadJobDocument(arguments.file, {.sets = arguments.sets}, config::Host::kMachine);
  if (!job) {
    cli::Explain(job.error());
    return cli::ToInt(cli::ExitCode::kInvalidInput);
  }
  const auto problems = cli::PolicyProblems(arguments.file, job->spec);
  for (const std::string& problem : problems) cli::Complain(problem);
  if (!problems.empty()) return cli::ToInt(cli::ExitCode::kInvalidInput);
  if (!CanBeStaged(arguments, job->spec)) return cli::ToInt(cli::ExitCode::kInvalidInput);
  const auto unknown = cli::ReadSecrets(arguments.file, *job);
  for (const std::string& problem : unknown) cli::Complain(problem);
  if (!unknown.empty()) return cli::ToInt(cli::ExitCode::kInvalidInput);
  if (!arguments.quiet) {
    for (const std::string& remark : cli::Remarks(arguments.file, job->spec)) cli::Complain(remark);
    if (!arguments.json) cli::Tell(job->ignored);
  }
  const std::optional<Admission> admission = Admit(arguments, job->spec);
  if (!admission) return cli::ToInt(cli::ExitCode::kInvalidInput);
  auto faults = LoadFaults(arguments, job->spec);
  if (!faults) return cli::ToInt(cli::ExitCode::kInvalidInput);
  if (arguments.dry_run) {
    const auto written = cli::WriteStdout(DryRunText(job->spec, admission->machine));
    return cli::ToInt(written ? cli::ExitCode::kOk : cli::ExitCode::kInternal);
  }
  auto directory = MakeRunDirectory(arguments.out, job->spec.name);
  if (!directory) {
    cli::Complain(directory.error().message);
    return cli::ToInt(cli::ExitCode::kInvalidInput);
  }
  const int code = hosts::RunWatched([&] {
    LocalRun run(arguments, std::move(*job), std::move(*faults), *directory, *admission, version);
    return run.Run();
  });
  RemoveTemporary(*directory);
  return code;
}

}  // namespace tfyarn::local
