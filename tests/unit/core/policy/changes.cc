#include "tests/unit/core/policy/changes.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tfyarn::policy {
namespace {

constexpr std::array<std::string_view, 8> kRoles = {"any",     "chief",   "tracked", "waived",
                                                    "service", "drained", "sidecar", "in list"};
constexpr std::array<std::string_view, 3> kAnswers = {"either", "yes", "no"};
constexpr std::array<std::string_view, 3> kPayers = {"none", "user", "by class"};
constexpr std::array<std::string_view, 5> kCounted = {"paid", "paid for task", "paid for type",
                                                      "of task", "in container"};

template <class E, std::size_t n>
std::string_view NameOf(const std::array<std::string_view, n>& names, E value) {
  return names[static_cast<std::size_t>(value)];
}

std::string RowName(const Row& row) {
  return fmt::format("row {}", row.name);
}

/// Collects the changes of one row.
class RowChanges {
 public:
  RowChanges(const Table& table, std::size_t index)
      : table_(table), index_(index), row_(table.rows[index]) {}

  std::vector<Change> All() {
    Add("row left out", [i = static_cast<std::ptrdiff_t>(index_)](TableCopy& copy) {
      copy.rows.erase(copy.rows.begin() + i);
    });
    OpenTask();
    ChangeExits();
    ChangeOption();
    Ask("registered", &Row::registered);
    Ask("tracked_ended", &Row::tracked_ended);
    ChangeAction();
    ChangePrice();
    return std::move(changes_);
  }

 private:
  void Add(std::string what, std::function<void(TableCopy&)> make) {
    changes_.push_back({RowName(row_), std::move(what), std::move(make)});
  }

  /// Another value in place of that of `member`.
  template <class T>
  void Set(std::string what, T Row::*member, T value) {
    if (row_.*member == value) return;
    Add(std::move(what),
        [i = index_, member, value](TableCopy& copy) { copy.rows[i].*member = value; });
  }

  void OpenTask() {
    Set(fmt::format("role {} -> any", NameOf(kRoles, row_.role)), &Row::role, RoleIs::kAny);
    Set(fmt::format("task_type {} -> any", row_.task_type), &Row::task_type, std::string_view());
  }

  void ChangeExits() {
    if (!row_.exits.empty()) {
      Add("exits -> any", [i = index_](TableCopy& copy) { copy.rows[i].exits = {}; });
      Add("last exit left out", [i = index_](TableCopy& copy) {
        copy.rows[i].exits = copy.rows[i].exits.first(copy.rows[i].exits.size() - 1);
      });
      Add("first exit left out",
          [i = index_](TableCopy& copy) { copy.rows[i].exits = copy.rows[i].exits.subspan(1); });
    }
    if (row_.exit_to == 0) return;
    Set("exit range -> any", &Row::exit_to, 0);
    for (const std::int32_t step : {-1, 1}) {
      Set(fmt::format("exit_from {:+}", step), &Row::exit_from, row_.exit_from + step);
      Set(fmt::format("exit_to {:+}", step), &Row::exit_to, row_.exit_to + step);
    }
  }

  void ChangeOption() {
    if (row_.option.empty()) return;
    Set(fmt::format("option {} -> any", row_.option), &Row::option, std::string_view());
    for (const OptionRow& option : table_.options) {
      if (option.name != row_.option) continue;
      for (const std::string& value : ValuesOf(option)) {
        if (value == row_.value) continue;
        Add(fmt::format("option {} = {} -> {}", option.name, row_.value, value),
            [i = index_, value](TableCopy& copy) { copy.rows[i].value = value; });
      }
    }
  }

  void Ask(std::string_view name, Condition Row::*member) {
    const Condition ask = row_.*member;
    if (ask == Condition::kEither) return;
    const Condition other = ask == Condition::kYes ? Condition::kNo : Condition::kYes;
    for (const Condition to : {Condition::kEither, other})
      Set(fmt::format("{} {} -> {}", name, NameOf(kAnswers, ask), NameOf(kAnswers, to)), member,
          to);
  }

  void ChangeAction() {
    for (int a = 0; a <= static_cast<int>(ExitAction::kSucceed); ++a) {
      const auto to = static_cast<ExitAction>(a);
      Set(fmt::format("action {} -> {}", KebabName(row_.action), KebabName(to)), &Row::action, to);
    }
  }

  /// A row that restarts nothing may leave these alone: what it gives must matter.
  void ChangePrice() {
    const bool restarts = IsRestart(row_.action);
    for (const Pays to : {Pays::kNone, Pays::kUser, Pays::kByClass}) {
      if (restarts || to == Pays::kNone)
        Set(fmt::format("pays {} -> {}", NameOf(kPayers, row_.pays), NameOf(kPayers, to)),
            &Row::pays, to);
    }
    ChangeLimit();
    Set("stays in its container", &Row::other_container, false);
    Set("next_when_spent turned off", &Row::next_when_spent, false);
    for (const ExitAction to : {ExitAction::kFail, ExitAction::kTally, ExitAction::kIgnore}) {
      if ((restarts && !row_.next_when_spent) || to == ExitAction::kFail)
        Set(fmt::format("when_spent {} -> {}", KebabName(row_.when_spent), KebabName(to)),
            &Row::when_spent, to);
    }
  }

  template <class T>
  void SetLimit(std::string what, T RowLimit::*member, T value) {
    if (row_.limit.*member == value) return;
    Add(std::move(what),
        [i = index_, member, value](TableCopy& copy) { copy.rows[i].limit.*member = value; });
  }

  void ChangeLimit() {
    const bool restarts = IsRestart(row_.action);
    for (int c = 0; c <= static_cast<int>(Counted::kInContainer); ++c) {
      const auto to = static_cast<Counted>(c);
      if (restarts || to == Counted::kPaid)
        SetLimit(fmt::format("limit counted {} -> {}", NameOf(kCounted, row_.limit.counted),
                             NameOf(kCounted, to)),
                 &RowLimit::counted, to);
    }
    SetLimit("limit option left out", &RowLimit::option, std::string_view());
    SetLimit("limit at_most left out", &RowLimit::at_most, std::optional<std::int32_t>());
    if (row_.limit.at_most) {
      SetLimit("limit at_most + 1", &RowLimit::at_most,
               std::optional<std::int32_t>(*row_.limit.at_most + 1));
    }
    SetLimit("limit window left out", &RowLimit::window, std::optional<Duration>());
    SetLimit("limit less left out", &RowLimit::less, 0);
    SetLimit("limit name left out", &RowLimit::name, std::string_view());
  }

  const Table& table_;
  std::size_t index_;
  const Row& row_;
  std::vector<Change> changes_;
};

void AddClassRows(const Table& table, std::vector<Change>& all) {
  for (std::size_t i = 0; i < table.classes.size(); ++i) {
    const ClassRow& row = table.classes[i];
    const std::string name =
        fmt::format("class {} of types '{}{}'", KebabName(row.task_class), row.task_type, row.list);
    all.push_back({name, "left out", [i](TableCopy& copy) {
                     copy.classes.erase(copy.classes.begin() + static_cast<std::ptrdiff_t>(i));
                   }});
    if (!row.task_type.empty() || !row.list.empty()) {
      all.push_back({name, "any type", [i](TableCopy& copy) {
                       copy.classes[i].task_type = copy.classes[i].list = "";
                     }});
    }
    for (int c = 0; c <= static_cast<int>(TaskClass::kSidecar); ++c) {
      const auto to = static_cast<TaskClass>(c);
      if (to == row.task_class) continue;
      all.push_back({name, fmt::format("-> {}", KebabName(to)),
                     [i, to](TableCopy& copy) { copy.classes[i].task_class = to; }});
    }
  }
}

void AddChiefs(const Table& table, std::vector<Change>& all) {
  for (std::size_t i = 0; i < table.chiefs.size(); ++i) {
    all.push_back({"chiefs", fmt::format("{} left out", table.chiefs[i]), [i](TableCopy& copy) {
                     copy.chiefs.erase(copy.chiefs.begin() + static_cast<std::ptrdiff_t>(i));
                   }});
  }
  all.push_back(
      {"chiefs", "worker added", [](TableCopy& copy) { copy.chiefs.push_back("worker"); }});
}

void AddFlag(std::string name, bool Table::*flag, std::vector<Change>& all) {
  all.push_back({std::move(name), "turned round",
                 [flag](TableCopy& copy) { copy.rest.*flag = !(copy.rest.*flag); }});
}

}  // namespace

std::vector<Change> ChangesOfRow(const Table& table, std::size_t row) {
  return RowChanges(table, row).All();
}

Change ChangeOfClass(const Table& table, std::size_t row, ExitClass c) {
  const bool has = table.rows[row].classes.Has(c);
  return {RowName(table.rows[row]),
          fmt::format("class {} {}", KebabName(c), has ? "left out" : "added"),
          [row, c](TableCopy& copy) { copy.rows[row].classes.bits ^= ExitClassSet{c}.bits; }, c};
}

std::vector<Change> ChangesOfRoles(const Table& table) {
  std::vector<Change> all;
  AddClassRows(table, all);
  AddChiefs(table, all);
  AddFlag("worker0_is_chief", &Table::worker0_is_chief, all);
  AddFlag("first_report_wins", &Table::first_report_wins, all);
  AddFlag("one_budget", &Table::one_budget, all);
  AddFlag("retry_instead_of_failing", &Table::retry_instead_of_failing, all);
  for (const Table* other : AllTables()) {
    if (other->judge == table.judge) continue;
    all.push_back(
        {"verdict function", fmt::format("-> that of {}", other->name), [other](TableCopy& copy) {
           copy.rest.judge = other->judge;
           copy.rest.user_limit = other->user_limit;
         }});
  }
  return all;
}

std::vector<Change> ChangesOfOptions(const Table& table) {
  std::vector<Change> all;
  for (std::size_t i = 0; i < table.options.size(); ++i) {
    const OptionRow& option = table.options[i];
    const std::string name = fmt::format("option {}", option.name);
    for (const std::string& value : ValuesOf(option)) {
      if (value == option.standard) continue;
      all.push_back({name, fmt::format("standard '{}' -> '{}'", option.standard, value),
                     [i, value](TableCopy& copy) { copy.options[i].standard = value; }});
    }
    if (option.per_type) {
      all.push_back(
          {name, "no longer per type", [i](TableCopy& copy) { copy.options[i].per_type = false; }});
    }
  }
  return all;
}

}  // namespace tfyarn::policy
