// One XML file of Hadoop's configuration, with the files that it includes, as a list of properties.
//
// Read as Hadoop's own parser does, also where that surprises: an empty <value></value> says
// nothing, an included file is first looked for in the configuration directory and then beside the
// file that includes it, and what stands in <xi:fallback> counts only when the file is not there.
// Not read, as no cluster should need it: documents of the network, and entities.
// Source: Configuration.Parser of Hadoop 3.4.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/byte_source.h"
#include "config/source.h"

namespace tfyarn::config {

struct HadoopProperty {
  std::string name;
  std::optional<std::string> value;  ///< Not expanded; unset: only `final` is said.
  bool is_final = false;
  Place place;  ///< Of the value, or of the property without one.
};

class HadoopXmlReader {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;  ///< Of one file.
  static constexpr std::size_t kMostFiles = 64;                    ///< Read by one reader.
  static constexpr std::size_t kMostProperties = 100'000;
  static constexpr std::size_t kDeepest =
      16;  ///< Elements in one another, and files in one another.

  /// `directory`: where HADOOP_CONF_DIR points to. The arguments must outlive the reader.
  HadoopXmlReader(Sources& sources, const OpenFile& open, std::string directory,
                  std::vector<Finding>& findings)
      : sources_(sources), open_(open), directory_(std::move(directory)), findings_(findings) {}

  /// Properties of a file, in their order. False: there is no such file. What is wrong in it is
  /// added to the findings.
  bool Read(const std::string& path);
  [[nodiscard]] std::vector<HadoopProperty> Take() { return std::move(properties_); }

 private:
  class Document;

  Sources& sources_;
  const OpenFile& open_;
  std::string directory_;
  std::vector<Finding>& findings_;
  std::vector<HadoopProperty> properties_;
  std::vector<std::string> chain_;  ///< Files that are being read, each included by the one before.
};

}  // namespace tfyarn::config
