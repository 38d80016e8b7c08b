// The field table as reference pages.
#include <fmt/format.h>

#include "config/fault_kinds.h"
#include "config/ignored_fields.h"
#include "config/metric_names.h"
#include "config/reference_tree.h"

namespace tfyarn::config {
namespace {

std::string Anchor(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ') {
      out += '-';
    } else if (c != '`' && c != '.' && c != '[' && c != ']' && c != '*' && c != '(' && c != ')') {
      out += c;
    }
  }
  return out;
}

/// Fit for a cell of a table.
std::string TableCell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string TypeCell(const TypeInfo& type) {
  const auto records = RecordsIn(type);
  if (type.shape == Shape::kRecord)
    return fmt::format("[{}](#{})", records[0]->name, Anchor(records[0]->name));
  if (type.shape == Shape::kList && !type.of.empty()) return "list of " + TypeCell(type.of[0]);
  std::string out = TableCell(TextOf(type));
  for (const RecordInfo* record : records)
    out += fmt::format(", see [{}](#{})", record->name, Anchor(record->name));
  return out;
}

std::string RecordSection(const PlacedRecord& placed) {
  const RecordInfo& record = *placed.record;
  std::string out = fmt::format("## {}\n\n", record.name);
  if (!placed.path.empty()) out += fmt::format("At `{}`. ", placed.path);
  out += record.doc + "\n\n| field | type | default | meaning |\n|---|---|---|---|\n";
  for (const FieldInfo& field : record.fields) {
    std::string meaning = TableCell(field.doc);
    if (!field.example.empty()) meaning += fmt::format(" Example: `{}`", TableCell(field.example));
    for (const auto& [host, why] : field.ignored_by)
      meaning += fmt::format(" *Ignored {}*: {}.", WhereIgnored(host), TableCell(why));
    const std::string shown = field.required ? "required" : TableCell(field.default_text);
    out +=
        fmt::format("| `{}` | {} | {} | {} |\n", field.name, TypeCell(field.type), shown, meaning);
  }
  return out + "\n";
}

constexpr std::string_view kValues = R"(## Values

| written | means |
|---|---|
| `100ms` `30s` `5m` `2h` `1d12h` | a duration (ns, us, ms, s, m, h, d, w); a bare number is an error |
| `512MiB` `16GiB` | memory or a size (B, KiB, MiB, GiB, TiB) |
| `10Gbps` | a bandwidth (bps, Kbps, Mbps, Gbps, Tbps) |
| `60%` | a share |
| `20/h` | a rate |
| `3` | a count: a bare whole number |
| `{dist: uniform, min: 1s, max: 3s}` | a random quantity, wherever a type says `or distribution` |

)";

std::string LawSection() {
  std::string out = "Distributions and their parameters:";
  for (const LawForm& law : LawForms()) {
    out += fmt::format(" `{}{{", law.name);
    for (const auto& [name, in_unit] : law.params)
      out += (name == law.params[0].first ? "" : ", ") + name;
    out += "}`";
  }
  return out + " `empirical{values}`.\n\n";
}

constexpr std::string_view kMerging = R"(## Several files and `--set`

`include: [a.yaml, b.yaml]` names files relative to this one. Later wins: b over a, this file over both, `--set path=value`
over all. Maps merge key by key; anything else, lists too, is replaced as a whole; `null` removes what is there. A path of
`--set` names map keys, list positions, or the `name` of a list element: `jobs.a.tasks.worker.instances=4`, `faults.0.at=5m`.

Limits: 1 MiB a file, depth 64, 100,000 values, 100 aliases. A key twice, a merge key (`<<`), a tag and a second document are
errors. All errors of a file are reported at once, 20 at most, each with its place.

)";

constexpr std::string_view kSelectors = R"(## Selectors

| written | selects |
|---|---|
| `{node: n-3}` | a node |
| `{rack: r1}` | all nodes of a rack |
| `{label: gpu}` | all nodes with that label |
| `nodes` | all nodes |
| `{job: a, task: "worker:1"}` | the container of a task; for faults of nodes, the node that it is on when the fault strikes |
| `{job: a, task: worker}`, `{job: a}` | those of all workers, of all tasks |
| `{am: a}` | the job's ApplicationMaster, or the node that it is on |
| `{random: 2, of: {label: gpu}}` | so many of them; without `of`, of all nodes |
| `{fraction: 0.1, of: {rack: r1}}` | such a part of them |
| `rm`, `hdfs` | the ResourceManager, HDFS |

)";

std::string FaultSection() {
  std::string out =
      "## Kinds of faults\n\n| kind | what happens | `target` | `for` | parameters "
      "|\n|---|---|---|---|---|\n";
  for (const FaultKind& kind : FaultKinds()) {
    std::string params;
    for (const FaultParam& param : kind.params) {
      if (!params.empty()) params += "; ";
      params +=
          fmt::format("`{}`{}{}: {}", param.name, param.required ? " (required)" : "",
                      param.default_text.empty() ? "" : " (" + param.default_text + ")", param.doc);
      if (params.back() == '.') params.pop_back();
    }
    const std::string lasts = kind.lasts == ForRule::kNever ? "no"
                              : kind.default_for.empty()    ? "for ever"
                                                            : kind.default_for;
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", kind.name, TableCell(kind.doc),
                       TableCell(TargetText(kind.target)), lasts, TableCell(params));
  }
  out += "\nExamples:\n\n```yaml\nfaults:\n";
  for (const FaultKind& kind : FaultKinds()) out += "  - " + kind.example + "\n";
  out += "```\n\nMessages that `drop`, `delay` and `duplicate` know:";
  for (const std::string& name : MessageNames()) out += fmt::format(" `{}`", name);
  return out + ".\n\n";
}

std::string MetricSection() {
  const auto list = [](const std::vector<MetricName>& names) {
    std::string out;
    for (const MetricName& metric : names) out += fmt::format(" `{}`", metric.name);
    return out;
  };
  return "## Names in expectations\n\nOf a job (`job/NAME.FIELD`):" + list(JobMetrics()) +
         ".\n\nOf a run:" + list(RunMetrics()) +
         ".\n\nOf a fault (`fault/N.FIELD`):" + list(FaultMetrics()) +
         ".\n\nOf many runs:" + list(EnsembleMetrics()) +
         ", and each figure of a run with `.mean`, `.sd`, `.min`, `.p50`, `.p99` or `.max`.\n";
}

}  // namespace

std::string ReferenceMarkdown(FileKind kind) {
  const bool scenario = kind == FileKind::kScenario;
  std::string out = scenario ? "# scenario.yaml\n\n" : "# job.yaml\n\n";
  out +=
      "Generated from the field table in `config/`; `TFYARN_REWRITE=1 ctest -R config_test` writes "
      "it anew.\n\n";
  out += kValues;
  if (scenario) out += LawSection();
  out += kMerging;
  for (const PlacedRecord& placed : AllRecords(kind)) out += RecordSection(placed);
  if (scenario) {
    out += kSelectors;
    out += FaultSection();
    out += MetricSection();
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace tfyarn::config
