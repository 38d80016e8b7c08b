// HDFS as a machine's host needs it, over HTTP.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <string>
#include <utility>

#include "core/model/error.h"
#include "core/model/hdfs.h"
#include "hosts/runtime/cluster.h"
#include "hosts/yarn/yarn_environment.h"
#include "wire/webhdfs/webhdfs_client.h"

namespace tfyarn::hosts {

class HdfsStorage : public Storage {
 public:
  HdfsStorage(boost::asio::io_context& loop, wire::WebHdfsOptions options)
      : client_(loop, std::move(options)) {}

  void Call(hdfs::HdfsRequest request, Answer answer) override {
    client_.Call(std::move(request), std::move(answer));
  }
  /// For what Storage does not offer.
  [[nodiscard]] wire::WebHdfsClient& client() { return client_; }
  [[nodiscard]] const wire::WebHdfsClient& client() const { return client_; }

 private:
  wire::WebHdfsClient client_;
};

/// What is made with them is for its user alone: an authority's key is among it.
[[nodiscard]] wire::WebHdfsOptions HdfsOptionsFor(const YarnAddresses& addresses);

/// On a cluster, the job file from the staging directory to `path` of this machine, whose directory
/// is made, with a loop of its own; minutes at most. Elsewhere it is there, and nothing is done. A
/// NodeManager would bring it too, but takes most of a second for an application's first file on
/// its node. Errors: those of YarnEnvironmentFrom; kUnavailable.
[[nodiscard]] Expected<hdfs::Done> FetchJobFile(
    const std::map<std::string, std::string>& environment, const std::string& staging_directory,
    const std::string& path);

}  // namespace tfyarn::hosts
