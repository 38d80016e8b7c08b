// Removes what is too old from a directory of histories: those of applications whose AM has written
// nothing for so long. One that lives writes every hour.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/time.h"
#include "hosts/runtime/lifetime.h"
#include "wire/webhdfs/webhdfs_client.h"

namespace tfyarn::hosts {

class HistorySweep {
 public:
  /// Applications that are looked at in one sweep: the next job takes the others.
  static constexpr std::size_t kMost = 20;
  /// Nothing younger is removed, whatever `keep` says.
  static constexpr Duration kShortestKeep = 3h;

  /// `files` must outlive this.
  HistorySweep(wire::WebHdfsClient& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  /// Calls `done` when it is through; what cannot be read or removed is left alone.
  void Run(WallTime now, Duration keep, std::function<void()> done);

 private:
  void Next();
  void Remove(const std::string& path);
  [[nodiscard]] bool IsOld(const std::vector<wire::WebHdfsFile>& files) const;

  wire::WebHdfsClient& files_;
  std::string directory_;
  WallTime oldest_{};  ///< What is older goes.
  std::vector<std::string> candidates_;
  std::function<void()> done_;
  Lifetime lifetime_;
};

}  // namespace tfyarn::hosts
