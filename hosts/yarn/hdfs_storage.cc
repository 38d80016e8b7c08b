#include "hosts/yarn/hdfs_storage.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <variant>

#include "core/client/job_client.h"
#include "wire/private_file.h"

namespace tfyarn::hosts {
namespace {

constexpr std::uint64_t kLargestJobFile = std::uint64_t{64} << 20;

}  // namespace

wire::WebHdfsOptions HdfsOptionsFor(const YarnAddresses& addresses) {
  return {.name_nodes = addresses.name_nodes,
          .user = addresses.user,
          .umask = 077,
          .quick_files = true};
}

Expected<hdfs::Done> FetchJobFile(const std::map<std::string, std::string>& environment,
                                  const std::string& staging_directory, const std::string& path) {
  if (!IsOnYarn(environment)) return hdfs::Done{};
  const auto yarn = YarnEnvironmentFrom(environment);
  if (!yarn) return tl::unexpected<Error>(yarn.error());
  boost::asio::io_context loop;
  wire::WebHdfsOptions options = HdfsOptionsFor(yarn->addresses);
  options.most_read = kLargestJobFile;
  HdfsStorage storage(loop, std::move(options));
  hdfs::HdfsResponse answer = hdfs::Done{};
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!directory.empty()) std::filesystem::create_directories(directory, failed);
  if (failed) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{}: cannot be made: {}", directory.string(), failed.message()));
  }
  const std::string staged = fmt::format("{}/{}", staging_directory, client::kJobFileName);
  storage.Call(hdfs::ReadRequest{.path = staged, .writer = {}}, [&](hdfs::HdfsResponse response) {
    answer = std::move(response);
    loop.stop();
  });
  loop.run();
  if (const auto* error = std::get_if<hdfs::HdfsError>(&answer))
    return Fail(ErrorCode::kUnavailable, error->message);
  const std::string& bytes = std::get<hdfs::ReadResponse>(answer).bytes;
  if (auto written = wire::WritePrivateFile(path, bytes); !written)
    return tl::unexpected<Error>(written.error());
  return hdfs::Done{};
}

}  // namespace tfyarn::hosts
