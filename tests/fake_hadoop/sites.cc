#include "tests/fake_hadoop/sites.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace tfyarn::fakes {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

Expected<void> WriteSite(const std::filesystem::path& path, const Keys& keys) {
  std::string text = "<?xml version=\"1.0\"?>\n<configuration>\n";
  for (const auto& [key, value] : keys)
    text += fmt::format("  <property><name>{}</name><value>{}</value></property>\n", key, value);
  text += "</configuration>\n";
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be written", path.string()));
}

}  // namespace

Expected<void> WriteSites(const std::filesystem::path& folder, const ClusterAddresses& addresses) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  // No server speaks HDFS's own protocol there: it is an address that files have.
  if (auto written =
          WriteSite(folder / "core-site.xml", {{"fs.defaultFS", "hdfs://" + addresses.hdfs}});
      !written)
    return written;
  if (auto written =
          WriteSite(folder / "hdfs-site.xml",
                    {{"dfs.replication", "1"}, {"dfs.namenode.http-address", addresses.hdfs}});
      !written)
    return written;
  return WriteSite(folder / "yarn-site.xml",
                   {{"yarn.resourcemanager.hostname", addresses.rm.host},
                    {"yarn.resourcemanager.address", ToString(addresses.rm)},
                    {"yarn.resourcemanager.scheduler.address", ToString(addresses.scheduler)},
                    // NodeManagers look for a ResourceManager with every heartbeat.
                    {"yarn.resourcemanager.connect.retry-interval.ms", "1000"},
                    {"yarn.resource-types", "yarn.io/gpu"}});
}

}  // namespace tfyarn::fakes
