#include "apps/yarn/cluster_security.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>
#include <vector>

#include "wire/hadoop/auth_methods.h"

namespace tfyarn::apps {
namespace {

/// A service that does not answer within it is not waited for here: its calls will fail and say so.
constexpr Duration kPatience = 3s;

}  // namespace

std::string KerberosIsWanted(const config::HadoopSettings& settings) {
  boost::asio::io_context loop;
  std::string why;
  const auto ask = [&](const char* daemon, const HostPort& address) {
    hadoop::AskAuthMethods(
        loop, address, kPatience,
        [&why, &loop, daemon, address](const hadoop::AuthMethods& methods) {
          if (!methods) return;
          loop.stop();
          const auto takes = [&](const char* method) {
            return std::find(methods->begin(), methods->end(), method) != methods->end();
          };
          if (!takes("KERBEROS") || takes("SIMPLE")) return;
          why = fmt::format(
              "the cluster wants Kerberos, which is not supported yet: the {} at {} accepts {}, "
              "though hadoop.security.authentication is simple here",
              daemon, ToString(address), fmt::join(*methods, ", "));
        });
  };
  for (const config::ResourceManagerAddresses& manager : settings.resource_managers)
    ask("ResourceManager", manager.client);
  for (const config::NameNodeAddresses& node : settings.hdfs.name_nodes) ask("NameNode", node.rpc);
  loop.run();
  return why;
}

}  // namespace tfyarn::apps
