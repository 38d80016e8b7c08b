#include "fakes/yarn-rm/tokens.h"

#include <string_view>

#include "core/model/check.h"
#include "core/model/random_stream.h"

namespace tfyarn::fakes {
namespace {

constexpr Duration kExpiryStep = 50ms;
constexpr unsigned kTermsShift = 48;   // 16 bits of terms,
constexpr unsigned kExpiryShift = 14;  // 34 bits of expiry in steps (27 years), 14 bits of hash
constexpr std::uint64_t kExpiryMask = (std::uint64_t{1} << 34) - 1;
constexpr std::uint64_t kHashMask = (std::uint64_t{1} << kExpiryShift) - 1;

std::uint64_t Fold(std::uint64_t hash, std::uint64_t value) {
  return MixBits(hash * kGoldenGamma + value);
}

std::uint64_t Fold(std::uint64_t hash, const ApplicationAttemptId& id) {
  hash = Fold(hash, static_cast<std::uint64_t>(id.application.cluster_timestamp));
  hash = Fold(hash, static_cast<std::uint64_t>(id.application.id));
  return Fold(hash, static_cast<std::uint64_t>(id.attempt));
}

std::uint64_t Fold(std::uint64_t hash, const NodeId& id) {
  for (const char c : id.host) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return Fold(hash, static_cast<std::uint64_t>(id.port));
}

std::uint64_t ContainerHash(std::uint32_t key, const ContainerId& container, const NodeId& node) {
  return Fold(Fold(Fold(Fold(1, key), container.application_attempt),
                   static_cast<std::uint64_t>(container.id)),
              node);
}

}  // namespace

std::uint32_t TokenBook::Intern(const ContainerTerms& terms) {
  std::vector<std::uint32_t>& alike = numbers_[{terms.resource.memory_mb, terms.resource.gpus}];
  for (const std::uint32_t number : alike) {
    if (terms_[number] == terms) return number;
  }
  TF_CHECK(terms_.size() < 65'536);
  const auto number = static_cast<std::uint32_t>(terms_.size());
  terms_.push_back(terms);
  alike.push_back(number);
  return number;
}

const ContainerTerms* TokenBook::Find(std::uint32_t number) const {
  return number < terms_.size() ? &terms_[number] : nullptr;
}

yarn::Token MakeContainerToken(std::uint32_t key, std::uint32_t terms, const ContainerId& container,
                               const NodeId& node, Instant expires) {
  const auto steps = static_cast<std::uint64_t>(expires.time_since_epoch() / kExpiryStep);
  return {.kind = yarn::TokenKind::kContainer,
          .key_id = key,
          .serial = (std::uint64_t{terms} << kTermsShift) |
                    ((steps & kExpiryMask) << kExpiryShift) |
                    (ContainerHash(key, container, node) & kHashMask)};
}

std::optional<ContainerTokenMeaning> ReadContainerToken(const TokenBook& book,
                                                        const yarn::Token& token,
                                                        const ContainerId& container,
                                                        const NodeId& node) {
  if (token.kind != yarn::TokenKind::kContainer) return std::nullopt;
  if ((token.serial & kHashMask) != (ContainerHash(token.key_id, container, node) & kHashMask))
    return std::nullopt;
  const ContainerTerms* terms = book.Find(static_cast<std::uint32_t>(token.serial >> kTermsShift));
  if (terms == nullptr) return std::nullopt;
  const auto steps = static_cast<std::int64_t>((token.serial >> kExpiryShift) & kExpiryMask);
  return ContainerTokenMeaning{.terms = terms, .expires = Instant(kExpiryStep * steps)};
}

yarn::Token MakeNmToken(std::uint32_t key, const ApplicationAttemptId& attempt,
                        const NodeId& node) {
  return {.kind = yarn::TokenKind::kNm,
          .key_id = key,
          .serial = Fold(Fold(Fold(2, key), attempt), node)};
}

bool IsNmTokenOf(const yarn::Token& token, const ApplicationAttemptId& attempt,
                 const NodeId& node) {
  return token == MakeNmToken(token.key_id, attempt, node);
}

yarn::Token MakeAmRmToken(std::uint32_t key, const ApplicationAttemptId& attempt) {
  return {.kind = yarn::TokenKind::kAmRm, .key_id = key, .serial = Fold(Fold(3, key), attempt)};
}

bool IsAmRmTokenOf(const yarn::Token& token, const ApplicationAttemptId& attempt) {
  return token == MakeAmRmToken(token.key_id, attempt);
}

}  // namespace tfyarn::fakes
