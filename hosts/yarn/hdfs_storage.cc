#include "hosts/yarn/hdfs_storage.h"

namespace tfyarn::hosts {

wire::WebHdfsOptions HdfsOptionsFor(const YarnAddresses& addresses) {
  wire::WebHdfsOptions options{.user = addresses.user, .umask = 077};
  for (const HostPort& name_node : addresses.name_nodes)
    options.name_nodes.push_back({.host = name_node.host, .port = name_node.port});
  return options;
}

}  // namespace tfyarn::hosts
