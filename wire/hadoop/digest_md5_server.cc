#include "wire/hadoop/digest_md5_server.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::hadoop {
namespace {

/// Longest response. RFC 2831 says 4096, but a token's identifier is a user name here.
constexpr std::size_t kMaxResponse = std::size_t{64} * 1024;

tl::unexpected<Error> Denied(std::string_view why) {
  return Fail(ErrorCode::kFailedPrecondition, fmt::format("DIGEST-MD5: {}", why));
}

/// Takes a value, quoted or not, off the front; nullopt when a quote stays open.
std::optional<std::string> TakeValue(std::string_view& text) {
  if (!text.starts_with('"')) {
    const std::string value(text.substr(0, text.find(',')));
    text.remove_prefix(value.size());
    return value;
  }
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    value += text[i];
  }
  return std::nullopt;
}

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

}  // namespace

Expected<std::map<std::string, std::string>> ParseDigestDirectives(std::string_view text) {
  const auto bad = [] {
    return Fail(ErrorCode::kInvalidArgument, "DIGEST-MD5: malformed directives");
  };
  if (text.size() > kMaxResponse) return bad();
  std::map<std::string, std::string> directives;
  for (SkipBlanks(text); !text.empty(); SkipBlanks(text)) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return bad();
    std::string name(text.substr(0, equals));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    text.remove_prefix(equals + 1);
    auto value = TakeValue(text);
    if (!value || !directives.emplace(std::move(name), *std::move(value)).second) return bad();
    SkipBlanks(text);
    if (text.empty()) break;
    if (text.front() != ',') return bad();
    text.remove_prefix(1);
  }
  return directives;
}

DigestMd5Server::DigestMd5Server(DigestMd5ServerOptions options, Passwords passwords)
    : options_(std::move(options)), passwords_(std::move(passwords)) {
  TF_CHECK(!options_.nonce.empty() && !options_.offered.empty());
}

std::string DigestMd5Server::Challenge() const {
  std::string qops;
  std::string ciphers;
  for (const Protection protection : options_.offered) {
    qops += fmt::format("{}{}", qops.empty() ? "" : ",", QopName(protection));
  }
  for (const DigestCipher cipher : options_.ciphers) {
    if (HasCipher(cipher))
      ciphers += fmt::format("{}{}", ciphers.empty() ? "" : ",", CipherName(cipher));
  }
  if (ProtectionNamed("auth-conf"))
    ciphers = fmt::format(R"(cipher="{}",)", ciphers);
  else
    ciphers.clear();
  return fmt::format(R"(realm="{}",nonce="{}",qop="{}",charset=utf-8,{}algorithm=md5-sess)",
                     options_.host, options_.nonce, qops, ciphers);
}

std::optional<Protection> DigestMd5Server::ProtectionNamed(std::string_view qop) const {
  for (const Protection protection : options_.offered) {
    if (QopName(protection) == qop) return protection;
  }
  return std::nullopt;
}

std::optional<DigestCipher> DigestMd5Server::CipherNamed(std::string_view name) const {
  for (const DigestCipher cipher : options_.ciphers) {
    if (CipherName(cipher) == name && HasCipher(cipher)) return cipher;
  }
  return std::nullopt;
}

Expected<DigestMd5Exchange> DigestMd5Server::Read(std::string_view token) const {
  auto said = ParseDigestDirectives(token);
  if (!said) return tl::unexpected(said.error());
  auto& get = *said;  // What is not there is empty.
  const auto protection = ProtectionNamed(get["qop"].empty() ? "auth" : get["qop"]);
  if (!protection) return Denied(fmt::format("qop {} was not offered", get["qop"]));
  const auto cipher = CipherNamed(get["cipher"]);
  if (*protection == Protection::kPrivacy && !cipher)
    return Denied(fmt::format("cipher {} was not offered", get["cipher"]));
  const std::string uri = fmt::format("{}/{}", options_.service, options_.host);
  if (get["nonce"] != options_.nonce || get["nc"] != "00000001" || get["digest-uri"] != uri ||
      get["realm"] != options_.host || get["cnonce"].empty())
    return Denied("nonce, nonce count, realm or digest-uri is not that of the challenge");
  if (!get["authzid"].empty() && get["authzid"] != get["username"])
    return Denied("may not act for another user");
  const auto password = passwords_(get["username"]);
  if (!password) return Denied("unknown user");
  DigestMd5Exchange exchange{.username = get["username"],
                             .realm = options_.host,
                             .password = *password,
                             .nonce = options_.nonce,
                             .cnonce = get["cnonce"],
                             .nonce_count = get["nc"],
                             .digest_uri = uri,
                             .authzid = get["authzid"],
                             .protection = *protection,
                             .cipher = cipher.value_or(DigestCipher::k3Des)};
  const std::string expected = DigestMd5Response(exchange);
  const std::string& response = get["response"];
  if (response.size() != expected.size() ||
      CRYPTO_memcmp(response.data(), expected.data(), expected.size()) != 0)
    return Denied("digest response format violation. Mismatched response.");
  return exchange;
}

Expected<std::string> DigestMd5Server::Step(std::string_view token) {
  if (complete_) return Denied("the exchange is over");
  const auto exchange = Read(token);
  if (!exchange) return tl::unexpected(exchange.error());
  username_ = exchange->username;
  complete_ = true;
  if (exchange->protection != Protection::kAuthentication) layer_.emplace(*exchange);
  return fmt::format("rspauth={}", DigestMd5ResponseAuth(*exchange));
}

std::size_t DigestMd5Server::most_to_wrap() const {
  return kMostToWrap;
}

Expected<std::string> DigestMd5Server::Wrap(std::string_view plain) {
  TF_CHECK(layer_.has_value());
  return layer_->Wrap(plain);
}

Expected<std::string> DigestMd5Server::Unwrap(std::string_view wrapped) {
  TF_CHECK(layer_.has_value());
  return layer_->Unwrap(wrapped);
}

}  // namespace tfyarn::hadoop
