// A policy's table as text for people. Everything is read from the table; nothing is said twice by
// hand.
#include "core/policy/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/model/text.h"
#include "core/policy/engine.h"
#include "core/policy/exit_classifier.h"
#include "core/policy/options.h"

namespace tfyarn::policy {
namespace {

template <class F>
void ForEachClass(F&& f) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<ExitClass>>(
      [&](auto d) { f(d.value); });
}

std::string ClassNames(const ExitClassSet& set, bool listed) {
  std::string names;
  ForEachClass([&](ExitClass c) {
    if (set.Has(c) != listed) return;
    if (!names.empty()) names += ", ";
    names += KebabName(c);
  });
  return names;
}

std::string ClassesText(const ExitClassSet& set) {
  const ExitClassSet failure = ExitClassSet::Except({ExitClass::kOk, ExitClass::kKilledByUs});
  if (set.bits == ExitClassSet::Except({}).bits) return "any end";
  if (set.bits == failure.bits) return "any failure";
  return ClassNames(set, true);
}

std::string RoleText(const Row& row) {
  switch (row.role) {
    case RoleIs::kAny:
      return {};
    case RoleIs::kChief:
      return "chief";
    case RoleIs::kTracked:
      return "tracked";
    case RoleIs::kWaived:
      return "tracked, but a dependency with do: ignore expired";
    case RoleIs::kService:
      return "service";
    case RoleIs::kDrained:
      return "drained";
    case RoleIs::kSidecar:
      return "sidecar";
    case RoleIs::kInList:
      return fmt::format("type in {}", row.list);
  }
  return {};
}

std::string AskText(Condition ask, std::string_view yes, std::string_view no) {
  switch (ask) {
    case Condition::kEither:
      return {};
    case Condition::kYes:
      return std::string(yes);
    case Condition::kNo:
      return std::string(no);
  }
  return {};
}

std::string WhenText(const Row& row) {
  std::vector<std::string> parts;
  if (std::string role = RoleText(row); !role.empty()) parts.push_back(std::move(role));
  if (!row.task_type.empty()) parts.emplace_back(row.task_type);
  parts.push_back(ClassesText(row.classes));
  if (row.exit_to != 0) parts.push_back(fmt::format("exit {}..{}", row.exit_from, row.exit_to));
  if (!row.exits.empty()) parts.push_back(fmt::format("exit {}", fmt::join(row.exits, ", ")));
  if (!row.option.empty()) parts.push_back(fmt::format("{} = {}", row.option, row.value));
  for (std::string ask : {AskText(row.registered, "registered", "never registered"),
                          AskText(row.tracked_ended, "all tracked tasks have ended",
                                  "a tracked task has not ended")}) {
    if (!ask.empty()) parts.push_back(std::move(ask));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string ActionText(const Table& table, const Row& row) {
  if (IsRestart(row.action)) {
    const std::string action =
        fmt::format("{}{}", KebabName(row.action), row.other_container ? " elsewhere" : "");
    const bool unlimited =
        row.pays == Pays::kNone && row.limit.option.empty() && !row.limit.at_most;
    if (unlimited) return action;
    if (row.next_when_spent) return action + ", then the next row";
    return fmt::format("{}, then {}", action, KebabName(row.when_spent));
  }
  if (row.action == ExitAction::kFail && table.retry_instead_of_failing)
    return "fail (or restart-gang)";
  return KebabName(row.action);
}

/// What a row's restarts are counted by.
std::string_view CountedText(Counted counted) {
  switch (counted) {
    case Counted::kPaid:
      return "";
    case Counted::kPaidForTask:
    case Counted::kOfTask:
      return " of each task";
    case Counted::kPaidForType:
      return " of each task type";
    case Counted::kInContainer:
      return " in one container";
  }
  return "";
}

/// How many restarts the row has of its own; "" = those of its budget.
std::string LimitText(const RowLimit& limit) {
  std::string number(limit.option);
  if (limit.at_most) number = std::to_string(*limit.at_most);
  if (number.empty()) number = std::string(limit.name);
  if (number.empty()) return {};
  if (limit.less > 0) number += fmt::format(" - {}", limit.less);
  if (limit.window) number += " within " + ToString(*limit.window);
  return number + std::string(CountedText(limit.counted));
}

std::string PaysText(const Table& table, const Row& row) {
  if (row.action == ExitAction::kFail && table.retry_instead_of_failing) return "user";
  if (!IsRestart(row.action)) return {};
  std::string payer = "user";
  if (row.pays == Pays::kByClass) payer = "by class";
  if (row.pays == Pays::kNone) payer = "no budget";
  const std::string limit = LimitText(row.limit);
  return limit.empty() ? payer : payer + ", " + limit;
}

/// Whether options given by name make the row's condition false for every type.
bool IsOff(const Row& row, const std::map<std::string, std::string>& options) {
  if (row.option.empty()) return false;
  const std::string key(row.option);
  bool given = false;
  for (const auto& [name, value] : options) {
    if (name != key && !name.starts_with(key + ".")) continue;
    given = given || name == key;
    if (value == row.value) return false;
  }
  return given;
}

std::vector<RowText> RoleTexts(const Table& table) {
  std::vector<RowText> roles;
  std::string chiefs = fmt::format("{}", fmt::join(table.chiefs, ", "));
  if (table.worker0_is_chief) chiefs += "; worker:0 in a job without";
  roles.push_back(
      {.name = std::move(chiefs), .when = "", .action = "the chief", .pays = "", .why = ""});
  for (const ClassRow& row : table.classes) {
    std::string type = row.task_type.empty() ? "any other" : std::string(row.task_type);
    if (!row.list.empty()) type = fmt::format("types in {}", row.list);
    roles.push_back({.name = std::move(type),
                     .when = "",
                     .action = KebabName(row.task_class),
                     .pays = "",
                     .why = ""});
  }
  return roles;
}

std::string OrNone(std::string_view text) {
  return text.empty() ? "none" : fmt::format("`{}`", text);
}

/// `|` separates cells; everything else in the tables is plain words.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string OptionTable(const std::vector<RowText>& options) {
  std::string out = "| option | standard | allowed | what it does |\n| --- | --- | --- | --- |\n";
  for (const RowText& row : options) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", row.name, Cell(row.when), Cell(row.action),
                       Cell(row.why));
  }
  return out;
}

}  // namespace

std::vector<std::string_view> Names() {
  std::vector<std::string_view> names;
  for (const Table* table : AllTables()) names.push_back(table->name);
  return names;
}

Expected<Text> Describe(std::string_view name, const std::map<std::string, std::string>& options) {
  const auto found = FindPolicy(name);
  if (!found) return tl::unexpected<Error>(found.error());
  const Table& table = **found;
  if (auto checked = CheckOptions(table, options, std::nullopt); !checked)
    return tl::unexpected<Error>(checked.error());
  Text text;
  text.name = std::string(table.name);
  text.summary = std::string(table.summary);
  for (const OptionRow& option : table.options) {
    const auto given = options.find(std::string(option.name));
    std::string value = OrNone(given == options.end() ? option.standard : given->second);
    if (given == options.end() && !option.standard_text.empty()) value = option.standard_text;
    text.options.push_back(
        {.name = fmt::format("{}{}", option.name, option.per_type ? "[.TYPE]" : ""),
         .when = std::move(value),
         .action = std::string(option.allowed.starts_with('|') ? option.allowed.substr(1)
                                                               : option.allowed),
         .pays = "",
         .why = std::string(option.doc)});
  }
  text.roles = RoleTexts(table);
  for (const Row& row : table.rows) {
    if (IsOff(row, options)) continue;
    text.rows.push_back({.name = std::string(row.name),
                         .when = WhenText(row),
                         .action = ActionText(table, row),
                         .pays = PaysText(table, row),
                         .why = std::string(row.why)});
  }
  for (const VerdictRow& row : table.verdicts) {
    text.verdicts.push_back({.name = std::string(row.name),
                             .when = std::string(row.when),
                             .action = KebabName(row.status),
                             .pays = "",
                             .why = std::string(row.why)});
  }
  return text;
}

std::string ToMarkdown(const Text& text) {
  std::string out = fmt::format("## {}\n\n{}\n\n", text.name, text.summary);
  if (!text.options.empty()) out += OptionTable(text.options) + "\n";
  out += "| task types | class |\n| --- | --- |\n";
  for (const RowText& row : text.roles) out += fmt::format("| {} | {} |\n", row.name, row.action);
  out += "\n| row | when | do | pays | why |\n| --- | --- | --- | --- | --- |\n";
  for (const RowText& row : text.rows) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, Cell(row.when), row.action,
                       row.pays, Cell(row.why));
  }
  out += "\n| verdict | when | job | why |\n| --- | --- | --- | --- |\n";
  for (const RowText& row : text.verdicts) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", row.name, Cell(row.when), row.action,
                       Cell(row.why));
  }
  return out;
}

}  // namespace tfyarn::policy
