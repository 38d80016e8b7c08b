// The fields of job.yaml itself, and what they inherit.
#include "config/job_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/names.h"
#include "config/resource_table.h"

namespace tfyarn::config {
namespace {

/// `tasks`: a map whose order is kept.
Type<std::vector<TaskTypeSpec>> Tasks() {
  TypeInfo info{.shape = Shape::kMap,
                .text = "map from task type to its fields",
                .pattern = TaskTypeKeys().pattern,
                .of = {Of(TaskTable).info}};
  return {.info = std::move(info),
          .read =
              [](Decoder& decoder, const Node& node, std::vector<TaskTypeSpec>& out) {
                out.clear();
                if (!node.is_map() || node.entries.empty()) {
                  if (decoder.complete())
                    decoder.Wrong(node, "a map from task types to their fields");
                  return;
                }
                for (const Entry& entry : node.entries) {
                  if (!CheckKey(decoder, entry, TaskTypeKeys())) continue;
                  TaskTypeSpec task{.name = entry.key};
                  task.resource.vcores = 1;
                  TaskTable().Read(decoder, entry.value, task);
                  out.push_back(std::move(task));
                }
              },
          .show = [](const std::vector<TaskTypeSpec>&) { return std::string(); }};
}

const Record<ArchiveSpec>& ArchiveTable() {
  static const Record<ArchiveSpec> table = [] {
    Record<ArchiveSpec> record(
        "archive", "An archive that is unpacked into the work directory of every task.");
    record.Field("path", &ArchiveSpec::path, SomeText(), "The archive.", {.required = true});
    record.Field("as", &ArchiveSpec::as, TextLike("", "a relative path", IsRelativePath),
                 "The directory it is unpacked to.", {.default_text = "its name without suffix"});
    return record;
  }();
  return table;
}

Type<ArchiveSpec> Archive() {
  return {.info = AnyOf("path, or {path, as}", {SomeText().info, Of(ArchiveTable).info}),
          .read =
              [](Decoder& decoder, const Node& node, ArchiveSpec& out) {
                if (node.is_scalar()) {
                  SomeText().read(decoder, node, out.path);
                } else {
                  ArchiveTable().Read(decoder, node, out);
                }
                if (out.as.empty()) out.as = ArchiveName(out.path);
              },
          .show = [](const ArchiveSpec& archive) { return archive.path; }};
}

/// `python: {archive: env.tar.gz}`, or `{archive: {worker: gpu.tar.gz, ps: cpu.tar.gz}}`.
void ReadPython(Decoder& decoder, const Node& node, JobDraft& out) {
  struct Python {
    std::map<std::string, std::string> archives;
  };
  static const Type<std::map<std::string, std::string>> by_type = MapOf(TaskTypeKeys(), SomeText());
  static const Record<Python> table = [] {
    Record<Python> record("python", "The Python that tasks run with.");
    record.Custom("archive",
                  AnyOf("path, or a map from task type to path", {SomeText().info, by_type.info}),
                  "A packed venv or conda environment whose bin/ comes first in PATH.",
                  [](Decoder& inner, const Node& value, Python& python) {
                    if (value.is_map()) return by_type.read(inner, value, python.archives);
                    SomeText().read(inner, value, python.archives[""]);
                  },
                  {.required = true});
    return record;
  }();
  Python python;
  table.Read(decoder, node, python);
  out.spec.python_archives = std::move(python.archives);
}

TypeInfo PythonInfo() {
  return {.shape = Shape::kMap,
          .text = "{archive: path, or a map from task type to path}",
          .pattern = "^archive$",
          .of = {AnyOf("path, or a map from task type to path",
                       {SomeText().info, MapOf(TaskTypeKeys(), SomeText()).info})}};
}

void ReadSuccess(Decoder& decoder, const Node& node, JobDraft& out) {
  if (!node.is_scalar()) return decoder.Wrong(node, "an expression like ok(chief)");
  auto expression = ParseSuccess(node.text);
  if (expression) {
    out.spec.success = std::move(*expression);
    return;
  }
  // The place inside the text, where the text stands in the file as it is.
  const std::size_t offset = expression.error().offset + (node.quoted ? 1 : 0);
  Place place = node.place;
  const bool plain =
      node.end.line == node.place.line && node.width() == node.text.size() + (node.quoted ? 2 : 0);
  if (plain) place.col += static_cast<std::uint32_t>(offset);
  decoder.ErrorAt(
      place, 1, fmt::format("`success`: {}", Printable(expression.error().message, 200)),
      {"allowed: ok(T), any(T), done(T), ok(T:INDEX), count(T) >= N, failed(T) < N; and, or, ( )"});
}

constexpr const char* kNoQueues = "it has no queues";

struct Container {
  std::string image;
};
const Record<Container>& ContainerTable() {
  static const Record<Container> table = [] {
    Record<Container> record("container", "YARN's docker runtime.");
    record.Field(
        "image", &Container::image,
        TextLike("^[a-z0-9][A-Za-z0-9._/:@-]*$", "an image like repo/tf:2",
                 [](std::string_view text) {
                   return !text.empty() &&
                          ((text[0] >= 'a' && text[0] <= 'z') ||
                           (text[0] >= '0' && text[0] <= '9')) &&
                          std::all_of(text.begin(), text.end(), [](char c) {
                            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                   (c >= '0' && c <= '9') ||
                                   std::string_view("._/:@-").find(c) != std::string_view::npos;
                          });
                 }),
        "The image every task runs in. On one machine an error that says so.", {.required = true});
    return record;
  }();
  return table;
}

const Record<SecretSource>& SecretTable() {
  static const Record<SecretSource> table = [] {
    Record<SecretSource> record(
        "secret", "Where the value of a secret variable comes from: `env` or `file`.");
    record.Field(
        "env", &SecretSource::env,
        TextLike("^[A-Za-z_][A-Za-z0-9_]*$", "a name of a variable", EnvironmentKeys().matches),
        "A variable of the environment in which the job is submitted.", {.example = "HF_TOKEN"});
    record.Field("file", &SecretSource::file, SomeText(),
                 "A file; a path that is relative is looked for beside job.yaml. A line's end at "
                 "the end of the file is no part of the value.",
                 {.example = "db-password.txt"});
    record.Checked([](Decoder& decoder, const Node& node, const SecretSource& secret) {
      if (secret.env.empty() == secret.file.empty())
        decoder.Error(node, "a secret wants one of `env` and `file`");
    });
    return record;
  }();
  return table;
}

void AddIdentity(Record<JobDraft>& record) {
  record.Custom("schema", Word({"tfyarn.job/v1"}).info,
                "Which version of this description the file follows.",
                [](Decoder& decoder, const Node& node, JobDraft&) {
                  (void)ReadChoice(decoder, node, {"tfyarn.job/v1"});
                },
                {.example = "tfyarn.job/v1"});
  record.Field("name", &JobDraft::spec, &JobSpec::name, JobName(), "The job's name.",
               {.example = "mnist", .required = true});
  record.Field("user", &JobDraft::spec, &JobSpec::user, PlainName(),
               "Who submits it; queues limit users. A cluster without Kerberos believes any name; "
               "HADOOP_USER_NAME, where it is set, must be the same.",
               {.default_text = "HADOOP_USER_NAME, or who runs the command; `user` in a scenario",
                .ignored_by = {{Host::kMachine, "tasks run as the user who runs the command"}}});
  record.Field("queue", &JobDraft::spec, &JobSpec::queue, QueueName(),
               "The YARN queue, by its path or its last part.",
               {.example = "root.ml", .ignored_by = {{Host::kMachine, kNoQueues}}});
  record.Field("priority", &JobDraft::spec, &JobSpec::priority, Count(0, 1'000'000),
               "Higher goes first within a queue.", {.ignored_by = {{Host::kMachine, kNoQueues}}});
  record.Field("tags", &JobDraft::spec, &JobSpec::tags, ListOf(SomeText()),
               "Words by which YARN can find it.",
               {.example = "[nightly]",
                .ignored_by = {{Host::kMachine, "nothing there looks for jobs by their tags"}}});
  record.Field("framework", &JobDraft::spec, &JobSpec::framework, Choice<Framework>(),
               "What tells each process of the cluster, besides TFYARN_*: `tensorflow`: TF_CONFIG; "
               "`pytorch`: MASTER_ADDR, RANK, WORLD_SIZE, ...; `horovod`: HOROVOD_*; `generic`: "
               "nothing more.");
  record.Field("strategy", &JobDraft::strategy, Maybe(Choice<Strategy>()),
               "Which tasks training needs at once: `parameter-server`: every ps, the chief and a "
               "worker; `multi-worker`: every tracked task, as in a collective; `independent`: "
               "each task trains alone.",
               {.default_text = "parameter-server when there is a ps, else multi-worker"});
  record.Custom(
      "compat", Word({"tony"}).info,
      "`tony`: TonY's environment variables as well (JOB_NAME, TASK_INDEX, CLUSTER_SPEC, ...).",
      [](Decoder& decoder, const Node& node, JobDraft& draft) {
        draft.spec.compat_tony = ReadChoice(decoder, node, {"tony"}) == 0;
      },
      {.example = "tony", .ignored_by = Simulated(kNoProcess)});
}

void AddProgram(Record<JobDraft>& record) {
  record.Field("tasks", &JobDraft::spec, &JobSpec::tasks, Tasks(),
               "The task types, by name, in the order of the file.",
               {.example = "{worker: {instances: 3, memory: 4GiB}}", .required = true});
  record.Field("command", &JobDraft::command, ListOf(Text()),
               "For every task type without a command of its own.",
               {.example = "[python3, train.py]", .ignored_by = Simulated(kNoCommand)});
  record.Field("shell", &JobDraft::shell, SomeText(),
               "A line for the shell, in place of `command`.",
               {.ignored_by = Simulated(kNoCommand)});
  record.Field("files", &JobDraft::spec, &JobSpec::files, ListOf(SomeText()),
               "Files, and directories with all that is in them, that are put into the work "
               "directory of every task, each under its last name. Two of one name, and names that "
               "tfyarn (.tfyarn*) or YARN needs there, are errors.",
               {.example = "[train.py]", .ignored_by = Simulated(kNoFiles)});
  record.Field("archives", &JobDraft::spec, &JobSpec::archives, ListOf(Archive()),
               "Unpacked into the work directory of every task.",
               {.example = "[{path: env.tar.gz, as: env}]", .ignored_by = Simulated(kNoFiles)});
  record.Custom(
      "python", PythonInfo(), "A packed venv or conda environment whose bin/ comes first in PATH.",
      ReadPython,
      {.example = "{archive: env.tar.gz}", .ignored_by = Simulated("no Python runs there")});
  record.Custom(
      "container", Of(ContainerTable).info, "YARN's docker runtime.",
      [](Decoder& decoder, const Node& node, JobDraft& draft) {
        Container container;
        ContainerTable().Read(decoder, node, container);
        draft.spec.container_image = container.image;
      },
      {.example = "{image: repo/tf:2}", .ignored_by = Simulated("no image is started there")});
  record.Field("env", &JobDraft::spec, &JobSpec::env, MapOf(EnvironmentKeys(), Text()),
               "Variables for every process. Values of names with PASSWORD, PASSWD, TOKEN, SECRET, "
               "CREDENTIAL or KEY in them (in whatever case) are secrets: stars stand for them "
               "wherever the job is shown or kept.",
               {.ignored_by = Simulated(kNoProcess)});
  record.Field("secrets", &JobDraft::spec, &JobSpec::secrets,
               MapOf(EnvironmentKeys(), Of(SecretTable)),
               "Variables for every process whose values are not in this file, and are never shown "
               "or kept.",
               {.example = "{HF_TOKEN: {env: HF_TOKEN}, DB_PASSWORD: {file: db-password.txt}}",
                .ignored_by = Simulated(kNoProcess)});
}

void AddRules(Record<JobDraft>& record) {
  record.Field(
      "gang", &JobDraft::spec, &JobSpec::gang, Of(GangTable),
      "Gang scheduling: how the containers of tasks that must run together are allocated.");
  record.Field("policy", &JobDraft::spec, &JobSpec::policy, Policy(),
               "The failure policy: what the end of a task leads to.",
               {.example = "{name: tony, fail_on_worker_failure: true}"});
  record.Field("on_exit", &JobDraft::spec, &JobSpec::on_exit, ListOf(Of(ExitRuleTable)),
               "Own rules in front of the policy's; the first match wins.",
               {.example = "[{task: worker, exit: [75], do: restart-gang, pays: infrastructure}]"});
  record.Field("depends", &JobDraft::spec, &JobSpec::depends, ListOf(Of(DependencyTable)),
               "Order between task types.",
               {.example = "[{task: evaluator, after: chief, state: running}]"});
  record.Custom("success", SomeText().info,
                "When the job has succeeded: ok(TYPE) all of it, any(TYPE), done(TYPE), "
                "ok(TYPE:INDEX), count(TYPE) >= N, "
                "failed(TYPE) < N; TYPE may be `tracked`; joined by and, or.",
                ReadSuccess, {.example = "\"ok(chief)\"", .default_text = "the policy's"});
  record.Field("retries", &JobDraft::spec, &JobSpec::retries, Of(RetryTable),
               "Restart budgets: how often things are started again.");
  record.Field("finish", &JobDraft::spec, &JobSpec::finish, Of(FinishTable),
               "What happens once success is decided.");
  record.Field("deadlines", &JobDraft::spec, &JobSpec::deadlines, Of(DeadlineTable),
               "How long things may take.");
  record.Field("heartbeat", &JobDraft::spec, &JobSpec::heartbeat, Of(HeartbeatTable),
               "From the agent in each container to the ApplicationMaster.");
  record.Field("watch", &JobDraft::spec, &JobSpec::watch, Maybe(Of(WatchTable)),
               "Looks for progress; off by default.",
               {.example = "{progress: \"step (\\\\d+)\", stalled: 10m, do: restart-gang}"});
  record.Field("am", &JobDraft::spec, &JobSpec::am, Of(AmTable),
               "The ApplicationMaster's own container.");
  Record<JobDraft> history("history", "What is kept after the job.");
  history.Field("keep", &JobDraft::spec, &JobSpec::history_keep, Time(),
                "How long. On YARN each job, at its end, removes from its `dir` what is older.");
  history.Field(
      "dir", &JobDraft::spec, &JobSpec::history_directory,
      TextLike("^/", "an absolute path of HDFS",
               [](std::string_view path) { return path.starts_with('/'); }),
      "On YARN: the directory of HDFS with a directory for each application.",
      {.example = "/shared/tfyarn/history", .default_text = "/user/USER/.tfyarn/history"});
  record.Group("history", std::move(history),
               {.ignored_by = {{Host::kSimulator, "`--out` says what is kept of a run"},
                               {Host::kMachine,
                                "`--out` says where a run is kept, and nothing "
                                "removes it"}}});
}

}  // namespace

IgnoredBy Simulated(std::string why) {
  return {{Host::kSimulator, std::move(why)}};
}

const Record<JobDraft>& JobTable() {
  static const Record<JobDraft> table = [] {
    Record<JobDraft> record("job", "A training job.");
    AddIdentity(record);
    AddProgram(record);
    AddRules(record);
    record.CheckedAnyway(CheckJob);
    return record;
  }();
  return table;
}

std::string ArchiveName(std::string_view path) {
  std::string_view name =
      path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  for (const std::string_view suffix :
       {".tar.gz", ".tgz", ".tar", ".zip", ".jar", ".tar.zst", ".tar.xz"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return std::string(name.substr(0, name.size() - suffix.size()));
  }
  return std::string(name);
}

JobSpec Complete(JobDraft draft) {
  JobSpec spec = std::move(draft.spec);
  const bool has_ps = spec.FindType("ps") != nullptr;
  spec.strategy =
      draft.strategy.value_or(has_ps ? Strategy::kParameterServer : Strategy::kMultiWorker);
  for (TaskTypeSpec& task : spec.tasks) {
    // A tensorboard with a directory to show is a program of ours.
    if (!task.command.empty() || !task.shell.empty() || !task.logdir.empty()) continue;
    task.command = draft.command;
    task.shell = draft.shell;
  }
  // An environment for Python is an archive like others.
  for (const auto& entry : spec.python_archives) {
    const std::string& path = entry.second;
    const bool named = std::any_of(spec.archives.begin(), spec.archives.end(),
                                   [&](const ArchiveSpec& other) { return other.path == path; });
    if (!named) spec.archives.push_back({.path = path, .as = ArchiveName(path)});
  }
  return spec;
}

JobConfig Complete(SimulatedJobDraft draft) {
  JobConfig config = std::move(draft.config);
  config.spec = Complete(std::move(draft.job));
  if (config.spec.user.empty()) config.spec.user = "user";
  return config;
}

}  // namespace tfyarn::config
