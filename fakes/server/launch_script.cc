#include "fakes/server/launch_script.h"

#include <string_view>

namespace tfyarn::fakes {
namespace {

void Replace(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

std::string Expanded(std::string text, const std::string& log_directory) {
  Replace(text, "<LOG_DIR>", log_directory);
  Replace(text, "<CPS>", ":");
  Replace(text, "<ADD_OPENS>", "");
  Replace(text, "{{", "$");
  Replace(text, "}}", "");
  return text;
}

}  // namespace

std::string LaunchScript(const yarn::ContainerLaunchContext& context, const LaunchPlaces& places) {
  std::string script = "#!/bin/bash\n\nset -o pipefail -e\n";
  const auto set = [&](const std::string& name, const std::string& value) {
    script += "export " + name + "=\"" + value + "\"\n";
  };
  for (const auto& [name, value] : places.environment) set(name, value);
  for (const auto& [name, value] : context.environment) {
    if (places.environment.count(name) == 0) set(name, Expanded(value, places.log_directory));
  }
  for (const auto& [name, file] : places.links)
    script += "ln -sf -- \"" + file + "\" \"" + name + "\"\n";
  std::string command;
  for (const std::string& part : context.command) command += (command.empty() ? "" : " ") + part;
  script += "exec /bin/bash -c \"" + Expanded(command, places.log_directory) + "\"\n";
  return script;
}

}  // namespace tfyarn::fakes
