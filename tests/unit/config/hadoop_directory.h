// A Hadoop configuration directory for tests, in memory.
#pragma once

#include <map>
#include <string>

#include "config/hadoop_configuration.h"

namespace tfyarn::config {

/// "/conf" with these files; paths that do not begin with "/" stand in it.
struct HadoopDirectory {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables;

  [[nodiscard]] tl::expected<HadoopConfiguration, Diagnostics> Load() const {
    return HadoopConfiguration::Load(
        "/conf",
        {.variable = [known = variables](const std::string& name) -> std::optional<std::string> {
           const auto found = known.find(name);
           return found == known.end() ? std::nullopt : std::optional(found->second);
         },
         .user = "alice",
         .open = [known = files](const std::string& path) -> Expected<std::unique_ptr<ByteSource>> {
           const std::string inside = path.starts_with("/conf/") ? path.substr(6) : path;
           const auto found = known.find(inside);
           if (found == known.end()) return Fail(ErrorCode::kNotFound, "no such file");
           return OpenBytes(found->second);
         }});
  }
};

/// <configuration> with these <property> elements in it, one a line.
inline std::string Site(std::initializer_list<std::pair<const char*, const char*>> properties) {
  std::string text = "<configuration>\n";
  for (const auto& [name, value] : properties) {
    text +=
        std::string("<property><name>") + name + "</name><value>" + value + "</value></property>\n";
  }
  return text + "</configuration>\n";
}

}  // namespace tfyarn::config
