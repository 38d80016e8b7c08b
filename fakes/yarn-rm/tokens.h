// What a yarn::Token of each kind means, computable by RM and NM alike.
//
// A real token carries an identifier and its HMAC under a master key that RM and NMs share. Here
// `serial` takes the place of both: for AMRM and NM tokens it is a hash of what the identifier
// would say, so that a machine that knows the claim can check it; a container token's serial packs
// what the NM must learn from it (expiry, and by number the terms in the TokenBook). Nothing is
// secret: machines pass tokens on and compare them, nothing else. Not modelled: forgery; two
// container tokens of the same terms and 50 ms may have equal serials with chance 2^-14.
//
// Source: ContainerTokenIdentifier.java, NMTokenIdentifier.java, AMRMTokenIdentifier.java.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn::fakes {

/// What many container tokens say alike.
struct ContainerTerms {
  Resource resource;
  std::int32_t priority = 0;
  std::int64_t rm_identifier = 0;  ///< Which RM process granted it.
  friend bool operator==(const ContainerTerms&, const ContainerTerms&) = default;
};

/// Terms by number. Owned by the RM, outlives its restarts, read by the NMs; entries never change.
class TokenBook {
 public:
  /// The number of these terms; at most 65,536 different ones.
  std::uint32_t Intern(const ContainerTerms& terms);
  /// nullptr when no token of that number was ever issued.
  [[nodiscard]] const ContainerTerms* Find(std::uint32_t number) const;

 private:
  std::vector<ContainerTerms> terms_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint32_t>>
      numbers_;  // by (memory, gpus)
};

struct ContainerTokenMeaning {
  const ContainerTerms* terms = nullptr;  ///< Never null.
  Instant expires{};                      ///< Rounded down to 50 ms.
};

[[nodiscard]] yarn::Token MakeContainerToken(std::uint32_t key, std::uint32_t terms,
                                             const ContainerId& container, const NodeId& node,
                                             Instant expires);
/// nullopt: not a token for this container on this node.
[[nodiscard]] std::optional<ContainerTokenMeaning> ReadContainerToken(const TokenBook& book,
                                                                      const yarn::Token& token,
                                                                      const ContainerId& container,
                                                                      const NodeId& node);

[[nodiscard]] yarn::Token MakeNmToken(std::uint32_t key, const ApplicationAttemptId& attempt,
                                      const NodeId& node);
[[nodiscard]] bool IsNmTokenOf(const yarn::Token& token, const ApplicationAttemptId& attempt,
                               const NodeId& node);

[[nodiscard]] yarn::Token MakeAmRmToken(std::uint32_t key, const ApplicationAttemptId& attempt);
[[nodiscard]] bool IsAmRmTokenOf(const yarn::Token& token, const ApplicationAttemptId& attempt);

}  // namespace tfyarn::fakes
