#include "wire/hadoop/token_identifiers.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "core/model/check.h"
#include "wire/hadoop/yarn_records.h"
#include "wire/hadoop/yarn_tokens.pb.h"

namespace tfyarn::hadoop {

std::string Encode(const AmRmTokenIdentifier& identifier) {
  pb::AmRmTokenIdentifier out;
  Write(identifier.attempt, *out.mutable_app_attempt_id());
  out.set_key_id(identifier.key_id);
  return out.SerializeAsString();
}

std::string Encode(const NmTokenIdentifier& identifier) {
  pb::NmTokenIdentifier out;
  Write(identifier.attempt, *out.mutable_app_attempt_id());
  Write(identifier.node, *out.mutable_node_id());
  out.set_app_submitter(identifier.user);
  out.set_key_id(identifier.key_id);
  return out.SerializeAsString();
}

std::string Encode(const ContainerTokenIdentifier& identifier) {
  pb::ContainerTokenIdentifier out;
  Write(identifier.container, *out.mutable_container_id());
  out.set_nm_host_addr(ToString(identifier.node));
  out.set_app_submitter(identifier.user);
  Write(identifier.resource, *out.mutable_resource());
  out.set_expiry_time_stamp(identifier.expires_ms);
  out.set_master_key_id(identifier.key_id);
  out.set_rm_identifier(identifier.rm_identifier);
  out.mutable_priority()->set_priority(identifier.priority);
  return out.SerializeAsString();
}

Expected<AmRmTokenIdentifier> DecodeAmRmTokenIdentifier(std::string_view bytes) {
  const auto in = Parse<pb::AmRmTokenIdentifier>(bytes, "AMRM token");
  if (!in) return tl::unexpected(in.error());
  Reader reader("AMRM token");
  AmRmTokenIdentifier out{.attempt = reader.Attempt(in->app_attempt_id()), .key_id = in->key_id()};
  return reader.Done(std::move(out));
}

Expected<NmTokenIdentifier> DecodeNmTokenIdentifier(std::string_view bytes) {
  const auto in = Parse<pb::NmTokenIdentifier>(bytes, "NM token");
  if (!in) return tl::unexpected(in.error());
  Reader reader("NM token");
  NmTokenIdentifier out{.attempt = reader.Attempt(in->app_attempt_id()),
                        .node = reader.Node(in->node_id()),
                        .user = in->app_submitter(),
                        .key_id = in->key_id()};
  return reader.Done(std::move(out));
}

std::string SignIdentifier(std::string_view master_key, std::string_view identifier) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(identifier.data());
  TF_CHECK(HMAC(EVP_sha1(), master_key.data(), static_cast<int>(master_key.size()), data,
                identifier.size(), digest.data(), &size) != nullptr);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace tfyarn::hadoop
