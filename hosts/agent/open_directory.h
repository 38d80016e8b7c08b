// A directory that is closed when its reader has gone.
#pragma once

#include <dirent.h>

#include <memory>
#include <string>

namespace tfyarn::agent_host {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// nullptr when it cannot be opened; errno says why.
[[nodiscard]] inline std::unique_ptr<DIR, CloseDirectory> OpenDirectory(const std::string& path) {
  return std::unique_ptr<DIR, CloseDirectory>(::opendir(path.c_str()));
}

}  // namespace tfyarn::agent_host
