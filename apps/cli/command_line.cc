#include "apps/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/cli/exit_codes.h"
#include "config/suggest.h"

namespace tfyarn::cli {
namespace {

tl::unexpected<UsageError> Wrong(std::string message) {
  return tl::unexpected<UsageError>(UsageError{std::move(message)});
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::string NotesText(const std::string& given, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& note : config::NotesForNames(given, names)) text += "  " + note + "\n";
  return text;
}

/// The option of that name (without dashes), or nullptr.
const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->check_lname(name) || option->check_sname(name)) return option;
  }
  return nullptr;
}

/// "--seed" for "sed"; "" when none is near. Of equally near ones the one that has most of the
/// letters in order, as a letter left out is the commonest slip.
std::string NearestOption(const CLI::App& command, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    for (const std::string& long_name : known->get_lnames()) names.push_back(long_name);
  }
  const auto alike = [&](const std::string& other) {
    std::size_t found = 0;
    for (const char c : other) found += found < name.size() && name[found] == c ? 1 : 0;
    return found;
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return alike(a) > alike(b); });
  const std::string nearest = config::Nearest(name, names);
  return nearest.empty() ? "" : "--" + nearest;
}

/// Compares every option with the registered ones; nullopt when all are known.
std::optional<UsageError> UnknownOption(const CLI::App& command, const std::string& program,
                                        const std::vector<std::string>& words, std::size_t first) {
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return std::nullopt;
    if (word.size() < 2 || word[0] != '-') continue;
    const bool is_long = word[1] == '-';
    const auto equals = word.find('=');
    const std::string name = is_long
                                 ? word.substr(2, equals == std::string::npos ? equals : equals - 2)
                                 : word.substr(1, 1);
    const CLI::Option* option = FindOption(command, name);
    if (option == nullptr) {
      const std::string near = NearestOption(command, name);
      return UsageError{fmt::format("{0} {1}: unknown option {2}{3}\nsee: {0} help {1}\n", program,
                                    command.get_name(), word.substr(0, equals),
                                    near.empty() ? "" : fmt::format("; did you mean {}?", near))};
    }
    const bool value_follows = option->get_items_expected_max() > 0 &&
                               option->get_type_size_max() > 0 && equals == std::string::npos &&
                               (is_long || word.size() == 2);
    if (value_follows) ++i;
  }
  return std::nullopt;
}

}  // namespace

tl::expected<PrintText, UsageError> HelpOn(const CLI::App& app, const std::string& program,
                                           const std::string& topic) {
  if (topic == "exit-codes") return PrintText{ExitCodesText()};
  std::vector<std::string> names = CommandNames(app);
  if (std::find(names.begin(), names.end(), topic) != names.end())
    return PrintText{app.get_subcommand(topic)->help(program)};
  names.push_back("exit-codes");
  return Wrong(fmt::format("{} help: no help on {}\n{}", program, topic, NotesText(topic, names)));
}

std::optional<tl::expected<PrintText, UsageError>> ParseWords(CLI::App& app,
                                                              const std::string& program,
                                                              const std::vector<std::string>& words,
                                                              const std::string& version) {
  if (words.empty()) return Wrong(app.help());
  const std::string& first = words.front();
  if (first == "--version" || first == "-V") return PrintText{program + " " + version + "\n"};
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1))
    return PrintText{app.help()};
  const std::vector<std::string> names = CommandNames(app);
  if (std::find(names.begin(), names.end(), first) == names.end()) {
    if (first.starts_with('-')) {
      return Wrong(fmt::format("{}: a command comes first, not {}\n{}", program, first,
                               NotesText("", names)));
    }
    return Wrong(
        fmt::format("{}: unknown command {}\n{}", program, first, NotesText(first, names)));
  }
  const CLI::App& command = *app.get_subcommand(first);
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word == "--help" || word == "-h") return PrintText{command.help(program)};
  }
  if (auto unknown = UnknownOption(command, program, words, 1))
    return tl::unexpected<UsageError>(std::move(*unknown));
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return Wrong(fmt::format("{0} {1}: {2}\nsee: {0} help {1}\n", program, first, error.what()));
  }
  return std::nullopt;
}

}  // namespace tfyarn::cli
