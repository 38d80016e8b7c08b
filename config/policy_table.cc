// The field `policy`: a name, or a map of a name and that policy's options. Names and options are
// those of the tables of core/policy.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/job_table.h"
#include "config/names.h"
#include "config/suggest.h"
#include "core/model/check.h"
#include "core/policy/options.h"

namespace tfyarn::config {
namespace {

std::vector<std::string> PolicyNames() {
  std::vector<std::string> names;
  for (const policy::Table* table : policy::AllTables()) names.emplace_back(table->name);
  return names;
}

/// The words that an option may be given, without its kinds.
std::vector<std::string> WordsOf(const policy::OptionRow& option) {
  std::vector<std::string> words;
  for (const std::string_view word : policy::AllowedOf(option)) {
    if (!policy::RangeOf(word) && word != "types") words.emplace_back(word);
  }
  return words;
}

/// The number that an option may be given; nullopt: none.
std::optional<Type<std::int32_t>> NumberOf(const policy::OptionRow& option) {
  for (const std::string_view kind : policy::AllowedOf(option)) {
    if (const auto range = policy::RangeOf(kind))
      return Count(range->from, range->to.value_or(1'000'000));
  }
  return std::nullopt;
}

/// One value of an option as the policy takes it.
std::string OptionText(Decoder& decoder, const Node& node, const policy::OptionRow& option) {
  if (policy::MayBe(option, "types")) {
    std::vector<std::string> types;
    OneOrMore(TaskTypeName()).read(decoder, node, types);
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : ",") + type;
    return text;
  }
  const std::vector<std::string> words = WordsOf(option);
  const auto number = NumberOf(option);
  const bool is_word = std::find(words.begin(), words.end(), node.text) != words.end();
  if (number && !is_word) {
    std::int32_t value = 0;
    number->read(decoder, node, value);
    return std::to_string(value);
  }
  return ReadChoice(decoder, node, words) >= 0 ? node.text : std::string();
}

void ReadOption(Decoder& decoder, const Entry& entry, PolicySpec& out) {
  std::vector<std::string> known;
  const policy::Table* table = policy::FindTable(out.name);
  TF_CHECK(table != nullptr);  // ReadPolicy has read it.
  for (const policy::OptionRow& option : table->options) {
    known.emplace_back(option.name);
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
  if (!node.is_map()) return Word(PolicyNames()).read(decoder, node, out.name);
  const Node* name = node.Find("name");
  if (name == nullptr) {
    if (decoder.complete())
      decoder.Error(node, "`name` is missing in policy", NotesForNames("", PolicyNames()));
    return;
  }
  const std::size_t before = decoder.findings().size();
  Word(PolicyNames()).read(decoder, *name, out.name);
  if (decoder.findings().size() != before) return;
  for (const Entry& entry : node.entries) {
    if (entry.key != "name") ReadOption(decoder, entry, out);
  }
}

TypeInfo TypeOf(const policy::OptionRow& option) {
  if (policy::MayBe(option, "types")) return OneOrMore(TaskTypeName()).info;
  if (option.allowed == "true|false") return Bool().info;
  const auto number = NumberOf(option);
  const TypeInfo word = Word(WordsOf(option)).info;
  if (!number) return word;
  if (WordsOf(option).empty()) return number->info;
  return AnyOf(fmt::format("{}, or {}", TextOf(number->info), TextOf(word)), {number->info, word});
}

const RecordInfo& PolicyInfo() {
  static const RecordInfo info = [] {
    RecordInfo record{.name = "policy",
                      .doc = "A built-in table that turns exits into decisions, with its options."};
    record.fields.push_back({.name = "name",
                             .type = Word(PolicyNames()).info,
                             .default_text = "",
                             .doc = "Which table.",
                             .example = "tony",
                             .required = true});
    for (const policy::Table* table : policy::AllTables()) {
      for (const policy::OptionRow& option : table->options) {
        const TypeInfo one = TypeOf(option);
        TypeInfo type = one;
        if (option.per_type)
          type = AnyOf(
              TextOf(one) + ", or a map from task type to that",
              {one,
               {.shape = Shape::kMap, .text = {}, .pattern = TaskTypeKeys().pattern, .of = {one}}});
        record.fields.push_back(
            {.name = std::string(option.name),
             .type = std::move(type),
             .default_text =
                 std::string(option.standard_text.empty() ? option.standard : option.standard_text),
             .doc = fmt::format("Only with `{}`: {}", table->name, option.doc),
             .example = "",
             .required = false});
      }
    }
    return record;
  }();
  return info;
}

}  // namespace

Type<PolicySpec> Policy() {
  return {
      .info = AnyOf("name of a policy, or a map with its name and options",
                    {Word(PolicyNames()).info, {.shape = Shape::kRecord, .record = PolicyInfo}}),
      .read = ReadPolicy,
      .show = [](const PolicySpec& policy) { return policy.name; }};
}

}  // namespace tfyarn::config
