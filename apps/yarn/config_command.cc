#include "apps/yarn/config_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "apps/cli/exit_codes.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/print.h"
#include "apps/yarn/cluster_access.h"
#include "config/hadoop_settings.h"
#include "config/suggest.h"
#include "core/model/job_secrets.h"

namespace tfyarn::apps {
namespace {

constexpr std::size_t kLongestShown = 10'000;

/// One key as it is shown.
struct Line {
  std::string key;
  std::optional<std::string> value;  ///< nullopt: not set.
  std::string origin;
  bool is_final = false;
};

/// A key of ours, or one of its forms for one service or server: KEY.rm1.
bool IsOurs(const std::string& key) {
  if (config::FindHadoopKey(key) != nullptr) return true;
  for (auto dot = key.rfind('.'); dot != std::string::npos && dot > 0;
       dot = key.rfind('.', dot - 1)) {
    if (config::FindHadoopKey(std::string_view(key).substr(0, dot)) != nullptr) return true;
  }
  return false;
}

std::vector<std::string> AllKeys(const config::HadoopConfiguration& configuration) {
  std::vector<std::string> keys;
  for (const config::HadoopKey& key : config::HadoopKeys()) keys.emplace_back(key.name);
  for (std::string& key : configuration.SetKeys()) {
    if (IsOurs(key)) keys.push_back(std::move(key));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::string Table(const std::vector<Line>& lines, bool origin) {
  std::string text;
  for (const Line& line : lines) {
    text += line.value
                ? fmt::format("{} = {}", line.key, config::Printable(*line.value, kLongestShown))
                : line.key + " is not set";
    if (origin && line.value)
      text += fmt::format("  # {}{}", line.origin, line.is_final ? ", final" : "");
    text += '\n';
  }
  return text;
}

std::string Json(const std::vector<Line>& lines) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Line& line : lines) {
    nlohmann::ordered_json entry;
    entry["key"] = line.key;
    entry["value"] = line.value ? nlohmann::ordered_json(*line.value) : nlohmann::ordered_json();
    entry["origin"] = line.value ? nlohmann::ordered_json(line.origin) : nlohmann::ordered_json();
    entry["final"] = line.is_final;
    list.push_back(std::move(entry));
  }
  // What is not UTF-8 is replaced: the configuration may say anything.
  return cli::JsonText(list);
}

/// The lines of these keys; what is wrong goes to `findings`.
std::vector<Line> LinesOf(const config::HadoopConfiguration& configuration,
                          const std::vector<std::string>& keys,
                          std::vector<config::Finding>& findings) {
  std::vector<Line> lines;
  for (const std::string& key : keys) {
    const auto value = configuration.Find(key);
    if (!value) {
      findings.push_back(value.error());
      continue;
    }
    Line line{.key = key};
    if (*value) {
      const bool hidden = !IsOurs(key) && LooksSecret(key);
      line.value = hidden ? std::string(kSecretStars) : (**value).text;
      line.origin = configuration.OriginOf(**value);
      line.is_final = (**value).is_final;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Keys that no file sets and that we do not know are slips, or a question about another program.
bool Complained(const config::HadoopConfiguration& configuration,
                const std::vector<std::string>& keys) {
  const std::vector<std::string> set = configuration.SetKeys();
  std::vector<std::string> known = AllKeys(configuration);
  known.insert(known.end(), set.begin(), set.end());
  bool complained = false;
  for (const std::string& key : keys) {
    const std::string current(config::CurrentHadoopName(key));
    if (IsOurs(current) || std::find(set.begin(), set.end(), current) != set.end()) continue;
    const std::string near = config::Nearest(key, known);
    cli::Complain(fmt::format("{} is neither set nor used here{}", key,
                              near.empty() ? "" : "; did you mean " + near + "?"));
    complained = true;
  }
  return complained;
}

int RefuseConfiguration(const config::Diagnostics& diagnostics) {
  cli::Explain(diagnostics);
  return cli::ToInt(cli::ExitCode::kInvalidInput);
}

}  // namespace

int ConfigCommand(const ConfigArguments& arguments) {
  const auto loaded = LoadHadoopConfiguration();
  if (!loaded) return cli::ToInt(cli::ExitCode::kInvalidInput);
  if (Complained(*loaded, arguments.keys)) return cli::ToInt(cli::ExitCode::kInvalidInput);
  const bool all = arguments.keys.empty();
  std::vector<config::Finding> findings;
  std::vector<Line> lines = LinesOf(*loaded, all ? AllKeys(*loaded) : arguments.keys, findings);
  if (all && !arguments.json) std::erase_if(lines, [](const Line& line) { return !line.value; });
  const auto written =
      cli::WriteStdout(arguments.json ? Json(lines) : Table(lines, arguments.origin));
  if (!written) {
    cli::Complain(written.error().message);
    return cli::ToInt(cli::ExitCode::kInternal);
  }
  if (!findings.empty()) return RefuseConfiguration(loaded->Finish(std::move(findings)));
  if (!all) return cli::ToInt(cli::ExitCode::kOk);
  const auto settings = config::ReadHadoopSettings(*loaded);
  return settings ? cli::ToInt(cli::ExitCode::kOk) : RefuseConfiguration(settings.error());
}

}  // namespace tfyarn::apps
