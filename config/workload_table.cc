// What a scenario says of a job beyond job.yaml: when it comes, how it trains, what its processes
// do.
#include <fmt/format.h>

#include "config/job_table.h"
#include "config/names.h"

namespace tfyarn::config {
namespace {

const Record<CheckpointSpec>& CheckpointTable() {
  static const Record<CheckpointSpec> table = [] {
    Record<CheckpointSpec> record(
        "checkpoint", "When training saves its work. Without this block it never does.");
    record.Field("every", &CheckpointSpec::every, Time(1ms), "Training time between two.",
                 {.example = "60s", .required = true});
    record.Field("cost", &CheckpointSpec::cost, Time(),
                 "Training stands still for so long each time.");
    return record;
  }();
  return table;
}

const Record<PeerLossSpec>& PeerLossTable() {
  static const Record<PeerLossSpec> table = [] {
    Record<PeerLossSpec> record("peer loss", "What processes do when a peer they need is gone.");
    record.Field("after", &PeerLossSpec::after, Time(), "How long they need to notice.");
    record.Field("exit", &PeerLossSpec::exit, Count(0, 255), "Their exit code.");
    return record;
  }();
  return table;
}

Type<PeerLossSpec> PeerLoss() {
  return {.info = AnyOf(
              "none, or {after, exit}",
              {{.shape = Shape::kChoice, .text = "", .choices = {"none"}}, Of(PeerLossTable).info}),
          .read =
              [](Decoder& decoder, const Node& node, PeerLossSpec& out) {
                if (node.is_scalar() && node.text == "none") {
                  out.wait = true;
                } else {
                  PeerLossTable().Read(decoder, node, out);
                }
              },
          .show = [](const PeerLossSpec&) { return std::string(); }};
}

const Record<OnTerm>& OnTermTable() {
  static const Record<OnTerm> table = [] {
    Record<OnTerm> record("on_term", "What SIGTERM does to a process.");
    record.Field("ignore", &OnTerm::ignore, Bool(), "Only SIGKILL ends it.");
    record.Field("checkpoint", &OnTerm::checkpoint, Bool(), "It saves its work first.");
    record.Field("after", &OnTerm::after, Random(LawUnit::kSeconds), "From the signal to its end.");
    record.Field("exit", &OnTerm::exit, Count(0, 255), "Its exit code.");
    record.Checked([](Decoder& decoder, const Node& node, const OnTerm& on_term) {
      if (!on_term.ignore) return;
      for (const Entry& entry : node.entries) {
        if (entry.key == "after" || entry.key == "exit") {
          decoder.ErrorAtKey(
              entry,
              fmt::format("`{}`: a process that ignores SIGTERM does not end by it", entry.key));
        }
      }
    });
    return record;
  }();
  return table;
}

void ReadRuns(Decoder& decoder, const Node& node, BehaviorRow& row) {
  if (node.is_scalar() && node.text == "forever") {
    row.forever = true;
    return;
  }
  Distribution runs;
  Random(LawUnit::kSeconds).read(decoder, node, runs);
  row.runs = std::move(runs);
}

void ReadListens(Decoder& decoder, const Node& node, BehaviorRow& row) {
  row.never_listens = node.is_scalar() && node.text == "never";
  row.port_taken = node.is_scalar() && node.text == "taken";
  if (row.never_listens || row.port_taken) return;
  Distribution listens;
  Random(LawUnit::kSeconds).read(decoder, node, listens);
  row.listens = std::move(listens);
}

void CheckRow(Decoder& decoder, const Node& node, const BehaviorRow& row) {
  const auto clash = [&](const char* field, std::string why) {
    decoder.Error(*node.Find(field), fmt::format("`{}`: {}", field, why));
  };
  if (row.exit && row.signal)
    clash("signal", "a process ends by `exit` or by `signal`, not by both");
  if (row.hang && row.exit) clash("exit", "a process that hangs does not end");
  if (row.hang && row.signal) clash("signal", "a process that hangs does not end");
  if (row.out_of_memory && row.signal != 9)
    clash("out_of_memory", "the kernel's OOM killer sends `signal: KILL`");
  if (row.after && !row.exit && !row.signal && !row.hang) {
    clash("after", "says when, but not what: give `exit`, `signal` or `hang: true`");
  }
  if (!row.says.empty() && (row.runs || (row.exit.value_or(0) == 0 && !row.signal)))
    clash("says", "goes with `signal` or an `exit` that is not 0, and without `runs`");
  if (row.forever && row.exit && !row.after)
    clash("exit", "a process that runs for ever ends only with `after`");
  if (row.runs && row.after) clash("after", "`runs` says already when it ends");
  if (row.runs && row.hang)
    clash("hang", "`runs` says when it ends, and a process that hangs does not");
}

}  // namespace

const Record<TrainingSpec>& TrainingTable() {
  static const Record<TrainingSpec> table = [] {
    Record<TrainingSpec> record(
        "training",
        "What the job has to do. It makes progress only while every task that its strategy needs "
        "runs under one cluster spec; what was done since the last checkpoint is lost when that "
        "spec "
        "is replaced.");
    record.Field("steps", &TrainingSpec::steps, Random(LawUnit::kPlain),
                 "How many steps; drawn once per job.", {.example = "10000"});
    record.Field("step_time", &TrainingSpec::step_time, Random(LawUnit::kSeconds),
                 "How long a step takes; drawn once per job.", {.example = "100ms"});
    record.Field("checkpoint", &TrainingSpec::checkpoint, Of(CheckpointTable),
                 "When it saves its work.", {.example = "{every: 60s, cost: 1s}"});
    record.Field("restore", &TrainingSpec::restore, Time(),
                 "Training stands still for so long after a restart.");
    record.Field(
        "peer_loss", &TrainingSpec::peer_loss, Maybe(PeerLoss()),
        "What its processes do when a peer they need is gone, whatever its exit; `none`: they "
        "wait.",
        {.example = "{after: 10s, exit: 1}",
         .default_text =
             "as TensorFlow: multi-worker exits 1 after 3s; parameter-server: the chief exits 1 "
             "one second after a ps is lost"});
    record.Checked([](Decoder& decoder, const Node& node, const TrainingSpec& training) {
      const bool steps = node.Find("steps") != nullptr;
      if (steps != (node.Find("step_time") != nullptr)) {
        decoder.Error(node,
                      fmt::format("`training`: `{}` without `{}`", steps ? "steps" : "step_time",
                                  steps ? "step_time" : "steps"));
      }
      (void)training;
    });
    return record;
  }();
  return table;
}

const Record<BehaviorRow>& BehaviorTable() {
  static const Record<BehaviorRow> table = [] {
    Record<BehaviorRow> record(
        "behavior row",
        "What a process of the user does. The first row that matches a process decides; without "
        "one it exits 0 when training is done.");
    record.Field("task", &BehaviorRow::task, TaskSelector(),
                 "Of which task type, or of which task.",
                 {.example = "\"worker:1\"", .default_text = "any"});
    record.Field("attempt", &BehaviorRow::attempt, Maybe(Count(0, 1'000'000), "any"),
                 "Only of this task attempt: the task's n-th process, from 0.");
    record.Field("start", &BehaviorRow::start, Maybe(Random(LawUnit::kSeconds), "0s"),
                 "From its launch until it takes part.",
                 {.example = "{dist: uniform, min: 1s, max: 3s}"});
    record.Field(
        "after", &BehaviorRow::after, Maybe(Random(LawUnit::kSeconds)),
        "How long after its start `exit`, `signal` or `hang` happens, unless its training is "
        "done before; a job without training has none that could be.",
        {.example = "30s", .default_text = "when training is done"});
    record.Field("exit", &BehaviorRow::exit, Maybe(Count(0, 255), "0"), "Its exit code.");
    record.Field("signal", &BehaviorRow::signal, Maybe(Signal()), "The signal that ends it.",
                 {.example = "SEGV"});
    record.Field("hang", &BehaviorRow::hang, Bool(), "It stops working and does not end.");
    record.Custom(
        "runs",
        AnyOf("forever, or a duration or distribution",
              {{.shape = Shape::kChoice, .text = "", .choices = {"forever"}},
               Random(LawUnit::kSeconds).info}),
        "`forever`: it never ends by itself. A time: in place of steps; it needs no peer.",
        ReadRuns, {.example = "600s", .default_text = "until training is done"});
    record.Field("out_of_memory", &BehaviorRow::out_of_memory, Bool(),
                 "With `signal: KILL`: the kernel's OOM killer did it.");
    record.Field("on_term", &BehaviorRow::on_term, Maybe(Of(OnTermTable)),
                 "What SIGTERM does to it.",
                 {.example = "{checkpoint: true, after: 5s, exit: 143}",
                  .default_text = "it ends at once with 143"});
    record.Field("writes", &BehaviorRow::writes, ListOf(SomeText()),
                 "Paths that exist after it ended 0.", {.example = "[model.bin]"});
    record.Custom(
        "listens",
        AnyOf("never, taken, or a duration or distribution",
              {{.shape = Shape::kChoice, .text = "", .choices = {"never", "taken"}},
               Random(LawUnit::kSeconds).info}),
        "How long after its start it listens on its port. Before that it takes no part in "
        "training. `never`: it does not; `taken`: another program listens there.",
        ReadListens, {.example = "never", .default_text = "from its start on"});
    record.Field("says", &BehaviorRow::says, SomeText(),
                 "Its last words on stderr, when `exit` or `signal` ends it: the AM reads in them "
                 "which peer TensorFlow misses.",
                 {.example = "out of ideas"});
    record.Checked(CheckRow);
    return record;
  }();
  return table;
}

const Record<SimulatedJobDraft>& SimulatedJobTable() {
  static const Record<SimulatedJobDraft> table = [] {
    Record<SimulatedJobDraft> record(
        "job",
        "A training job: everything of job.yaml, and what it does when no real command "
        "runs.");
    record.Embed(JobTable(), &SimulatedJobDraft::job);
    record.Field("submit", &SimulatedJobDraft::config, &JobConfig::submit, Time(),
                 "When it is submitted.");
    record.Field("training", &SimulatedJobDraft::config, &JobConfig::training, Of(TrainingTable),
                 "What it has to do.", {.example = "{steps: 10000, step_time: 100ms}"});
    record.Field("behavior", &SimulatedJobDraft::config, &JobConfig::behavior,
                 ListOf(Of(BehaviorTable)),
                 "What its processes do; the first row that matches wins.",
                 {.example = "[{task: \"worker:1\", attempt: 0, after: 30s, exit: 1}]"});
    record.Field("files_size", &SimulatedJobDraft::config, &JobConfig::files_bytes, Bytes(),
                 "What each container fetches from HDFS before it starts.", {.example = "2GiB"});
    record.CheckedAnyway(CheckBehavior);
    return record;
  }();
  return table;
}

}  // namespace tfyarn::config
