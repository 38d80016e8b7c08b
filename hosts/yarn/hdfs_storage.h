// HDFS as a machine's host needs it, over HTTP.
#pragma once

#include <boost/asio/io_context.hpp>
#include <utility>

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

 private:
  wire::WebHdfsClient client_;
};

/// What is made with them is for its user alone: an authority's key is among it.
[[nodiscard]] wire::WebHdfsOptions HdfsOptionsFor(const YarnAddresses& addresses);

}  // namespace tfyarn::hosts
