// A token as Hadoop knows it: an identity, and its proof. core/model/yarn.h has a handle
// instead; wire/hadoop/token_store.h tells which handle means which token.
#pragma once

#include <string>

namespace tfyarn::hadoop {

/// Kinds that we meet. Source: the KIND constants of hadoop-yarn-common and hadoop-hdfs-client.
inline constexpr char kAmRmTokenKind[] = "YARN_AM_RM_TOKEN";
inline constexpr char kNmTokenKind[] = "NMToken";
inline constexpr char kContainerTokenKind[] = "ContainerToken";
inline constexpr char kClientTokenKind[] = "YARN_CLIENT_TOKEN";

/// `identifier` and `password` are bytes of the server that issued it and go back to it unchanged;
/// `password` is a secret: never in a message, a log or on a command line.
struct HadoopToken {
  std::string identifier;
  std::string password;
  std::string kind;
  std::string service;  ///< ip:port of the server, or empty.
  friend bool operator==(const HadoopToken&, const HadoopToken&) = default;
};

}  // namespace tfyarn::hadoop
