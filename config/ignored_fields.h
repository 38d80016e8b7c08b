// Fields that a file sets and a host makes no use of, as the field table says
// (FieldInfo::ignored_by): what the host tells of them. What a host cannot do at all it refuses;
// that is no matter of this file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/source.h"
#include "config/tree.h"
#include "config/type.h"

namespace tfyarn::config {

/// "by the simulator", "on one machine", "on a cluster": the end of "is ignored".
[[nodiscard]] std::string_view WhereIgnored(Host host);

/// One finding for each field of the table below `root` that `tree` sets and `host` ignores, at the
/// first place where it is set. A value that removes or repeats the default sets nothing.
[[nodiscard]] std::vector<Finding> IgnoredFields(const RecordInfo& root, const Node& tree,
                                                 Host host);

/// The findings as people read them, each in one line: "job.yaml:3:1: note: ...".
[[nodiscard]] std::vector<std::string> NotesOf(const Sources& sources,
                                               std::vector<Finding> findings);

}  // namespace tfyarn::config
