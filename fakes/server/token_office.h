// The fakes' tokens as Hadoop's bytes, and back. The fakes pass handles that they can read
// themselves (fakes/yarn-rm/tokens.h); on a wire a token is an identifier and its signature, and
// the fakes refuse a caller without one.
//
// One office for a whole cluster: its master key outlives daemons, as those in a state store do.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "core/model/yarn.h"
#include "fakes/yarn-rm/tokens.h"
#include "wire/hadoop/sasl_server.h"
#include "wire/hadoop/token.h"
#include "wire/hadoop/token_store.h"

namespace tfyarn::fakes {

class TokenOffice {
 public:
  /// `most`: containers' tokens that are remembered, the latest, and those of each kind in store().
  explicit TokenOffice(std::string master_key, std::size_t most = 100'000)
      : master_key_(std::move(master_key)), most_(most), store_(most) {}

  /// The AMRM token that `token` stands for.
  [[nodiscard]] hadoop::HadoopToken AmRmToken(const yarn::Token& token,
                                              const ApplicationAttemptId& attempt) const;
  /// Makes all tokens in the RM's answer to `attempt` of `user` known to store(). Containers'
  /// tokens get the handles of that: two of the fakes' may be equal (fakes/yarn-rm/tokens.h).
  void Issue(yarn::RmResponse& response, const ApplicationAttemptId& attempt,
             const std::string& user, const TokenBook& book);
  [[nodiscard]] const hadoop::TokenStore& store() const { return store_; }

  /// The fakes' handle of a container's token; nullopt when it was not issued here, or is forged.
  [[nodiscard]] std::optional<yarn::Token> ContainerToken(const hadoop::HadoopToken& token) const;
  /// The password of whatever token has that identifier.
  [[nodiscard]] std::string PasswordOf(std::string_view identifier) const;

 private:
  [[nodiscard]] hadoop::HadoopToken Signed(std::string identifier, const char* kind,
                                           std::string service) const;
  void IssueContainer(yarn::Container& container, const std::string& user, const TokenBook& book);
  void IssueNm(const yarn::NmToken& token, const ApplicationAttemptId& attempt,
               const std::string& user);

  const std::string master_key_;
  const std::size_t most_;
  hadoop::TokenStore store_;
  std::map<std::string, yarn::Token> containers_;  ///< By identifier.
  std::deque<std::string> oldest_first_;
};

}  // namespace tfyarn::fakes
