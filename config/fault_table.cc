// Reading faults: what is common to all, and the parameters of each kind.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/fault_kinds.h"
#include "config/names.h"
#include "config/scenario_table.h"
#include "config/suggest.h"

namespace tfyarn::config {
namespace {

const std::vector<std::string> kFaultStates = {"began", "ended"};

bool Holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> AllStates() {
  std::vector<std::string> all = JobStateNames();
  for (const auto* more : {&TaskStateNames(), &kFaultStates}) {
    for (const std::string& state : *more) {
      if (!Holds(all, state)) all.push_back(state);
    }
  }
  return all;
}

/// A state has one owner: the fault that is named, else the task, else the job.
void CheckState(Decoder& decoder, const Node& node, const FaultWhen& when) {
  if (!when.state) return;
  const bool of_task = !when.fault && !when.task.empty();
  const std::vector<std::string>& known = when.fault ? kFaultStates
                                          : of_task  ? TaskStateNames()
                                                     : JobStateNames();
  if (Holds(known, *when.state)) return;
  if (!when.fault && !of_task && Holds(TaskStateNames(), *when.state)) {
    return decoder.Error(
        node, fmt::format("`when`: `{}` is a state of a task: `task` is missing", *when.state));
  }
  const std::string_view owner = when.fault ? "a fault" : of_task ? "a task" : "a job";
  decoder.Error(*node.Find("state"),
                fmt::format("`when`: `{}` is no state of {}", *when.state, owner),
                {fmt::format("allowed: {}", fmt::join(known, ", "))});
}

void CheckWhen(Decoder& decoder, const Node& node, const FaultWhen& when) {
  const int others = (when.append ? 1 : 0) + (when.message.empty() ? 0 : 1) + (when.fault ? 1 : 0);
  const int given = others + (when.state && !when.fault ? 1 : 0);
  if (given != 1) {
    return decoder.Error(node, "`when` names one moment",
                         {"give one of `state`, `append`, `message` and `fault`"});
  }
  if (when.fault && !when.job.empty())
    decoder.Error(*node.Find("job"), "`when`: `job` does not go with `fault`");
  if (!when.fault && when.job.empty()) decoder.Error(node, "`when`: `job` is missing");
  if (!when.task.empty() && (when.fault || when.append))
    decoder.Error(*node.Find("task"), "`when`: `task` goes with `state` and `message`");
  const Node* nth = node.Find("nth");
  if (nth != nullptr && (when.fault || when.append))
    decoder.Error(*nth, "`when`: `nth` goes with `state` and `message`");
  CheckState(decoder, node, when);
}

const Record<FaultWhen>& WhenTable() {
  static const Record<FaultWhen> table = [] {
    Record<FaultWhen> record("when",
                             "A moment: of a job, of one of its tasks, or of another fault. One of "
                             "`state`, `append`, `message` and `fault`.");
    record.Field("job", &FaultWhen::job, JobName(), "Which job; not with `fault`.",
                 {.example = "a"});
    record.Field("state", &FaultWhen::state, Maybe(Word(AllStates())),
                 "The job comes into this state. With `task`: an AM has accepted its agent "
                 "(registered), or its process runs or has ended. With `fault`: began or ended.",
                 {.example = "running"});
    record.Field("task", &FaultWhen::task, TaskSelector(),
                 "Whose state; whose agent sends or gets the `message`.",
                 {.example = "\"worker:0\""});
    record.Field(
        "append", &FaultWhen::append, Maybe(Whole(1, 1'000'000)),
        "The AM orders its n-th append to the job's journal, counted over all its attempts.",
        {.example = "3"});
    record.Field("message", &FaultWhen::message, Word(MomentMessageNames()),
                 "A message of this name leaves its sender: the job's AM, one of its agents, or "
                 "its client. Heartbeats and polls that say nothing new are not counted.",
                 {.example = "StartProcess"});
    record.Field("nth", &FaultWhen::nth, Whole(1, 1'000'000),
                 "Which time the state or the message comes.");
    record.Field("fault", &FaultWhen::fault, Maybe(Whole(0, 100'000)),
                 "Another fault of the list, by its position from 0, strikes for the first time; "
                 "with `state: ended`: ends.",
                 {.example = "0"});
    record.Checked(CheckWhen);
    return record;
  }();
  return table;
}

// ---------------------------------------------------------------- parameters

void TakeReal(Decoder& decoder, const Node& node, const FaultParam& param, double& out) {
  Number(param.least, param.most).read(decoder, node, out);
  const double steps = param.step > 0 ? out / param.step : 0;
  if (std::abs(steps - std::round(steps)) > 1e-6)
    decoder.BadValue(node, fmt::format("is finer than steps of {}", param.step));
}

void TakeNumber(Decoder& decoder, const Node& node, const FaultParam& param, FaultSpec& out) {
  switch (param.kind) {
    case FaultParamKind::kWhole: {
      std::int64_t value = 0;
      Whole(static_cast<std::int64_t>(param.least), static_cast<std::int64_t>(param.most))
          .read(decoder, node, value);
      out.numbers[param.name] = static_cast<double>(value);
      return;
    }
    case FaultParamKind::kNumber:
      return TakeReal(decoder, node, param, out.numbers[param.name]);
    case FaultParamKind::kDuration: {
      Duration value{};
      Time().read(decoder, node, value);
      out.numbers[param.name] = SecondsOf(value);
      return;
    }
    case FaultParamKind::kBytes: {
      std::int64_t value = 0;
      Bytes().read(decoder, node, value);
      out.numbers[param.name] = static_cast<double>(value);
      return;
    }
    case FaultParamKind::kBool: {
      bool value = false;
      Bool().read(decoder, node, value);
      out.numbers[param.name] = value ? 1 : 0;
      return;
    }
    case FaultParamKind::kSignal: {
      std::int32_t value = 0;
      Signal().read(decoder, node, value);
      out.numbers[param.name] = value;
      out.words[param.name] = SignalName(value);
      return;
    }
    case FaultParamKind::kWord:
      // The name that the agent's registration has in the documentation of others.
      if (param.name == "message" && node.text == "TaskRegistered") {
        out.words[param.name] = "RegisterAgent";
      } else {
        Word(param.choices).read(decoder, node, out.words[param.name]);
      }
      return;
    case FaultParamKind::kText:
      return SomeText().read(decoder, node, out.words[param.name]);
  }
}

void FillDefaults(const FaultKind& kind, FaultSpec& out) {
  Decoder sure;
  for (const FaultParam& param : kind.params) {
    if (param.default_text.empty() || out.numbers.contains(param.name) ||
        out.words.contains(param.name))
      continue;
    TakeNumber(sure, {.kind = NodeKind::kScalar, .text = param.default_text}, param, out);
  }
}

std::vector<std::string> FieldsOf(const FaultKind& kind) {
  std::vector<std::string> names = {"kind"};
  const bool recorded = kind.target == FaultTarget::kRecorded;
  const bool groups = kind.target == FaultTarget::kGroups;
  if (!recorded) names.insert(names.end(), {"at", "when", "after", "every", "per"});
  if (!recorded && !groups) names.emplace_back("target");
  if (groups) names.emplace_back("between");
  if (kind.lasts != ForRule::kNever) names.emplace_back("for");
  for (const FaultParam& param : kind.params) names.push_back(param.name);
  return names;
}

bool ReadParam(Decoder& decoder, const Entry& entry, FaultSpec& out) {
  const FaultKind* kind = FindFaultKind(out.kind);
  if (kind == nullptr) return true;  // reported already
  for (const FaultParam& param : kind->params) {
    if (param.name != entry.key) continue;
    const Decoder::Scope scope(decoder, entry.key);
    TakeNumber(decoder, entry.value, param, out);
    return true;
  }
  decoder.ErrorAtKey(
      entry,
      fmt::format("unknown field `{}` in a fault of kind {}", Printable(entry.key), kind->name),
      NotesForNames(entry.key, FieldsOf(*kind)));
  return true;
}

// ---------------------------------------------------------------- checks of one fault

bool FitsTarget(const Target& target, FaultTarget wanted) {
  const TargetKind kind = target.kind;
  const bool draws = kind == TargetKind::kRandom || kind == TargetKind::kFraction;
  if (draws) {
    const bool can = wanted == FaultTarget::kNode || wanted == FaultTarget::kTask ||
                     wanted == FaultTarget::kCaller;
    return can && FitsTarget(*target.of, wanted);
  }
  const bool nodes = kind == TargetKind::kNode || kind == TargetKind::kRack ||
                     kind == TargetKind::kLabel || kind == TargetKind::kAllNodes;
  switch (wanted) {
    case FaultTarget::kNode:
      return nodes || kind == TargetKind::kAm || kind == TargetKind::kTask;
    case FaultTarget::kTask:
      return kind == TargetKind::kTask;
    case FaultTarget::kJob:
      return kind == TargetKind::kTask && target.task.empty();
    case FaultTarget::kAm:
      return kind == TargetKind::kAm;
    case FaultTarget::kRm:
      return kind == TargetKind::kRm;
    case FaultTarget::kHdfs:
      return kind == TargetKind::kHdfs;
    case FaultTarget::kCaller:
      return nodes || kind == TargetKind::kTask || kind == TargetKind::kAm;
    case FaultTarget::kGroups:
    case FaultTarget::kRecorded:
      return false;
  }
  return false;
}

void CheckTime(Decoder& decoder, const Node& node, const FaultKind& kind, const FaultSpec& fault) {
  const Node* at = node.Find("at");
  const Node* when = node.Find("when");
  const Node* every = node.Find("every");
  const int given =
      (at != nullptr ? 1 : 0) + (when != nullptr ? 1 : 0) + (every != nullptr ? 1 : 0);
  if (given > 1) {
    decoder.Error(when != nullptr ? *when : *every, "a fault has one of `at`, `when` and `every`");
  } else if (given == 0 && !kind.armed_at_start) {
    decoder.Error(node, "nothing says when the fault happens", {"give `at`, `when` or `every`"});
  }
  if (const Node* after = node.Find("after"); after != nullptr && when == nullptr) {
    decoder.Error(*after, "`after` goes with `when`", {"a time of the simulation is `at`"});
  }
  if (const Node* per = node.Find("per"); per != nullptr) {
    if (every == nullptr) decoder.Error(*per, "`per` goes with `every`");
    if (kind.target != FaultTarget::kNode) {
      decoder.Error(*per, fmt::format("`per`: {} does not happen to nodes", kind.name));
    }
  }
  if (fault.when.every && fault.when.every->is_constant() && fault.when.every->a <= 0) {
    decoder.Error(*every, "`every`: must be more than 0s");
  }
}

void CheckReach(Decoder& decoder, const Node& node, const FaultKind& kind, const FaultSpec& fault) {
  const Node* target = node.Find("target");
  if (target != nullptr && fault.target && !FitsTarget(*fault.target, kind.target)) {
    decoder.Error(*target, fmt::format("`target`: not something that {} happens to", kind.name),
                  {"allowed: " + TargetText(kind.target)});
  }
  const bool every_node = kind.target == FaultTarget::kNode && fault.when.per_node;
  if (target == nullptr && kind.target_required && !every_node) {
    decoder.Error(node, fmt::format("`target` is missing: what does {} happen to?", kind.name),
                  {"allowed: " + TargetText(kind.target)});
  }
  const Node* between = node.Find("between");
  if (kind.target == FaultTarget::kGroups) {
    if (between == nullptr) {
      decoder.Error(
          node, "`between` is missing in a partition",
          {"wants the groups: [{rack: r1}, {am: a}]; one alone is cut off from all others"});
    } else if (fault.between.empty()) {
      decoder.Error(*between, "`between`: a partition has a group");
    }
  } else if (between != nullptr) {
    decoder.Error(*between, fmt::format("`between` does not go with {}", kind.name));
  }
}

void CheckFault(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  const FaultKind* kind = FindFaultKind(fault.kind);
  if (kind == nullptr) return;
  const bool recorded = kind->target == FaultTarget::kRecorded;
  if (!recorded) CheckTime(decoder, node, *kind, fault);
  CheckReach(decoder, node, *kind, fault);
  const Node* lasts = node.Find("for");
  if (lasts != nullptr && kind->lasts == ForRule::kNever) {
    decoder.Error(*lasts, fmt::format("`for`: {} happens at one moment", kind->name));
  }
  for (const FaultParam& param : kind->params) {
    if (!param.required || node.Find(param.name) != nullptr) continue;
    std::vector<std::string> notes = {param.doc};
    decoder.Error(node,
                  fmt::format("`{}` is missing in a fault of kind {}", param.name, kind->name),
                  std::move(notes));
  }
  if (!recorded) return;
  for (const Entry& entry : node.entries) {
    const std::vector<std::string> known = FieldsOf(*kind);
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    decoder.ErrorAtKey(entry, fmt::format("`{}` does not go with a trace", entry.key),
                       NotesForNames("", known));
  }
}

const Record<FaultSpec>& FaultTable() {
  static const Record<FaultSpec> table = [] {
    Record<FaultSpec> record(
        "fault",
        "Something that goes wrong: once, at a moment of a job, or again and again. "
        "Each kind has its own parameters beside these.");
    std::vector<std::string> kinds;
    for (const FaultKind& kind : FaultKinds()) kinds.push_back(kind.name);
    record.Custom("kind", {.shape = Shape::kChoice, .text = "kind of fault", .choices = kinds},
                  "What goes wrong.", [](Decoder&, const Node&, FaultSpec&) {},
                  {.example = "node_crash", .required = true});
    record.Field("at", &FaultSpec::when, &FaultWhen::at, Maybe(Time()),
                 "At this time of the simulation.", {.example = "400s"});
    record.Custom("when", Of(WhenTable).info,
                  "At a moment of a job, of a task, or of another fault.",
                  [](Decoder& decoder, const Node& node, FaultSpec& out) {
                    WhenTable().Read(decoder, node, out.when);
                  },
                  {.example = "{job: a, state: running}"});
    record.Field("after", &FaultSpec::when, &FaultWhen::after, Time(),
                 "With `when`: so long after that.");
    record.Field("every", &FaultSpec::when, &FaultWhen::every, Maybe(Random(LawUnit::kSeconds)),
                 "Again and again; the time to the next, from the end of the last.",
                 {.example = "{dist: exponential, mean: 30d}"});
    record.Custom("per", Word({"node"}).info, "With `every`: each node on its own.",
                  [](Decoder& decoder, const Node& node, FaultSpec& out) {
                    out.when.per_node = ReadChoice(decoder, node, {"node"}) == 0;
                  });
    record.Field("target", &FaultSpec::target, Maybe(Selector()), "What the fault strikes.",
                 {.example = "{label: gpu}"});
    record.Field("between", &FaultSpec::between, ListOf(Selector()),
                 "Of a partition: the groups; one alone is cut off from the rest of the cluster.",
                 {.example = "[{rack: r1}, {am: a}]"});
    record.Field("for", &FaultSpec::duration, Maybe(Random(LawUnit::kSeconds)),
                 "How long it lasts.",
                 {.example = "{dist: lognormal, median: 59m, sigma: 1.4}",
                  .default_text = "the kind's, or for ever"});
    record.OtherKeys("^[a-z_]+$", ReadParam);
    record.Checked(CheckFault);
    return record;
  }();
  return table;
}

bool ReadKind(Decoder& decoder, const Node& node, FaultSpec& out) {
  if (FindFaultKind(node.text) != nullptr) {
    out.kind = node.text;
    return true;
  }
  std::vector<std::string> names;
  for (const FaultKind& kind : FaultKinds()) names.push_back(kind.name);
  const std::string nearest = Nearest(node.text, names);
  std::vector<std::string> notes = {"`tfsim faults` lists them"};
  if (!nearest.empty()) notes.push_back(fmt::format("did you mean `{}`?", nearest));
  decoder.Error(node, fmt::format("there is no fault of kind {}", Describe(node)),
                std::move(notes));
  return false;
}

void ReadFault(Decoder& decoder, const Node& node, FaultSpec& out) {
  const Node* kind_node = node.Find("kind");
  if (kind_node != nullptr && !ReadKind(decoder, *kind_node, out)) return;
  FaultTable().Read(decoder, node, out);
  const FaultKind* kind = FindFaultKind(out.kind);
  if (kind == nullptr) return;
  FillDefaults(*kind, out);
  if (!out.duration && !kind->default_for.empty()) {
    out.duration = Distribution::Constant(
        SecondsOf(ParseDuration(kind->default_for).value_or(Duration::zero())));
  }
  const bool has_time = out.when.at || out.when.moment() || out.when.every;
  if (!has_time && kind->armed_at_start) out.when.at = Duration::zero();
  if (!out.target && kind->target == FaultTarget::kRm) out.target = Target{.kind = TargetKind::kRm};
  if (!out.target && kind->target == FaultTarget::kHdfs)
    out.target = Target{.kind = TargetKind::kHdfs};
  if (!out.target && out.when.per_node) out.target = Target{.kind = TargetKind::kAllNodes};
  if (kind->target == FaultTarget::kRecorded) {
    out.trace_file = out.words["file"];
    out.trace_system = static_cast<std::int32_t>(out.numbers["system"]);
  }
}

}  // namespace

Type<FaultSpec> Fault() {
  return {.info = Of(FaultTable).info, .read = ReadFault, .show = [](const FaultSpec&) {
            return std::string();
          }};
}

}  // namespace tfyarn::config
