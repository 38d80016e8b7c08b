// Which token a handle of core/model/yarn.h means. Machines pass handles on; their host keeps this
// beside them and never lets a secret out of it but to a server.
#pragma once

#include <cstddef>
#include <deque>
#include <map>

#include "core/model/yarn.h"
#include "wire/hadoop/token.h"

namespace tfyarn::hadoop {

class TokenStore {
 public:
  /// `most`: tokens kept of each kind; the oldest go first. The RM may replace tokens for ever, and
  /// a container's token is of no use ten minutes after it was granted.
  explicit TokenStore(std::size_t most = 100'000) : most_(most) {}

  /// The handle of `token`: the same for the same token, in every process.
  yarn::Token Keep(const HadoopToken& token);
  /// Makes `handle` mean `token`, for a caller that issues tokens and names them itself.
  void Put(const yarn::Token& handle, HadoopToken token);
  /// nullptr when it is not known, or not any more. Valid until the next change.
  [[nodiscard]] const HadoopToken* Find(const yarn::Token& handle) const;
  void Forget(const yarn::Token& handle);
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }

 private:
  const std::size_t most_;
  std::map<yarn::Token, HadoopToken> tokens_;
  std::map<yarn::TokenKind, std::deque<yarn::Token>> oldest_first_;
};

}  // namespace tfyarn::hadoop
