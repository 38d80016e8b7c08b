// Reading selectors and faults.
#include <fmt/format.h>

#include <algorithm>

#include "config/fault_kinds.h"
#include "config/names.h"
#include "config/scenario_table.h"
#include "config/suggest.h"

namespace tfyarn::config {
namespace {

constexpr std::int32_t kDeepestSelector = 8;

const std::vector<std::string> kSelectorKeys = {"node", "rack", "label", "job", "task", "am", "random", "fraction", "of"};
const std::vector<std::string> kStates = {"submitted", "allocating", "launching", "registering",
                                          "running",   "draining",   "finished",  "registered"};

void ReadSelector(Decoder& decoder, const Node& node, int depth, Target& out);

void ReadWord(Decoder& decoder, const Node& node, Target& out) {
  if (node.text == "rm") {
    out = {.kind = TargetKind::kRm};
  } else if (node.text == "hdfs") {
    out = {.kind = TargetKind::kHdfs};
  } else if (node.text == "nodes") {
    out = {.kind = TargetKind::kAllNodes};
  } else {
    std::vector<std::string> notes = {"allowed: rm, hdfs, nodes, or a map like {node: n-1} or {job: a, task: \"worker:1\"}"};
    if (IsPlainName(node.text)) notes.push_back(fmt::format("did you mean {{node: {}}}?", node.text));
    decoder.Error(node, decoder.Named(fmt::format("{} is not a selector", Describe(node))), std::move(notes));
  }
}

/// The part of `of`, or all nodes.
std::shared_ptr<const Target> ReadOf(Decoder& decoder, const Node& node, int depth) {
  auto of = std::make_shared<Target>();
  if (const Node* inner = node.Find("of")) {
    const Decoder::Scope scope(decoder, "of");
    ReadSelector(decoder, *inner, depth + 1, *of);
  }
  return of;
}

/// Reports keys that do not go with `main`.
void OnlyWith(Decoder& decoder, const Node& node, std::string_view main, std::string_view with) {
  for (const Entry& entry : node.entries) {
    if (entry.key == main || entry.key == with) continue;
    const bool known = std::find(kSelectorKeys.begin(), kSelectorKeys.end(), entry.key) != kSelectorKeys.end();
    if (known) {
      decoder.ErrorAtKey(entry, fmt::format("`{}` does not go with `{}`", entry.key, main));
    } else {
      decoder.ErrorAtKey(entry, fmt::format("unknown field `{}` in a selector", Printable(entry.key)),
                         NotesForNames(entry.key, kSelectorKeys));
    }
  }
}

void ReadNamed(Decoder& decoder, const Node& node, TargetKind kind, std::string_view key, Target& out) {
  const Decoder::Scope scope(decoder, std::string(key));
  out.kind = kind;
  (kind == TargetKind::kAm || kind == TargetKind::kTask ? JobName() : PlainName())
      .read(decoder, *node.Find(key), out.name);
}

void ReadSelector(Decoder& decoder, const Node& node, int depth, Target& out) {
  out = {};
  if (depth > kDeepestSelector) return decoder.Error(node, "selectors are nested deeper than 8");
  if (node.is_scalar()) return ReadWord(decoder, node, out);
  if (!node.is_map()) return decoder.Wrong(node, "a selector like {node: n-1}, {job: a, task: \"worker:1\"} or rm");
  if (node.Find("random") != nullptr) {
    OnlyWith(decoder, node, "random", "of");
    std::int32_t amount = 1;
    const Decoder::Scope scope(decoder, "random");
    Count(1, 1'000'000).read(decoder, *node.Find("random"), amount);
    out = {.kind = TargetKind::kRandom, .amount = static_cast<double>(amount), .of = ReadOf(decoder, node, depth)};
  } else if (node.Find("fraction") != nullptr) {
    OnlyWith(decoder, node, "fraction", "of");
    double amount = 0;
    const Decoder::Scope scope(decoder, "fraction");
    Number(0, 1).read(decoder, *node.Find("fraction"), amount);
    out = {.kind = TargetKind::kFraction, .amount = amount, .of = ReadOf(decoder, node, depth)};
  } else if (node.Find("job") != nullptr) {
    OnlyWith(decoder, node, "job", "task");
    ReadNamed(decoder, node, TargetKind::kTask, "job", out);
    const Decoder::Scope scope(decoder, "task");
    if (const Node* task = node.Find("task")) TaskSelector().read(decoder, *task, out.task);
  } else {
    for (const auto& [key, kind] : {std::pair("node", TargetKind::kNode), std::pair("rack", TargetKind::kRack),
                                    std::pair("label", TargetKind::kLabel), std::pair("am", TargetKind::kAm)}) {
      if (node.Find(key) == nullptr) continue;
      OnlyWith(decoder, node, key, "");
      return ReadNamed(decoder, node, kind, key, out);
    }
    if (node.Find("task") != nullptr) return decoder.Error(node, "a selector with `task` needs `job` too");
    OnlyWith(decoder, node, "", "");
    if (node.entries.empty()) decoder.Wrong(node, "a selector like {node: n-1}");
  }
}

TypeInfo SelectorInfo() {
  TypeInfo map{.shape = Shape::kMap, .text = "selector map", .pattern = "^(node|rack|label|job|task|am|random|fraction|of)$"};
  return AnyOf("selector", {{.shape = Shape::kChoice, .text = "", .choices = {"rm", "hdfs", "nodes"}}, std::move(map)});
}

const Record<FaultWhen>& WhenTable() {
  static const Record<FaultWhen> table = [] {
    Record<FaultWhen> record("when", "A state of a job or of one of its tasks, reached for the first time.");
    record.Field("job", &FaultWhen::job, JobName(), "Which job.", {.required = true});
    record.Field("state", &FaultWhen::state, Maybe(Word(kStates)),
                 "The job's state; `registered` is a task's, and needs `task`.", {.example = "running", .required = true});
    record.Field("task", &FaultWhen::task, TaskSelector(), "With `state: registered`: which task.",
                 {.example = "\"worker:0\""});
    record.Checked([](Decoder& decoder, const Node& node, const FaultWhen& when) {
      if (*when.state == "registered" && when.task.empty()) {
        decoder.Error(node, "`when`: `registered` is a state of a task: `task` is missing");
      } else if (*when.state != "registered" && !when.task.empty()) {
        decoder.Error(*node.Find("task"), fmt::format("`when`: `{}` is a state of the job, not of a task", *when.state));
      }
    });
    return record;
  }();
  return table;
}

// ---------------------------------------------------------------- parameters

void TakeNumber(Decoder& decoder, const Node& node, const FaultParam& param, FaultSpec& out) {
  switch (param.kind) {
    case FaultParamKind::kWhole: {
      std::int64_t value = 0;
      Whole(static_cast<std::int64_t>(param.least), static_cast<std::int64_t>(param.most)).read(decoder, node, value);
      out.numbers[param.name] = static_cast<double>(value);
      return;
    }
    case FaultParamKind::kNumber: return Number(param.least, param.most).read(decoder, node, out.numbers[param.name]);
    case FaultParamKind::kDuration: {
      Duration value{};
      Time().read(decoder, node, value);
      out.numbers[param.name] = Seconds(value);
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
    case FaultParamKind::kText: return SomeText().read(decoder, node, out.words[param.name]);
  }
}

void FillDefaults(const FaultKind& kind, FaultSpec& out) {
  Decoder sure;
  for (const FaultParam& param : kind.params) {
    if (param.default_text.empty() || out.numbers.contains(param.name) || out.words.contains(param.name)) continue;
    TakeNumber(sure, {.kind = NodeKind::kScalar, .text = param.default_text}, param, out);
  }
}

std::vector<std::string> FieldsOf(const FaultKind& kind) {
  std::vector<std::string> names = {"kind"};
  if (kind.name != "trace") names.insert(names.end(), {"at", "when", "after", "every", "per"});
  if (kind.target != FaultTarget::kNothing) names.emplace_back("target");
  if (kind.name == "partition") names.emplace_back("between");
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
  decoder.ErrorAtKey(entry, fmt::format("unknown field `{}` in a fault of kind {}", Printable(entry.key), kind->name),
                     NotesForNames(entry.key, FieldsOf(*kind)));
  return true;
}

// ---------------------------------------------------------------- checks of one fault

bool FitsTarget(const Target& target, FaultTarget wanted) {
  const TargetKind kind = target.kind;
  const bool draws = kind == TargetKind::kRandom || kind == TargetKind::kFraction;
  if (draws) {
    const bool can = wanted == FaultTarget::kNode || wanted == FaultTarget::kTask || wanted == FaultTarget::kCaller;
    return can && FitsTarget(*target.of, wanted);
  }
  const bool nodes = kind == TargetKind::kNode || kind == TargetKind::kRack || kind == TargetKind::kLabel ||
                     kind == TargetKind::kAllNodes;
  switch (wanted) {
    case FaultTarget::kNode: return nodes || kind == TargetKind::kAm || kind == TargetKind::kTask;
    case FaultTarget::kTask: return kind == TargetKind::kTask;
    case FaultTarget::kJob: return kind == TargetKind::kTask && target.task.empty();
    case FaultTarget::kAm: return kind == TargetKind::kAm;
    case FaultTarget::kRm: return kind == TargetKind::kRm;
    case FaultTarget::kHdfs: return kind == TargetKind::kHdfs;
    case FaultTarget::kCaller: return nodes || kind == TargetKind::kTask || kind == TargetKind::kAm;
    case FaultTarget::kNothing: return false;
  }
  return false;
}

void CheckTime(Decoder& decoder, const Node& node, const FaultKind& kind, const FaultSpec& fault) {
  const Node* at = node.Find("at");
  const Node* when = node.Find("when");
  const Node* every = node.Find("every");
  const int given = (at != nullptr ? 1 : 0) + (when != nullptr ? 1 : 0) + (every != nullptr ? 1 : 0);
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
  if (kind.name == "partition") {
    if (between == nullptr) {
      decoder.Error(node, "`between` is missing in a partition", {"wants two groups or more: [{rack: r1}, {am: a}]"});
    } else if (fault.between.size() < 2) {
      decoder.Error(*between, "`between`: a partition has two groups or more");
    }
  } else if (between != nullptr) {
    decoder.Error(*between, fmt::format("`between` does not go with {}", kind.name));
  }
}

void CheckFault(Decoder& decoder, const Node& node, const FaultSpec& fault) {
  const FaultKind* kind = FindFaultKind(fault.kind);
  if (kind == nullptr) return;
  if (fault.kind != "trace") CheckTime(decoder, node, *kind, fault);
  CheckReach(decoder, node, *kind, fault);
  const Node* lasts = node.Find("for");
  if (lasts != nullptr && kind->lasts == ForRule::kNever) {
    decoder.Error(*lasts, fmt::format("`for`: {} happens at one moment", kind->name));
  }
  for (const FaultParam& param : kind->params) {
    if (!param.required || node.Find(param.name) != nullptr) continue;
    std::vector<std::string> notes = {param.doc};
    decoder.Error(node, fmt::format("`{}` is missing in a fault of kind {}", param.name, kind->name), std::move(notes));
  }
  if (fault.kind != "trace") return;
  for (const Entry& entry : node.entries) {
    const std::vector<std::string> known = FieldsOf(*kind);
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    decoder.ErrorAtKey(entry, fmt::format("`{}` does not go with a trace", entry.key), NotesForNames("", known));
  }
}

const Record<FaultSpec>& FaultTable() {
  static const Record<FaultSpec> table = [] {
    Record<FaultSpec> record("fault", "Something that goes wrong: once, when a job reaches a state, or again and again. "
                                      "Each kind has its own parameters beside these.");
    std::vector<std::string> kinds;
    for (const FaultKind& kind : FaultKinds()) kinds.push_back(kind.name);
    record.Custom("kind", {.shape = Shape::kChoice, .text = "kind of fault", .choices = kinds}, "What goes wrong.",
                  [](Decoder&, const Node&, FaultSpec&) {}, {.example = "node_crash", .required = true});
    record.Field("at", &FaultSpec::when, &FaultWhen::at, Maybe(Time()), "At this time of the simulation.",
                 {.example = "400s"});
    record.Custom("when", Of(WhenTable).info, "When a job or task reaches a state.",
                  [](Decoder& decoder, const Node& node, FaultSpec& out) { WhenTable().Read(decoder, node, out.when); },
                  {.example = "{job: a, state: running}"});
    record.Field("after", &FaultSpec::when, &FaultWhen::after, Time(), "With `when`: so long after that.");
    record.Field("every", &FaultSpec::when, &FaultWhen::every, Maybe(Random(LawUnit::kSeconds)),
                 "Again and again; the time to the next, from the end of the last.",
                 {.example = "{dist: exponential, mean: 30d}"});
    record.Custom("per", Word({"node"}).info, "With `every`: each node on its own.",
                  [](Decoder& decoder, const Node& node, FaultSpec& out) {
                    out.when.per_node = ReadChoice(decoder, node, {"node"}) == 0;
                  });
    record.Field("target", &FaultSpec::target, Maybe(Selector()), "Whom it happens to.", {.example = "{label: gpu}"});
    record.Field("between", &FaultSpec::between, ListOf(Selector()), "Of a partition: the groups.",
                 {.example = "[{rack: r1}, {am: a}]"});
    record.Field("for", &FaultSpec::duration, Maybe(Random(LawUnit::kSeconds)), "How long it lasts.",
                 {.example = "{dist: lognormal, median: 59m, sigma: 1.4}", .default_text = "the kind's, or for ever"});
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
  const auto& later = LaterFaultKinds();
  if (std::find(later.begin(), later.end(), node.text) != later.end()) {
    decoder.Error(node, fmt::format("faults of kind `{}` come in a later version", node.text));
    return false;
  }
  std::vector<std::string> names;
  for (const FaultKind& kind : FaultKinds()) names.push_back(kind.name);
  const std::string nearest = Nearest(node.text, names);
  std::vector<std::string> notes = {"`tfsim faults` lists them"};
  if (!nearest.empty()) notes.push_back(fmt::format("did you mean `{}`?", nearest));
  decoder.Error(node, fmt::format("there is no fault of kind {}", Describe(node)), std::move(notes));
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
    out.duration = Distribution::Constant(Seconds(ParseDuration(kind->default_for).value_or(Duration::zero())));
  }
  const bool has_time = out.when.at || out.when.state || out.when.every;
  if (!has_time && kind->armed_at_start) out.when.at = Duration::zero();
  if (!out.target && kind->target == FaultTarget::kRm) out.target = Target{.kind = TargetKind::kRm};
  if (!out.target && kind->target == FaultTarget::kHdfs) out.target = Target{.kind = TargetKind::kHdfs};
  if (!out.target && out.when.per_node) out.target = Target{.kind = TargetKind::kAllNodes};
  if (out.kind == "trace") {
    out.trace_file = out.words["file"];
    out.trace_system = static_cast<std::int32_t>(out.numbers["system"]);
  }
}

}  // namespace

Type<Target> Selector() {
  return {.info = SelectorInfo(),
          .read = [](Decoder& decoder, const Node& node, Target& out) { ReadSelector(decoder, node, 0, out); },
          .show = [](const Target&) { return std::string(); }};
}

Type<FaultSpec> Fault() {
  return {.info = Of(FaultTable).info, .read = ReadFault, .show = [](const FaultSpec&) { return std::string(); }};
}

}  // namespace tfyarn::config
