// The keys of Hadoop's configuration that we use: their defaults, what their values are, and the
// names that they had before.
//
// Source of defaults: core-default.xml, hdfs-default.xml and yarn-default.xml of Hadoop 3.4, which
// a cluster's own files need not repeat. Source of old names: HdfsConfiguration, YarnConfiguration
// and Configuration, the same version.
#pragma once

#include <span>
#include <string_view>

namespace tfyarn::config {

enum class HadoopKind {
  kText,
  kBoolean,       ///< true or false, in any letter case.
  kWhole,         ///< A whole number, also 0x...
  kMilliseconds,  ///< A time; a number without unit counts milliseconds.
  kSeconds,       ///< The same, seconds.
  kBytes,         ///< A number with k, m, g, t, p or e behind it: powers of 1024.
  kList,          ///< Separated by commas.
};

struct HadoopKey {
  std::string_view name;
  HadoopKind kind = HadoopKind::kText;
  bool has_default = false;
  std::string_view fallback;  ///< Means something only with `has_default`.
};

/// Sorted by name.
[[nodiscard]] std::span<const HadoopKey> HadoopKeys();
/// nullptr: not one of ours.
[[nodiscard]] const HadoopKey* FindHadoopKey(std::string_view name);
/// The name of today for one of yesterday; `name` itself otherwise.
[[nodiscard]] std::string_view CurrentHadoopName(std::string_view name);

}  // namespace tfyarn::config
