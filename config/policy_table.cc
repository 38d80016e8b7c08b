// The field `policy`: a name, or a map of a name and that policy's options.
//
// What an option does is decided by the policy itself (core/am); here is only what may be written.
// A test compares the two lists.
#include <fmt/format.h>

#include <algorithm>

#include "config/job_table.h"
#include "config/names.h"
#include "config/suggest.h"

namespace tfyarn::config {
namespace {

const std::vector<std::string> kNames = {"default", "tony", "tf-yarn", "tfjob"};
const std::vector<std::string> kLaterNames = {"slider-tf", "framework-launcher", "hbox"};

std::vector<std::string> Words(std::string_view allowed) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t bar = allowed.find('|');
    words.emplace_back(allowed.substr(0, bar));
    if (bar == std::string_view::npos) return words;
    allowed.remove_prefix(bar + 1);
  }
}

void ReadName(Decoder& decoder, const Node& node, PolicySpec& out) {
  if (std::find(kLaterNames.begin(), kLaterNames.end(), node.text) != kLaterNames.end()) {
    return decoder.Error(node, fmt::format("the policy `{}` comes in a later version", node.text),
                         NotesForNames("", kNames));
  }
  Word(kNames).read(decoder, node, out.name);
}

/// One value of an option as the policy takes it.
std::string OptionText(Decoder& decoder, const Node& node, const PolicyOptionInfo& option) {
  if (option.allowed == "types") {
    std::vector<std::string> types;
    OneOrMore(TaskTypeName()).read(decoder, node, types);
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : ",") + type;
    return text;
  }
  if (option.allowed == "number") {
    std::int32_t number = 0;
    Count(0, 1'000'000).read(decoder, node, number);
    return std::to_string(number);
  }
  const std::vector<std::string> words = Words(option.allowed);
  return ReadChoice(decoder, node, words) >= 0 ? node.text : std::string();
}

void ReadOption(Decoder& decoder, const Entry& entry, PolicySpec& out) {
  std::vector<std::string> known;
  for (const PolicyOptionInfo& option : PolicyOptions()) {
    if (option.policy != out.name) continue;
    known.push_back(option.name);
    if (option.name != entry.key) continue;
    const Decoder::Scope scope(decoder, entry.key);
    if (!option.per_type || !entry.value.is_map()) {
      out.options[entry.key] = OptionText(decoder, entry.value, option);
      return;
    }
    for (const Entry& of_type : entry.value.entries) {
      if (!CheckKey(decoder, of_type, TaskTypeKeys())) continue;
      out.options[entry.key + "." + of_type.key] = OptionText(decoder, of_type.value, option);
    }
    return;
  }
  decoder.ErrorAtKey(
      entry, fmt::format("the policy `{}` has no option `{}`", out.name, Printable(entry.key)),
      NotesForNames(entry.key, known));
}

void ReadPolicy(Decoder& decoder, const Node& node, PolicySpec& out) {
  out = {};
  if (!node.is_map()) return ReadName(decoder, node, out);
  const Node* name = node.Find("name");
  if (name == nullptr) {
    if (decoder.complete())
      decoder.Error(node, "`name` is missing in policy", NotesForNames("", kNames));
    return;
  }
  const std::size_t before = decoder.findings().size();
  ReadName(decoder, *name, out);
  if (decoder.findings().size() != before) return;
  for (const Entry& entry : node.entries) {
    if (entry.key != "name") ReadOption(decoder, entry, out);
  }
}

const RecordInfo& PolicyInfo() {
  static const RecordInfo info = [] {
    RecordInfo record{.name = "policy",
                      .doc = "A built-in table that turns exits into decisions, with its options."};
    record.fields.push_back({.name = "name",
                             .type = Word(kNames).info,
                             .default_text = "",
                             .doc = "Which table.",
                             .example = "tony",
                             .required = true});
    for (const PolicyOptionInfo& option : PolicyOptions()) {
      std::vector<TypeInfo> forms;
      if (option.allowed == "types") {
        forms.push_back(OneOrMore(TaskTypeName()).info);
      } else if (option.allowed == "number") {
        forms.push_back(Count(0, 1'000'000).info);
      } else if (option.allowed == "true|false") {
        forms.push_back(Bool().info);
      } else {
        forms.push_back(Word(Words(option.allowed)).info);
      }
      TypeInfo type = forms[0];
      if (option.per_type) type = MapOf(TaskTypeKeys(), Word(Words(option.allowed))).info;
      if (option.per_type)
        type = AnyOf(TextOf(forms[0]) + ", or a map from task type to that", {forms[0], type});
      record.fields.push_back({.name = option.name,
                               .type = std::move(type),
                               .default_text = option.standard,
                               .doc = fmt::format("Only with `{}`: {}", option.policy, option.doc),
                               .example = "",
                               .required = false});
    }
    return record;
  }();
  return info;
}

}  // namespace

const std::vector<PolicyOptionInfo>& PolicyOptions() {
  static const std::vector<PolicyOptionInfo> options = {
      {.policy = "tony",
       .name = "fail_on_worker_failure",
       .allowed = "true|false",
       .standard = "false",
       .doc = "The first failed task of any type fails the job."},
      {.policy = "tony",
       .name = "untracked",
       .allowed = "types",
       .standard = "ps",
       .doc = "Types whose success is not waited for."},
      {.policy = "tony",
       .name = "sidecar",
       .allowed = "types",
       .standard = "tensorboard",
       .doc = "Types whose end means nothing."},
      {.policy = "tony",
       .name = "stop_on_failure",
       .allowed = "types",
       .standard = "ps",
       .doc = "Types whose first failure fails the job."},
      {.policy = "tony",
       .name = "retry_count",
       .allowed = "number",
       .standard = "the job's retries.user",
       .doc = "tony.am.retry-count: how often the whole gang is started again."},
      {.policy = "tf-yarn",
       .name = "propagate",
       .allowed = "now|late",
       .standard = "now",
       .doc = "When a Python exception fails the job: at once, or, as in tf-yarn, when every "
              "chief, worker and other tracked task but the evaluator has ended."},
      {.policy = "tfjob",
       .name = "restart_policy",
       .allowed = "Never|OnFailure|Always|ExitCode",
       .standard = "Never",
       .per_type = true,
       .doc = "Kubeflow's restartPolicy: what the end of a replica (task) leads to."},
      {.policy = "tfjob",
       .name = "success_policy",
       .allowed = "|AllWorkers",
       .standard = "worker 0",
       .doc = "Without a chief: whose success is the job's."},
      {.policy = "tfjob",
       .name = "backoff_limit",
       .allowed = "number",
       .standard = "the job's retries.user; no limit when that is 0",
       .doc = "Kubeflow's backoffLimit: restarts of all replicas (tasks) together."},
      {.policy = "tfjob",
       .name = "enable_dynamic_worker",
       .allowed = "true|false",
       .standard = "false",
       .doc = "Failed workers do not fail the job."},
  };
  return options;
}

Type<PolicySpec> Policy() {
  return {.info = AnyOf("name of a policy, or a map with its name and options",
                        {Word(kNames).info, {.shape = Shape::kRecord, .record = PolicyInfo}}),
          .read = ReadPolicy,
          .show = [](const PolicySpec& policy) { return policy.name; }};
}

}  // namespace tfyarn::config
