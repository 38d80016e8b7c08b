// Brings the files of containers to a node: from HDFS or this machine, unpacked where they are
// archives, each once for an application, or once for a user where it is shared.
//
// A process copies and unpacks, as a real one's localizer does. What containers have in common is
// fetched by the first of them; the others wait.
//
// Source: ResourceLocalizationService.java, LocalResourcesTrackerImpl.java (APPLICATION,
// PRIVATE),
// FSDownload.java.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/error.h"
#include "core/model/yarn.h"
#include "fakes/hdfs/name_node.h"
#include "fakes/server/container_processes.h"

namespace tfyarn::fakes {

/// Files to be linked into a work directory: name, where it lies.
using LocalLinks = std::vector<std::pair<std::string, std::string>>;

struct LocalizeOrder {
  ContainerId container;
  std::string user;
  bool local_files = false;  ///< Paths are this machine's own.
  std::map<std::string, yarn::LocalResource> files;
  std::filesystem::path log_directory;  ///< Where its script and what that says are kept.
};

class Localizer {
 public:
  /// Called once for each order, perhaps from inside Fetch(). The error is what the container's
  /// diagnostics say.
  using Done = std::function<void(const ContainerId&, Expected<LocalLinks>)>;

  /// `io` and `hdfs` must outlive this; hdfs: nullptr = there is none. Files lie below
  /// `folder`/APPLICATION/filecache, or `folder`/usercache/USER/filecache.
  Localizer(boost::asio::io_context& io, std::filesystem::path folder, const NameNode* hdfs,
            Done done);

  void Fetch(LocalizeOrder order);
  /// The container has ended: its files are not needed any more.
  void Forget(const ContainerId& container);
  /// Removes the files of all other applications. What is shared stays.
  void Keep(const std::set<ApplicationId>& applications);

 private:
  /// Owner, path, and time of the last change.
  using Owner = std::variant<ApplicationId, std::string>;  ///< A user's where it is shared.
  using File = std::tuple<Owner, std::string, std::int64_t>;
  struct Fetching {
    LocalizeOrder order;
    std::map<File, std::string> files;  ///< Where they will be.
  };

  [[nodiscard]] Expected<void> Begin(const LocalizeOrder& order);
  [[nodiscard]] Expected<std::string> ScriptFor(const LocalizeOrder& order,
                                                std::map<File, std::string>& files);
  /// The bytes of a file on this machine. Errors: it is not the one that was meant.
  [[nodiscard]] Expected<std::string> Source(const LocalizeOrder& order,
                                             const yarn::LocalResource& file,
                                             const std::filesystem::path& scratch) const;
  static File KeyOf(const LocalizeOrder& order, const yarn::LocalResource& file);
  [[nodiscard]] bool HasAll(const LocalizeOrder& order) const;
  /// Another order fetches for the same application, or what this one needs.
  [[nodiscard]] bool IsUnderWay(const LocalizeOrder& order) const;
  [[nodiscard]] LocalLinks LinksOf(const LocalizeOrder& order) const;
  void Ended(const ContainerId& container, std::int32_t exit_status);
  void Next();

  const std::filesystem::path folder_;
  const NameNode* const hdfs_;
  const Done done_;
  ContainerProcesses processes_;
  std::map<File, std::string> there_;
  std::map<ApplicationId, Fetching> fetching_;
  std::deque<LocalizeOrder> waiting_;
  std::uint64_t next_ = 10;  ///< Of the numbered directories; a real one begins there, too.
};

}  // namespace tfyarn::fakes
