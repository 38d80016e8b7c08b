// Where one run on this machine leaves everything.
#pragma once

#include <string>

#include "core/model/error.h"

namespace tfyarn::local {

struct RunDirectory {
  std::string root;  ///< Absolute.
  /// Where containers' own directories for temporary files are made: a short path, as the sockets
  /// that programs make there must fit into 108 bytes. RemoveTemporary() takes it away.
  std::string temporary;

  [[nodiscard]] std::string logs() const { return root + "/logs"; }
  [[nodiscard]] std::string containers() const { return root + "/containers"; }
  [[nodiscard]] std::string storage() const { return root + "/storage"; }
  [[nodiscard]] std::string recordings() const { return root + "/recordings"; }
  [[nodiscard]] std::string history() const { return root + "/history"; }
  /// All tasks see it, and what is in it outlives them: for checkpoints.
  [[nodiscard]] std::string shared() const { return root + "/shared"; }
};

/// Makes it: `out`, or tfyarn-runs/NAME-ID below the current directory, for the owner only.
/// Errors: kFailedPrecondition when `out` is there and not empty, kUnavailable when it cannot be
/// made.
[[nodiscard]] Expected<RunDirectory> MakeRunDirectory(const std::string& out,
                                                      const std::string& job_name);

/// What is left of RunDirectory::temporary. Nothing else may use it any more.
void RemoveTemporary(const RunDirectory& directory);

}  // namespace tfyarn::local
