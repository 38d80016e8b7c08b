// Reading expectations: `{job: a, status: SUCCEEDED}`, `{metric: ..., at_most: ...}`, `{never:
// "..."}`,
// `{eventually: "..."}`.
//
// Whether a named job exists is checked with the whole scenario (scenario_checks.cc); which names a
// result has is known here (metric_names.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "config/emit.h"
#include "config/metric_reader.h"
#include "config/names.h"
#include "config/scenario_table.h"
#include "config/suggest.h"

namespace tfyarn::config {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<std::string> kOperators = {"equals", "at_least", "at_most", "between"};
const std::vector<std::string> kStatuses = {"SUCCEEDED", "FAILED", "KILLED", "UNFINISHED"};

double ReadNumber(Decoder& decoder, const Node& node, MetricKind kind) {
  if (!node.is_scalar()) {
    decoder.Wrong(node, "a number");
    return 0;
  }
  std::string problem;
  const auto number = NumberFor(node.text, kind, problem);
  if (!number) decoder.BadValue(node, problem);
  return number.value_or(0);
}

bool IsStatus(std::string_view metric) {
  return metric.starts_with("job/") && metric.ends_with(".status");
}

void CheckWord(Decoder& decoder, const Node& node, std::string_view metric) {
  if (!node.is_scalar()) return decoder.Wrong(node, "a word");
  if (IsStatus(metric)) (void)ReadChoice(decoder, node, kStatuses);
}

/// `equals` in its short form: a value, or a list of which one must be it.
void ReadEquals(Decoder& decoder, const Node& node, MetricKind kind, Comparison& out) {
  if (node.is_null()) {
    out.op = ExpectOp::kEquals;
    out.words.emplace_back("null");
    return;
  }
  if (kind == MetricKind::kWord) {
    const std::vector<Node> one = {node};
    out.op = node.is_list() ? ExpectOp::kIn : ExpectOp::kEquals;
    for (const Node& word : node.is_list() ? node.items : one) {
      CheckWord(decoder, word, out.metric);
      out.words.push_back(word.text);
    }
    if (out.words.empty()) decoder.Wrong(node, "a word or a list of them");
    return;
  }
  out.op = ExpectOp::kEquals;
  out.low = out.high = ReadNumber(decoder, node, kind);
}

void ReadOperator(Decoder& decoder, const Entry& entry, MetricKind kind, Comparison& out) {
  const Decoder::Scope scope(decoder, entry.key);
  const Node& node = entry.value;
  if (entry.key == "equals") return ReadEquals(decoder, node, kind, out);
  if (kind == MetricKind::kWord) {
    return decoder.ErrorAtKey(entry,
                              fmt::format("`{}`: {} is a word, no number", entry.key, out.metric),
                              {"allowed: equals"});
  }
  out.low = -kInfinity;
  out.high = kInfinity;
  if (entry.key == "at_least") {
    out.op = ExpectOp::kAtLeast;
    out.low = ReadNumber(decoder, node, kind);
  } else if (entry.key == "at_most") {
    out.op = ExpectOp::kAtMost;
    out.high = ReadNumber(decoder, node, kind);
  } else {
    out.op = ExpectOp::kBetween;
    if (!node.is_list() || node.items.size() != 2)
      return decoder.Wrong(node, "a list of two numbers");
    out.low = ReadNumber(decoder, node.items[0], kind);
    out.high = ReadNumber(decoder, node.items[1], kind);
    if (out.low > out.high) decoder.Error(node, "`between`: the first number is above the second");
  }
}

void ReadWhere(Decoder& decoder, const Node& node, Expectation& out) {
  const Decoder::Scope scope(decoder, "where");
  if (!node.is_map() || node.entries.empty())
    return decoder.Wrong(node, "a map of matrix paths to values");
  for (const Entry& entry : node.entries) {
    if (!entry.value.is_scalar()) {
      decoder.Wrong(entry.value, "one value of the matrix");
    } else {
      out.where[entry.key] = EmitInline(entry.value);
    }
  }
}

/// Reports keys beyond `known`, and where none of them was given.
void CheckKeys(Decoder& decoder, const Node& node, const std::vector<std::string>& known) {
  for (const Entry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    decoder.ErrorAtKey(
        entry,
        fmt::format("unknown field `{}` in an expectation of this form", Printable(entry.key)),
        NotesForNames(entry.key, known));
  }
}

void ReadMetric(Decoder& decoder, const Node& node, Expectation& out) {
  CheckKeys(decoder, node, {"metric", "equals", "at_least", "at_most", "between", "where"});
  const Node& metric = *node.Find("metric");
  const Decoder::Scope scope(decoder, "metric");
  if (!metric.is_scalar()) return decoder.Wrong(metric, "a name of the result, like job/a.epochs");
  const auto kind = KindOf(decoder, metric, metric.text);
  int operators = 0;
  for (const Entry& entry : node.entries) {
    if (std::find(kOperators.begin(), kOperators.end(), entry.key) == kOperators.end()) continue;
    ++operators;
    Comparison comparison{.metric = metric.text};
    if (kind) ReadOperator(decoder, entry, *kind, comparison);
    out.all_of.push_back(std::move(comparison));
  }
  if (operators == 0)
    decoder.Error(node, "`metric` is compared with nothing",
                  {"allowed: equals, at_least, at_most, between"});
}

void ReadJobField(Decoder& decoder, const std::string& job, const std::string& path,
                  const Entry& entry, Expectation& out) {
  const std::string name = path.empty() ? entry.key : path + "." + entry.key;
  Comparison comparison{.metric = fmt::format("job/{}.{}", job, name)};
  const MetricName* known = FindMetric(JobMetrics(), name);
  if (known != nullptr && entry.value.is_map() && entry.value.entries.size() == 1 &&
      std::find(kOperators.begin(), kOperators.end(), entry.value.entries[0].key) !=
          kOperators.end()) {
    ReadOperator(decoder, entry.value.entries[0], known->kind, comparison);
    out.all_of.push_back(std::move(comparison));
    return;
  }
  if (entry.value.is_map() && path.empty()) {
    for (const Entry& inner : entry.value.entries)
      ReadJobField(decoder, job, entry.key, inner, out);
    return;
  }
  if (known == nullptr) {
    std::vector<std::string> names = NamesOf(JobMetrics());
    return decoder.ErrorAtKey(entry,
                              fmt::format("there is no field `{}` of a job", Printable(name)),
                              NotesForNames(name, names));
  }
  const Decoder::Scope scope(decoder, name);
  ReadEquals(decoder, entry.value, known->kind, comparison);
  out.all_of.push_back(std::move(comparison));
}

void ReadJob(Decoder& decoder, const Node& node, Expectation& out) {
  std::string job;
  {
    const Decoder::Scope scope(decoder, "job");
    JobName().read(decoder, *node.Find("job"), job);
  }
  for (const Entry& entry : node.entries) {
    if (entry.key == "job" || entry.key == "where") continue;
    ReadJobField(decoder, job, "", entry, out);
  }
  if (node.entries.size() == (node.Find("where") != nullptr ? 2U : 1U)) {
    decoder.Error(node, "nothing is expected of the job", {"like status: SUCCEEDED"});
  }
}

/// "METRIC OP VALUE" in its parts; `op` is empty when there is none.
struct ConditionText {
  std::string_view metric;
  std::string_view op;
  std::string_view value;
};

ConditionText SplitCondition(std::string_view text) {
  constexpr std::string_view kOperatorChars = "=<>!";
  const auto trim = [](std::string_view part) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    return part;
  };
  const std::size_t begin = std::min(text.find_first_of(kOperatorChars), text.size());
  const std::size_t end = std::min(text.find_first_not_of(kOperatorChars, begin), text.size());
  return {.metric = trim(text.substr(0, begin)),
          .op = text.substr(begin, end - begin),
          .value = trim(text.substr(end))};
}

/// False when there is no such operator.
bool TakeOperator(std::string_view op, double number, Comparison& out) {
  out.low = -kInfinity;
  out.high = kInfinity;
  if (op == "==") {
    out.op = ExpectOp::kEquals;
    out.low = out.high = number;
  } else if (op == ">=" || op == ">") {
    out.op = ExpectOp::kAtLeast;
    out.low = op == ">" ? std::nextafter(number, kInfinity) : number;
  } else if (op == "<=" || op == "<") {
    out.op = ExpectOp::kAtMost;
    out.high = op == "<" ? std::nextafter(number, -kInfinity) : number;
  } else {
    return false;
  }
  return true;
}

/// The condition of never and eventually.
void ReadCondition(Decoder& decoder, const Node& node, Expectation& out) {
  constexpr std::string_view kForm = "a comparison like job/a.epochs == 2";
  const std::string allowed = "allowed: ==, <, <=, >, >=";
  if (!node.is_scalar()) return decoder.Wrong(node, kForm);
  const ConditionText text = SplitCondition(node.text);
  if (text.op.empty()) return decoder.Wrong(node, kForm, {allowed});
  Comparison comparison{.metric = std::string(text.metric)};
  const auto kind = KindOf(decoder, node, text.metric);
  if (!kind) return;
  if (text.value.empty()) return decoder.Wrong(node, kForm);
  if (*kind == MetricKind::kWord || text.value == "null") {
    if (text.op != "==") {
      return decoder.Error(node, decoder.Named(fmt::format("{} is a word, no number", text.metric)),
                           {"allowed: =="});
    }
    Node word = node;
    word.text = std::string(text.value);
    CheckWord(decoder, word, text.metric);
    comparison.words.emplace_back(text.value);
    out.all_of.push_back(std::move(comparison));
    return;
  }
  std::string problem;
  const auto number = NumberFor(text.value, *kind, problem);
  if (!number) {
    return decoder.Error(node, decoder.Named(fmt::format("{} {}", Printable(text.value), problem)));
  }
  if (!TakeOperator(text.op, *number, comparison)) {
    return decoder.Error(
        node, decoder.Named(fmt::format("there is no comparison `{}`", Printable(text.op))),
        {allowed});
  }
  out.all_of.push_back(std::move(comparison));
}

/// `never` and `eventually`: a condition and, from when and until when it is looked for.
void ReadMoment(Decoder& decoder, const Node& node, const std::string& form, Expectation& out) {
  CheckKeys(decoder, node, {form, "within", "after", "where"});
  {
    const Decoder::Scope scope(decoder, form);
    ReadCondition(decoder, *node.Find(form), out);
  }
  if (const Node* within = node.Find("within")) {
    const Decoder::Scope scope(decoder, "within");
    Maybe(Time()).read(decoder, *within, out.within);
  }
  if (const Node* after = node.Find("after")) {
    const Decoder::Scope scope(decoder, "after");
    TextLike("^fault/[0-9]+$", "a fault like fault/0", [](std::string_view text) {
      return text.starts_with("fault/") && text.size() > 6 && text.size() < 16 &&
             std::all_of(text.begin() + 6, text.end(), [](char c) { return c >= '0' && c <= '9'; });
    }).read(decoder, *after, out.after);
  }
}

const RecordInfo& ExpectInfo() {
  static const RecordInfo info = [] {
    RecordInfo record{.name = "expectation",
                      .doc =
                          "What must hold, in one of four forms: `{job: a, status: SUCCEEDED, "
                          "epochs: 2}` of a job at "
                          "the end; `{metric: NAME, at_most: 62s}` of any name of the result; "
                          "`{never: \"NAME > 0\"}` at "
                          "every moment; `{eventually: \"NAME == 2\", within: 30s, after: "
                          "fault/0}` at some moment."};
    const auto add = [&](std::string name, TypeInfo type, std::string doc, std::string example) {
      record.fields.push_back({.name = std::move(name),
                               .type = std::move(type),
                               .default_text = "",
                               .doc = std::move(doc),
                               .example = std::move(example),
                               .required = false});
    };
    const TypeInfo value{.shape = Shape::kText, .text = "number, duration, share or word"};
    const TypeInfo text{.shape = Shape::kText, .text = "text"};
    add("job", text,
        "Name of a job; the other keys are fields of it in the result, with a value, a list of "
        "which one must be it (`*` in a word stands for any text), or {at_most: ...}.",
        "a");
    add("metric", text,
        "A name of the result: job/NAME.FIELD, fault/N.FIELD, invariant/NAME.violations, a metric, "
        "or "
        "METRIC.mean and the like of many runs.",
        "job/a.lost_work_seconds");
    add("equals", value, "The metric is this.", "2");
    add("at_least", value, "The metric is this or more.", "0.8");
    add("at_most", value, "The metric is this or less.", "62s");
    add("between", {.shape = Shape::kList, .text = "list of two numbers", .of = {value}},
        "The metric is in this range.", "[1, 3]");
    add("never", text, "NAME, one of == < <= > >=, and a value: no moment has this.",
        "\"job/a.leaked_containers > 0\"");
    add("eventually", text, "The same: some moment has this.", "\"job/a.epochs == 2\"");
    add("within", Time().info,
        "With `never` and `eventually`: not later than so long after `after`.", "30s");
    add("after", text,
        "With `never` and `eventually`: from this fault on, by its position from 0; without it "
        "from the start.",
        "fault/0");
    add("where",
        {.shape = Shape::kMap,
         .text = "map of matrix paths to values",
         .pattern = "",
         .of = {value}},
        "Only of this cell of the matrix.", "{defaults.gang.policy: all}");
    record.other_keys = "^[a-z_]+(\\.[a-z_]+)*$";
    return record;
  }();
  return info;
}

void ReadExpect(Decoder& decoder, const Node& node, Expectation& out) {
  if (!node.is_map()) return decoder.Wrong(node, "an expectation like {job: a, status: SUCCEEDED}");
  out.text = EmitInline(node);
  if (const Node* where = node.Find("where")) ReadWhere(decoder, *where, out);
  if (node.Find("metric") != nullptr) {
    ReadMetric(decoder, node, out);
  } else if (node.Find("never") != nullptr) {
    out.kind = ExpectKind::kNever;
    ReadMoment(decoder, node, "never", out);
  } else if (node.Find("eventually") != nullptr) {
    out.kind = ExpectKind::kEventually;
    ReadMoment(decoder, node, "eventually", out);
  } else if (node.Find("job") != nullptr) {
    ReadJob(decoder, node, out);
  } else {
    std::vector<std::string> notes = {"allowed: job, metric, never, eventually"};
    decoder.Error(node, "an expectation begins with `job`, `metric`, `never` or `eventually`");
  }
}

}  // namespace

Type<Expectation> Expect() {
  return {.info = {.shape = Shape::kRecord, .record = ExpectInfo},
          .read = ReadExpect,
          .show = [](const Expectation& expectation) { return expectation.text; }};
}

}  // namespace tfyarn::config
