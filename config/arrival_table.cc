// Fields of `arrivals`: many jobs from a law or a trace, made from one template.
#include <fmt/format.h>

#include "config/names.h"
#include "config/scenario_table.h"

namespace tfyarn::config {
namespace {

void ReadTemplate(Decoder& decoder, const Node& node, ArrivalSpec& out) {
  SimulatedJobDraft draft;
  // Named by the arrival's prefix, once that is known.
  Node named = node;
  if (named.is_null()) named.kind = NodeKind::kMap;
  if (const Node* name = node.Find("name")) {
    return decoder.Error(*name, "`name`: jobs of a template are named by `prefix`");
  }
  if (const Node* submit = node.Find("submit")) {
    return decoder.Error(*submit,
                         "`submit`: the distribution or trace says when jobs of a template come");
  }
  if (named.is_map()) {
    named.entries.push_back(
        {.key = "name",
         .key_place = node.place,
         .value = {
             .kind = NodeKind::kScalar, .place = node.place, .end = node.place, .text = "t"}});
  }
  SimulatedJobTable().Read(decoder, named, draft);
  JobConfig job = Complete(std::move(draft));
  job.spec.name.clear();
  out.job = std::make_shared<const JobConfig>(std::move(job));
}

const Record<ArrivalSpec>& PoissonTable() {
  static const Record<ArrivalSpec> table = [] {
    Record<ArrivalSpec> record("poisson", "Independent arrivals at a steady rate.");
    record.Custom("rate",
                  {.shape = Shape::kQuantity,
                   .text = "rate like 20/h",
                   .pattern = R"(^[0-9]+(\.[0-9]+)?/(ns|us|ms|s|m|h|d|w)$)"},
                  "How many in a time, on average.",
                  [](Decoder& decoder, const Node& node, ArrivalSpec& out) {
                    if (!node.is_scalar()) return decoder.Wrong(node, "a rate like 20/h");
                    const auto mean = ParseRate(node.text);
                    if (!mean)
                      return decoder.BadValue(node, mean.error().problem, mean.error().suggestion);
                    out.interarrival = Distribution{.law = Law::kExponential, .a = *mean};
                  },
                  {.example = "20/h", .required = true});
    return record;
  }();
  return table;
}

const Record<ArrivalSpec>& TraceTable() {
  static const Record<ArrivalSpec> table = [] {
    Record<ArrivalSpec> record("trace",
                               "Jobs of a real cluster. A row's GPUs become as few equal workers "
                               "as `gpus_per_task` allows, its duration "
                               "the training time; the earliest row comes at 0s.");
    record.Custom("format", Word({"philly"}).info, "Of which trace.",
                  [](Decoder& decoder, const Node& node, ArrivalSpec& out) {
                    if (node.text == "lanl") {
                      return decoder.Error(
                          node, "`format`: lanl has failures of nodes, no jobs",
                          {"use it under `faults`: {kind: trace, format: lanl, ...}"});
                    }
                    if (ReadChoice(decoder, node, {"philly"}) == 0)
                      out.trace_format = TraceFormat::kPhilly;
                  },
                  {.example = "philly", .required = true});
    record.Field("file", &ArrivalSpec::trace_file, SomeText(),
                 "The file, plain or .xz, relative to this one.",
                 {.example = "../traces/philly.csv", .required = true});
    record.Field("gpus_per_task", &ArrivalSpec::gpus_per_task, Count(1, 100'000),
                 "GPUs of one worker at most.", {.default_text = "the largest node's"});
    record.Field("queues", &ArrivalSpec::queues, ListOf(QueueName()),
                 "The trace's virtual clusters are dealt to these queues in order of size.");
    record.Field("queue_of_cluster", &ArrivalSpec::queue_of_cluster, MapOf(AnyKeys(), QueueName()),
                 "The queue of each virtual cluster, by its name in the trace.");
    record.Checked([](Decoder& decoder, const Node& node, const ArrivalSpec& out) {
      if (!out.queues.empty() && !out.queue_of_cluster.empty()) {
        decoder.Error(*node.Find("queues"),
                      "`queues` and `queue_of_cluster` are both given: which one holds?");
      }
    });
    return record;
  }();
  return table;
}

void CheckArrival(Decoder& decoder, const Node& node, const ArrivalSpec& arrival) {
  const Node* poisson = node.Find("poisson");
  const Node* law = node.Find("interarrival");
  const Node* trace = node.Find("trace");
  const int given =
      (poisson != nullptr ? 1 : 0) + (law != nullptr ? 1 : 0) + (trace != nullptr ? 1 : 0);
  if (given != 1) {
    return decoder.Error(node, "an arrival has one of `poisson`, `interarrival` and `trace`");
  }
  const Node* count = node.Find("count");
  const Node* limit = node.Find("limit");
  if (trace == nullptr && count == nullptr)
    decoder.Error(node, "`count` is missing in arrival", {"how many jobs come"});
  if (trace != nullptr && count != nullptr) {
    decoder.Error(*count, "`count`: a trace has so many jobs as rows", {"use `limit` for fewer"});
  }
  if (trace == nullptr && limit != nullptr)
    decoder.Error(*limit, "`limit` is for traces", {"use `count`"});
  if (trace != nullptr && arrival.job != nullptr &&
      arrival.job->spec.FindType("worker") == nullptr) {
    decoder.Error(node.Nearest("template.tasks"),
                  "`template`: a trace's jobs need a task type `worker`");
  }
}

}  // namespace

const Record<ArrivalSpec>& ArrivalTable() {
  static const Record<ArrivalSpec> table = [] {
    Record<ArrivalSpec> record("arrival", "Many jobs, named PREFIX-1 and up.");
    record.Custom("poisson", Of(PoissonTable).info, PoissonTable().info().doc,
                  [](Decoder& decoder, const Node& node, ArrivalSpec& out) {
                    PoissonTable().Read(decoder, node, out);
                  },
                  {.example = "{rate: 20/h}"});
    record.Field("interarrival", &ArrivalSpec::interarrival, Maybe(Random(LawUnit::kSeconds)),
                 "Time between two arrivals, as any distribution.",
                 {.example = "{dist: lognormal, median: 60s, sigma: 2}"});
    record.Field("count", &ArrivalSpec::count, Whole(1, 10'000'000), "How many jobs come.",
                 {.example = "500", .default_text = ""});
    record.Custom("trace", Of(TraceTable).info, TraceTable().info().doc,
                  [](Decoder& decoder, const Node& node, ArrivalSpec& out) {
                    TraceTable().Read(decoder, node, out);
                  },
                  {.example = "{format: philly, file: ../traces/philly.csv, gpus_per_task: 8}"});
    record.Field("limit", &ArrivalSpec::limit, Whole(1, 10'000'000),
                 "Only the first so many rows of a trace.",
                 {.example = "1000", .default_text = "all"});
    record.Field("prefix", &ArrivalSpec::prefix, JobName(), "Of the jobs' names.",
                 {.example = "p"});
    record.Custom("template", Of(SimulatedJobTable).info, "The job, without `name` and `submit`.",
                  ReadTemplate, {.required = true});
    record.Checked(CheckArrival);
    return record;
  }();
  return table;
}

}  // namespace tfyarn::config
