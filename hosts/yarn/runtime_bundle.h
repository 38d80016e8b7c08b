// The programs that run in containers, with all that they need of a machine but its kernel: made
// once for each build, kept in HDFS, and unpacked by NodeManagers, which share it between jobs.
//
// bin/ has the programs, lib/ the shared libraries of the AM, the loader that starts both, and
// lib/sasl2/ the mechanisms by which the AM proves who it is. Nothing is taken from the machine
// where they run, so that it does not matter what is installed there.
#pragma once

#include <string>
#include <vector>

#include "core/model/error.h"

namespace tfyarn::hosts {

/// Name of the directory in a container's work directory; ours by kOwnPrefix. Beside kOwnDirectory:
/// for a name with directories a NodeManager's script starts mkdir, and this one is only a link.
inline constexpr const char* kRuntimeDirectory = ".tfyarn-runtime";

struct BundledFile {
  std::string name;  ///< In the bundle: "bin/tfyarn-am".
  std::string path;  ///< On this machine.
};

struct RuntimeBundle {
  std::vector<BundledFile> files;  ///< By name.
  std::string name;                ///< Of the archive; another one for other contents.
};

/// `programs`: directory of tfyarn-am and tfyarn-agent. Errors: kNotFound, kUnavailable.
[[nodiscard]] Expected<RuntimeBundle> FindRuntime(const std::string& programs);
/// Writes the archive, a tar compressed by gzip. Errors: kUnavailable with the system's reason.
[[nodiscard]] Expected<void> WriteBundle(const RuntimeBundle& bundle, const std::string& path);

/// What starts a program of the bundle in a container.
[[nodiscard]] std::vector<std::string> BundledCommand(const std::string& program);
/// Where the AM finds its mechanisms, in the container: the value of SASL_PATH.
[[nodiscard]] std::string BundledSaslPath();

}  // namespace tfyarn::hosts
