#include "wire/hadoop/launch_quoting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tfyarn::hadoop {
namespace {

/// By these the NodeManager tells a container what it is.
constexpr std::array<std::string_view, 9> kNodeManagers = {
    "CONTAINER_ID", "NM_HOST",    "NM_PORT",
    "NM_HTTP_PORT", "LOCAL_DIRS", "LOCAL_USER_DIRS",
    "LOG_DIRS",     "PWD",        "HADOOP_TOKEN_FILE_LOCATION"};

/// What the NodeManager sets behind us, what changes how its shells work, and what bash keeps for
/// itself.
constexpr std::array<std::string_view, 29> kBehindTheShells = {"USER",
                                                               "LOGNAME",
                                                               "HOME",
                                                               "JVM_PID",
                                                               "MALLOC_ARENA_MAX",
                                                               "PATH",
                                                               "ENV",
                                                               "BASH",
                                                               "SHELLOPTS",
                                                               "BASHOPTS",
                                                               "POSIXLY_CORRECT",
                                                               "CDPATH",
                                                               "GLOBIGNORE",
                                                               "EXECIGNORE",
                                                               "IFS",
                                                               "TMOUT",
                                                               "UID",
                                                               "EUID",
                                                               "PPID",
                                                               "GROUPS",
                                                               "DIRSTACK",
                                                               "LINENO",
                                                               "RANDOM",
                                                               "SRANDOM",
                                                               "SECONDS",
                                                               "EPOCHSECONDS",
                                                               "EPOCHREALTIME",
                                                               "SHLVL",
                                                               "_"};

template <class Names>
bool IsIn(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsShellName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (!letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool IsForEnv(std::string_view name) {
  return !IsShellName(name) || IsIn(kBehindTheShells, name) || name.starts_with("LD_") ||
         name.starts_with("BASH_");
}

/// The NodeManager must not see <NAME>, {{ or }}: between these two a quote is closed and opened
/// again, which a shell does not notice.
bool NeedsSeam(char last, char next) {
  return last == '<' || ((next == '{' || next == '}') && last == next);
}

/// For the inside of double quotes; `seams` for what is not within single quotes as well.
std::string InDoubleQuotes(std::string_view text, bool seams) {
  std::string out;
  char last = '\0';
  for (const char c : text) {
    if (seams && NeedsSeam(last, c)) out += "\"\"";
    if (c == '\\' || c == '"' || c == '$' || c == '`') out += '\\';
    out += c;
    last = c;
  }
  return out;
}

/// One word, for a shell.
std::string InSingleQuotes(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:,+@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  char last = '\0';
  for (const char c : text) {
    if (NeedsSeam(last, c)) out += "''";
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
    last = c;
  }
  return out + "'";
}

tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Expected<void> CheckVariable(const std::string& name, const std::string& value) {
  if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
    return Wrong(fmt::format("environment: \"{}\" is no name of a variable", name));
  if (IsIn(kNodeManagers, name))
    return Wrong(fmt::format("environment: {} is set by the NodeManager; take another name", name));
  if (value.find('\0') != std::string::npos)
    return Wrong(fmt::format("environment: the value of {} has a NUL byte", name));
  if (name.size() + 1 + value.size() > kMaxLaunchText)
    return Wrong(fmt::format("environment: {} has {} bytes; most are {}", name, value.size(),
                             kMaxLaunchText - name.size() - 1));
  return {};
}

Expected<void> CheckArguments(const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().empty()) return Wrong("command: it is empty");
  if (argv.front().find('=') != std::string::npos)
    return Wrong(fmt::format("command: the program's name {} has a '='", argv.front()));
  for (const std::string& argument : argv) {
    if (argument.find('\0') != std::string::npos)
      return Wrong("command: an argument has a NUL byte");
  }
  return {};
}

}  // namespace

Expected<LaunchText> QuoteLaunch(const std::vector<std::string>& argv,
                                 const std::map<std::string, std::string>& environment) {
  if (const auto right = CheckArguments(argv); !right) return tl::unexpected(right.error());
  LaunchText out;
  std::string by_env;
  for (const auto& [name, value] : environment) {
    if (const auto right = CheckVariable(name, value); !right) return tl::unexpected(right.error());
    if (IsForEnv(name)) {
      by_env += " " + InSingleQuotes(name + "=" + value);
    } else {
      out.environment.emplace(name, InDoubleQuotes(value, true));
    }
  }
  std::string words = by_env.empty() ? "exec --" : "exec /usr/bin/env --" + by_env;
  for (const std::string& argument : argv) words += " " + InSingleQuotes(argument);
  std::string command = InDoubleQuotes(words, false) + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
  if (command.size() > kMaxLaunchText)
    return Wrong(fmt::format("command: {} bytes as a shell's text; most are {}", command.size(),
                             kMaxLaunchText));
  out.command.push_back(std::move(command));
  return out;
}

}  // namespace tfyarn::hadoop
