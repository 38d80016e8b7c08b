// Credentials: the tokens and secrets that a process of a Hadoop cluster is started with, as the
// bytes of ContainerLaunchContext.tokens and of the file that HADOOP_TOKEN_FILE_LOCATION names.
//
// Source: hadoop-common security/Credentials.java, security/token/Token.java.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/error.h"
#include "wire/hadoop/token.h"

namespace tfyarn::hadoop {

/// Longest blob and file, in bytes: far beyond any real one.
inline constexpr std::size_t kMaxCredentials = std::size_t{8} << 20;

/// Both under names ("aliases") that say nothing, in the order of the blob.
struct Credentials {
  std::vector<std::pair<std::string, HadoopToken>> tokens;
  std::vector<std::pair<std::string, std::string>> secrets;

  /// The first token of `kind`; nullptr when there is none. An AM takes its token by kind alone:
  /// the RM issues it without a service.
  [[nodiscard]] const HadoopToken* FindToken(std::string_view kind) const;
  /// nullptr when there is none.
  [[nodiscard]] const std::string* FindSecret(std::string_view alias) const;
  /// Takes away every token of `kind`: an AM must not hand its own to its containers.
  void RemoveTokens(std::string_view kind);

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

/// In the form that every version of Hadoop reads (Writable).
[[nodiscard]] std::string EncodeCredentials(const Credentials& credentials);
/// Both forms. Errors: kDataLoss saying at which byte of which form.
[[nodiscard]] Expected<Credentials> DecodeCredentials(std::string_view bytes);

/// Errors: kNotFound when there is no such file; kDataLoss when it is none; kUnavailable.
[[nodiscard]] Expected<Credentials> ReadCredentialsFile(const std::string& path);

/// A token as text in addresses of WebHDFS (`delegation=`), in HADOOP_TOKEN, and in REST calls.
[[nodiscard]] std::string EncodeTokenUrlString(const HadoopToken& token);
/// Errors: kInvalidArgument.
[[nodiscard]] Expected<HadoopToken> DecodeTokenUrlString(std::string_view text);

}  // namespace tfyarn::hadoop
