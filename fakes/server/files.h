// Small files of a fake NodeManager, and words of a shell.
#pragma once

#include <filesystem>
#include <string>

namespace tfyarn::fakes {

void WriteFile(const std::filesystem::path& path, const std::string& content);
/// Its last bytes, as a container's diagnostics quote them. Source:
/// yarn.nodemanager.container.stderr.tail.bytes.
[[nodiscard]] std::string Tail(const std::filesystem::path& path);
/// One word of a shell's command.
[[nodiscard]] std::string Quoted(std::string text);

}  // namespace tfyarn::fakes
