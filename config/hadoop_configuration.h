// A Hadoop configuration directory (HADOOP_CONF_DIR) as Hadoop's clients read it.
//
// core-site.xml, hdfs-site.xml and yarn-site.xml lie over one another in this order, each over the
// defaults of its own kind of keys: dfs.replication in core-site.xml counts for nothing, as the
// default of HDFS overrides it. A value that is `final` cannot be overridden by anything. Values
// are expanded when they are asked for: ${other.key}, ${user.name}, ${env.VARIABLE},
// ${env.VARIABLE:-else}. What is wrong with a value is said when it is asked for, too, and with its
// place. Source: Configuration.java of Hadoop 3.4.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/byte_source.h"
#include "config/diagnostics.h"
#include "config/hadoop_keys.h"
#include "config/hadoop_xml.h"
#include "config/source.h"
#include "core/model/time.h"

namespace tfyarn::config {

/// What a configuration may refer to, and how its files are opened.
struct HadoopSurroundings {
  /// A variable of the environment; nullopt: not set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::string user;  ///< Of the operating system: ${user.name}.
  OpenFile open = OpenRealFile;
};

/// A value as it counts, and where it stands.
struct HadoopValue {
  std::string text;            ///< Expanded.
  std::optional<Place> place;  ///< nullopt: a default.
  bool is_final = false;
};

class HadoopConfiguration {
 public:
  /// Substitutions within one value.
  static constexpr int kMostSubstitutions = 20;
  static constexpr std::size_t kLongestValue = std::size_t{1} << 20;

  template <class T>
  using Result = tl::expected<T, Finding>;

  /// Reads the files of `directory`. Errors: files that cannot be read or are no XML, and a
  /// directory without any of them.
  [[nodiscard]] static tl::expected<HadoopConfiguration, Diagnostics> Load(
      const std::string& directory, HadoopSurroundings surroundings);

  /// nullopt: neither set nor with a default. Old names are understood. Errors: an expansion that
  /// does not end.
  [[nodiscard]] Result<std::optional<HadoopValue>> Find(std::string_view key) const;
  /// Without blanks around it; "" = as Find's nullopt.
  [[nodiscard]] Result<std::string> Text(std::string_view key) const;
  /// The elements of a list, without blanks around them and without empty ones.
  [[nodiscard]] Result<std::vector<std::string>> List(std::string_view key) const;
  /// These need a key of HadoopKeys() with a default of their kind, or `fallback`. Errors: a value
  /// that is none.
  [[nodiscard]] Result<bool> Boolean(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> Whole(std::string_view key,
                                           std::optional<std::int64_t> fallback = {}) const;
  [[nodiscard]] Result<Duration> Time(std::string_view key,
                                      std::optional<Duration> fallback = {}) const;
  [[nodiscard]] Result<std::int64_t> Bytes(std::string_view key) const;
  /// One of `allowed`, in lower case.
  [[nodiscard]] Result<std::string> Choice(std::string_view key,
                                           const std::vector<std::string>& allowed) const;

  /// Keys that a file sets, by name; what only has a default is not among them.
  [[nodiscard]] std::vector<std::string> SetKeys() const;
  /// "DIR/yarn-site.xml:12", or "default".
  [[nodiscard]] std::string OriginOf(const HadoopValue& value) const;
  /// "'VALUE' of KEY PROBLEM" at the value's place.
  [[nodiscard]] Finding Bad(std::string_view key, std::string_view problem,
                            std::vector<std::string> notes) const;
  [[nodiscard]] Diagnostics Finish(std::vector<Finding> findings) const;
  [[nodiscard]] const HadoopSurroundings& surroundings() const { return surroundings_; }

 private:
  struct Entry {
    std::string value;
    std::optional<Place> place;
    bool is_final = false;
  };

  explicit HadoopConfiguration(HadoopSurroundings surroundings)
      : surroundings_(std::move(surroundings)) {}
  /// What an earlier file said of keys that begin so is overridden by their defaults.
  void ApplyDefaults(std::string_view prefix);
  void Apply(std::vector<HadoopProperty> properties);
  [[nodiscard]] std::optional<Entry> Raw(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> Variable(std::string_view name) const;
  /// nullopt: it does not end.
  [[nodiscard]] std::optional<std::string> Expand(const std::string& text) const;

  HadoopSurroundings surroundings_;
  Sources sources_;  ///< The first one is the directory.
  std::map<std::string, Entry, std::less<>> entries_;
  /// `final` without a value holds what is there, be it a default.
  std::map<std::string, bool, std::less<>> final_;
};

}  // namespace tfyarn::config
