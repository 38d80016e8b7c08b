#include "apps/local/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "config/quantity.h"

namespace tfyarn::local {
namespace {

constexpr const char* kProgram = "tfyarn";

/// Options as CLI11 fills them in.
struct Raw {
  RunArguments run;
  RenderArguments render;
  cli::ValidateArguments validate;
  cli::InitArguments init;
  cli::ExplainArguments explain;
  cli::SchemaArguments schema{.which = "job"};
  apps::ConfigArguments config;
  apps::SubmitArguments submit;
  apps::ListArguments list;
  apps::ApplicationArguments application;
  apps::LogsArguments logs;
  apps::DoctorArguments doctor;
  std::vector<std::string> streams;
  apps::HistoryArguments history;
  apps::EventsArguments events;
  std::string config_verb;
  std::string topic;
  std::string ui = "on";
  bool yarn = false;
  std::string submit_dry_run;
  std::string submit_timeout = "10m";
  std::string wait_timeout;  ///< "" = no limit.
  bool version = false;
};

void AddJob(CLI::App& command, std::string& file, std::vector<std::string>& sets) {
  command.add_option("FILE", file, "job.yaml")->required();
  command.add_option("--set", sets, "path=value, overrides the file; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
}

void AddRun(CLI::App& app, RunArguments& run, std::string& ui, bool& yarn) {
  CLI::App& command = *app.add_subcommand("run", "run a job on this machine");
  AddJob(command, run.file, run.sets);
  command
      .add_option("--out", run.out,
                  "directory for logs, result and report (default: tfyarn-runs/NAME-ID)")
      ->type_name("DIR");
  command
      .add_option("--faults", run.faults,
                  "inject the faults of a file with `faults:` as in a scenario of tfsim")
      ->type_name("FILE");
  command.add_flag("--oversubscribe", run.oversubscribe,
                   "run the job even if this machine has less than its tasks request");
  command.add_flag("--dry-run", run.dry_run, "check the job and this machine; start no process");
  command.add_flag("--propagate-exit", run.propagate_exit,
                   "end with the exit code of the process that failed the job, not with 10");
  command.add_flag("--json", run.json, "print the result document in place of logs and verdict");
  command.add_option("--ui", ui, "serve a page during the run: on (default) or off");
  command.add_flag("-q,--quiet", run.quiet, "show no logs and no status line");
  CLI::Option& on_yarn = *command.add_flag(
      "--yarn", yarn, "run the job on the YARN cluster of HADOOP_CONF_DIR: submit --wait");
  for (const char* only_here : {"--out", "--faults", "--oversubscribe", "--propagate-exit", "--ui"})
    on_yarn.excludes(only_here);
}

void AddSubmit(CLI::App& app, apps::SubmitArguments& submit, std::string& dry_run,
               std::string& timeout) {
  CLI::App& command =
      *app.add_subcommand("submit", "run a job on the YARN cluster of HADOOP_CONF_DIR");
  AddJob(command, submit.file, submit.sets);
  command.add_flag("--wait", submit.wait,
                   "wait until the job has ended; the exit code is the job's");
  command.add_flag("--json", submit.json, "print {application, status, diagnostics, exit_code}");
  command.add_flag("-q,--quiet", submit.quiet, "print no progress");
  command
      .add_option("--timeout", timeout,
                  "longest time without an answer of ResourceManager or HDFS before the job is "
                  "accepted (default: 10m)")
      ->type_name("DURATION");
  command.add_flag("--no-check", submit.no_check,
                   "submit the job without a check that the cluster could ever hold it");
  command.add_flag(
      "--dry-run{job}", dry_run,
      "check the job, with --dry-run=cluster also that the cluster could hold it; submit "
      "nothing");
}

/// Names of commands about one application, in the order of the help.
struct NamedVerb {
  const char* name;
  apps::ApplicationVerb verb;
  const char* help;
};
constexpr std::array kApplicationVerbs{
    NamedVerb{"status", apps::ApplicationVerb::kStatus, "show a job of the YARN cluster"},
    NamedVerb{"wait", apps::ApplicationVerb::kWait,
              "wait for a job of the YARN cluster; the exit code is the job's"},
    NamedVerb{"attach", apps::ApplicationVerb::kAttach,
              "show the progress of a job of the YARN cluster, as `submit --wait` does; Ctrl-C "
              "does not kill it"},
    NamedVerb{"kill", apps::ApplicationVerb::kKill, "kill a job of the YARN cluster"}};

void AddApplications(CLI::App& app, Raw& raw) {
  CLI::App& list = *app.add_subcommand("list", "show the jobs of the YARN cluster");
  list.add_flag("-a,--all", raw.list.all, "include jobs that have ended");
  list.add_flag("--json", raw.list.json, "print a list of objects");
  for (const NamedVerb& verb : kApplicationVerbs) {
    CLI::App& command = *app.add_subcommand(verb.name, verb.help);
    command.add_option("ID", raw.application.application, "application_1700000000000_0007")
        ->required();
    command.add_flag("--json", raw.application.json, "print an object");
    if (verb.verb != apps::ApplicationVerb::kWait) continue;
    command
        .add_option("--timeout", raw.wait_timeout,
                    "stay no longer, and end with 6 if the job goes on (default: no limit)")
        ->type_name("DURATION");
  }
}

void AddDoctor(CLI::App& app, apps::DoctorArguments& doctor) {
  CLI::App& command = *app.add_subcommand(
      "doctor", "find what keeps jobs from running on the YARN cluster, with remedies");
  command.add_flag("--json", doctor.json, "print a list of {subject, state, text, advice}");
}

void AddLogs(CLI::App& app, Raw& raw) {
  apps::LogsArguments& logs = raw.logs;
  CLI::App& command = *app.add_subcommand("logs", "show the logs of a job of the YARN cluster");
  command.add_option("ID", logs.application, "application_1700000000000_0007")->required();
  command
      .add_option("--task", logs.selection.task,
                  "only this task (worker:1), or all of a type (worker)")
      ->type_name("TASK");
  command
      .add_option("--attempt", logs.selection.attempt,
                  "only this attempt of each task, counted from 0")
      ->type_name("N");
  command
      .add_option("--stream", raw.streams,
                  "stdout, stderr (default: both), agent or am; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"stdout", "stderr", "agent", "am"}))
      ->type_name("STREAM");
  command.add_flag("-f,--follow", logs.follow, "go on until the job has ended");
  command.add_option("--tail", logs.tail, "begin with the last N lines of each log")
      ->check(CLI::Range(std::int64_t{0}, apps::kMostTail))
      ->type_name("N");
  command.add_flag("--json", logs.json,
                   "print an object {task, attempt, stream, container, line} per line");
}

void AddHistory(CLI::App& app, Raw& raw) {
  apps::HistoryArguments& of = raw.history;
  CLI::App& history = *app.add_subcommand(
      "history", "list jobs that ran on the YARN cluster, or show one, from HDFS");
  history.add_option("ID", of.application,
                     "application_1700000000000_0007; without it, list the jobs");
  const auto add_where = [](CLI::App& command, std::string& user, std::string& directory) {
    command.add_option("--user", user, "the user whose jobs to read (default: you)");
    command.add_option("--dir", directory, "`history.dir` of the jobs, if they have one")
        ->type_name("PATH");
  };
  add_where(history, of.user, of.directory);
  history.add_option("--status", of.status,
                     "only jobs with this status: succeeded, failed, killed, running, unfinished");
  history.add_option("--name", of.name, "only jobs whose name contains this");
  history.add_option("--since", of.days, "only jobs that began in the last DAYS days")
      ->check(CLI::PositiveNumber)
      ->type_name("DAYS");
  history.add_flag("-a,--all", of.all, "list more than the newest 20");
  history.add_flag("--json", of.json, "print a list of objects; with ID, its result.json");
  history.add_flag("--open", of.open, "show the report of ID in a browser")->needs("ID");
  history
      .add_option("--out", of.out,
                  "write all files of ID there: report, result, events, journal and job")
      ->needs("ID")
      ->type_name("DIR");

  CLI::App& events = *app.add_subcommand(
      "events", "show the events of a job of the YARN cluster, during the run and after it");
  events.add_option("ID", raw.events.application, "application_1700000000000_0007")->required();
  add_where(events, raw.events.user, raw.events.directory);
  events.add_flag("-f,--follow", raw.events.follow, "go on until the job has ended");
  events.add_flag("--json", raw.events.json, "print every record, one object per line");
}

void AddOthers(CLI::App& app, Raw& raw) {
  CLI::App& render = *app.add_subcommand(
      "render", "show the effective job, and every task's command and environment");
  AddJob(render, raw.render.file, raw.render.sets);

  CLI::App& validate = *app.add_subcommand("validate", "check job files; run nothing");
  validate.add_option("FILES", raw.validate.files, "job.yaml")->required();
  validate
      .add_option("--set", raw.validate.sets, "path=value, overrides the files; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");

  CLI::App& init = *app.add_subcommand("init", "write a job that trains: job.yaml and train.py");
  init.add_option("DIR", raw.init.directory, "directory to write to (default: the current one)");
  init.add_flag("--force", raw.init.force, "replace existing files");

  CLI::App& explain = *app.add_subcommand("explain", "explain a field or a failure policy");
  explain.add_option("WORDS", raw.explain.words, "a field (gang.hold), or: policy NAME")
      ->required();

  app.add_subcommand("schema", "print a JSON Schema of job.yaml for editors");

  CLI::App& config = *app.add_subcommand(
      "config", "show: the Hadoop configuration in HADOOP_CONF_DIR, as tfyarn reads it");
  config.add_option("VERB", raw.config_verb, "show")->required();
  config.add_option("KEYS", raw.config.keys, "keys of Hadoop (default: all that tfyarn uses)");
  config.add_flag("--origin", raw.config.origin, "show the file and line of each value");
  config.add_flag("--json", raw.config.json, "print a list of {key, value, origin, final}");

  CLI::App& help = *app.add_subcommand("help", "help on a command, or on `exit-codes`");
  help.add_option("TOPIC", raw.topic, "a command, or exit-codes");
}

tl::expected<Duration, cli::UsageError> ParseTimeout(const std::string& command,
                                                     const std::string& text) {
  const auto timeout = config::ParseDuration(text);
  if (timeout) return *timeout;
  return tl::unexpected<cli::UsageError>(
      cli::UsageError{fmt::format("tfyarn {}: --timeout takes a duration such as 30s, and {} {}\n",
                                  command, text, timeout.error().problem)});
}

}  // namespace

tl::expected<Command, cli::UsageError> ParseArguments(const std::vector<std::string>& words,
                                                      const std::string& version) {
  Raw raw;
  CLI::App app("Distributed TensorFlow jobs, on this machine or on YARN.", kProgram);
  app.require_subcommand(0, 1);
  app.add_flag("-V,--version", raw.version, "print the version");
  app.footer("`tfyarn help COMMAND` and `tfyarn help exit-codes` say more.");
  AddRun(app, raw.run, raw.ui, raw.yarn);
  AddSubmit(app, raw.submit, raw.submit_dry_run, raw.submit_timeout);
  AddApplications(app, raw);
  AddLogs(app, raw);
  AddDoctor(app, raw.doctor);
  AddHistory(app, raw);
  AddOthers(app, raw);
  if (auto other = cli::ParseWords(app, kProgram, words, version)) {
    if (!*other) return tl::unexpected<cli::UsageError>(other->error());
    return std::move(**other);
  }
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "run" && raw.yarn) {
    return apps::SubmitArguments{
        .file = raw.run.file,
        .sets = raw.run.sets,
        .wait = true,
        .json = raw.run.json,
        .quiet = raw.run.quiet,
        .dry_run = raw.run.dry_run ? apps::DryRun::kJob : apps::DryRun::kNo};
  }
  if (name == "run") {
    raw.run.page = raw.ui == "on";
    if (raw.ui == "on" || raw.ui == "off") return raw.run;
    return tl::unexpected<cli::UsageError>(
        cli::UsageError{"tfyarn run: --ui takes on or off, not " + raw.ui + "\n"});
  }
  if (name == "submit") {
    const auto timeout = ParseTimeout(name, raw.submit_timeout);
    if (!timeout) return tl::unexpected<cli::UsageError>(timeout.error());
    raw.submit.timeout = *timeout;
    if (raw.submit_dry_run == "job") raw.submit.dry_run = apps::DryRun::kJob;
    if (raw.submit_dry_run == "cluster") raw.submit.dry_run = apps::DryRun::kCluster;
    if (raw.submit.dry_run != apps::DryRun::kNo || raw.submit_dry_run.empty()) return raw.submit;
    return tl::unexpected<cli::UsageError>(cli::UsageError{
        "tfyarn submit: --dry-run takes nothing or =cluster, not " + raw.submit_dry_run + "\n"});
  }
  if (name == "list") return raw.list;
  if (name == "history") return raw.history;
  if (name == "events") return raw.events;
  for (const NamedVerb& verb : kApplicationVerbs) {
    if (name != verb.name) continue;
    raw.application.verb = verb.verb;
    if (raw.wait_timeout.empty()) return raw.application;
    const auto timeout = ParseTimeout(name, raw.wait_timeout);
    if (!timeout) return tl::unexpected<cli::UsageError>(timeout.error());
    raw.application.timeout = *timeout;
    return raw.application;
  }
  if (name == "doctor") return raw.doctor;
  if (name == "logs") {
    for (const std::string& text : raw.streams)
      raw.logs.selection.streams.push_back(*apps::LogStreamFrom(text));
    return raw.logs;
  }
  if (name == "render") return raw.render;
  if (name == "validate") return raw.validate;
  if (name == "init") return raw.init;
  if (name == "explain") return raw.explain;
  if (name == "schema") return raw.schema;
  if (name == "config") {
    if (raw.config_verb == "show") return raw.config;
    return tl::unexpected<cli::UsageError>(
        cli::UsageError{"tfyarn config: it takes `show`, not " + raw.config_verb + "\n"});
  }
  auto help = cli::HelpOn(app, kProgram, raw.topic);
  if (!help) return tl::unexpected<cli::UsageError>(help.error());
  return std::move(*help);
}

}  // namespace tfyarn::local
