#include "wire/hadoop/token_store.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "wire/hadoop/yarn_tokens.pb.h"

namespace tfyarn::hadoop {
namespace {

yarn::TokenKind KindOf(std::string_view kind) {
  if (kind == kAmRmTokenKind) return yarn::TokenKind::kAmRm;
  if (kind == kNmTokenKind) return yarn::TokenKind::kNm;
  if (kind == kContainerTokenKind) return yarn::TokenKind::kContainer;
  if (kind == kClientTokenKind) return yarn::TokenKind::kClient;
  return yarn::TokenKind::kNone;
}

template <class Identifier>
Identifier Parsed(const HadoopToken& token) {
  Identifier identifier;
  // What cannot be read is not ours to judge: the key stays unknown.
  if (!identifier.ParsePartialFromString(token.identifier)) identifier.Clear();
  return identifier;
}

std::uint32_t KeyOf(const HadoopToken& token, yarn::TokenKind kind) {
  switch (kind) {
    case yarn::TokenKind::kAmRm:
      return static_cast<std::uint32_t>(Parsed<pb::AmRmTokenIdentifier>(token).key_id());
    case yarn::TokenKind::kNm:
      return static_cast<std::uint32_t>(Parsed<pb::NmTokenIdentifier>(token).key_id());
    case yarn::TokenKind::kContainer:
      return static_cast<std::uint32_t>(
          Parsed<pb::ContainerTokenIdentifier>(token).master_key_id());
    case yarn::TokenKind::kNone:
    case yarn::TokenKind::kClient:
      break;
  }
  return 0;
}

/// Of all that tells two tokens apart: equal tokens must have equal handles.
std::uint64_t SerialOf(const HadoopToken& token) {
  std::string all;
  for (const std::string* part : {&token.kind, &token.identifier, &token.password})
    all += std::to_string(part->size()) + ":" + *part;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(all.data()), all.size(), digest.data());
  std::uint64_t serial = 0;
  for (std::size_t i = 0; i < 8; ++i) serial = serial << 8 | digest[i];
  return serial;
}

}  // namespace

yarn::Token TokenStore::Keep(const HadoopToken& token) {
  const yarn::TokenKind kind = KindOf(token.kind);
  const yarn::Token handle{.kind = kind, .key_id = KeyOf(token, kind), .serial = SerialOf(token)};
  Put(handle, token);
  return handle;
}

void TokenStore::Put(const yarn::Token& handle, HadoopToken token) {
  if (!tokens_.insert_or_assign(handle, std::move(token)).second) return;
  auto& oldest = oldest_first_[handle.kind];
  oldest.push_back(handle);
  if (oldest.size() <= most_) return;
  tokens_.erase(oldest.front());
  oldest.pop_front();
}

const HadoopToken* TokenStore::Find(const yarn::Token& handle) const {
  const auto at = tokens_.find(handle);
  return at == tokens_.end() ? nullptr : &at->second;
}

void TokenStore::Forget(const yarn::Token& handle) {
  if (tokens_.erase(handle) == 0) return;
  auto& oldest = oldest_first_[handle.kind];
  oldest.erase(std::find(oldest.begin(), oldest.end(), handle));
}

}  // namespace tfyarn::hadoop
