// Names in a task's work directory: whose they are, and which of them exclude each other.
//
// The work directory is the user's: `files` and `archives` stand in it, and the process may write
// there what it likes. What we need there has a directory of our own, whose name no file of a job
// may have. A NodeManager has names of its own as well; a job that runs here should run there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfyarn {

/// What every name of ours begins with.
inline constexpr std::string_view kOwnPrefix = ".tfyarn";
/// Ours: what the agent reads before its task starts.
inline constexpr std::string_view kOwnDirectory = ".tfyarn";

/// The parts of a path without those that mean nothing ("./a//b/" is a and b).
[[nodiscard]] std::vector<std::string> PartsOf(std::string_view path);
/// Where `files` puts this path: its last part. Empty: it names no file ("..", "/", ".").
[[nodiscard]] std::string NameInWorkDirectory(std::string_view path);
/// The program that reserves a name, or what begins with it: "tfyarn", "YARN". Empty: neither.
[[nodiscard]] std::string_view OwnerOf(std::string_view name);
/// Whether both cannot be in one directory: they are the same, or one lies in the other.
[[nodiscard]] bool Exclude(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace tfyarn
