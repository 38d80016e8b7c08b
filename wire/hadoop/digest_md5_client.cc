#include "wire/hadoop/digest_md5_client.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sasl/sasl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "wire/hadoop/base64.h"
#include "wire/hadoop/digest_md5_layer.h"

namespace tfyarn::hadoop {
namespace {

constexpr char kMechanism[] = "DIGEST-MD5";
/// Most bytes that the peer may wrap at once. Hadoop's server wraps a whole response whatever its
/// size and whatever was agreed; this is Cyrus' own limit. Source: ipc/Server.java, wrapWithSasl().
constexpr unsigned kMaxBuffer = 0xffffff;
/// Cyrus begins every wrapped buffer with its length; Hadoop's frames have one already.
constexpr std::size_t kLengthPrefix = 4;

/// Cyrus knows every callback as a function without arguments, and calls it with its own.
template <class Function>
sasl_callback_t Callback(unsigned long id, Function* function, void* context) {
  return {id, reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(function)), context};
}
constexpr sasl_callback_t kLastCallback = {SASL_CB_LIST_END, nullptr, nullptr};

int LogNothing(void*, int, const char*) {
  return SASL_OK;
}

/// Once in a process. What Cyrus would write to the system's log comes to us as errors.
int StartLibrary() {
  static const std::array callbacks = {Callback(SASL_CB_LOG, &LogNothing, nullptr), kLastCallback};
  static const int result = sasl_client_init(callbacks.data());
  return result;
}

class DigestMd5Client final : public SaslMechanism {
 public:
  explicit DigestMd5Client(const HadoopToken& token)
      : user_(EncodeBase64(token.identifier)),
        password_(MakePassword(EncodeBase64(token.password))) {
    callbacks_ = {Callback(SASL_CB_USER, &GiveEmpty, this),
                  Callback(SASL_CB_AUTHNAME, &GiveUser, this),
                  Callback(SASL_CB_PASS, &GivePassword, this),
                  Callback(SASL_CB_GETREALM, &GiveRealm, this), kLastCallback};
  }
  ~DigestMd5Client() override {
    if (connection_ != nullptr) sasl_dispose(&connection_);
    OPENSSL_cleanse(password_.data(), password_.size());
  }

  Expected<void> Start(const std::string& service, const std::string& host) {
    realm_ = host;
    if (StartLibrary() != SASL_OK) return NotInstalled(StartLibrary());
    int result = sasl_client_new(service.c_str(), host.c_str(), nullptr, nullptr, callbacks_.data(),
                                 0, &connection_);
    if (result != SASL_OK) return NotInstalled(result);
    sasl_security_properties_t properties = {};
    properties.min_ssf = 0;
    properties.max_ssf = 256;
    properties.maxbufsize = kMaxBuffer;
    result = sasl_setprop(connection_, SASL_SEC_PROPS, &properties);
    if (result != SASL_OK) return NotInstalled(result);
    const char* chosen = nullptr;
    // It has nothing to say before the server's challenge.
    result = sasl_client_start(connection_, kMechanism, nullptr, nullptr, nullptr, &chosen);
    if (result != SASL_CONTINUE) return NotInstalled(result);
    return {};
  }

  Expected<std::string> Step(std::string_view token) override {
    const char* out = nullptr;
    unsigned size = 0;
    sasl_interact_t* prompts = nullptr;
    const int result = sasl_client_step(connection_, token.data(),
                                        static_cast<unsigned>(token.size()), &prompts, &out, &size);
    if (result != SASL_OK && result != SASL_CONTINUE)
      return Fail(ErrorCode::kFailedPrecondition,
                  fmt::format("DIGEST-MD5: {}", sasl_errdetail(connection_)));
    if (result == SASL_OK) Complete();
    return out == nullptr ? std::string() : std::string(out, size);
  }

  bool complete() const override { return complete_; }
  bool protects() const override { return protects_; }
  std::size_t most_to_wrap() const override { return most_to_wrap_; }

  Expected<std::string> Wrap(std::string_view plain) override {
    TF_CHECK(protects_ && plain.size() <= most_to_wrap_);
    const char* out = nullptr;
    unsigned size = 0;
    const int result =
        sasl_encode(connection_, plain.data(), static_cast<unsigned>(plain.size()), &out, &size);
    if (result != SASL_OK || size < kLengthPrefix)
      return Fail(ErrorCode::kInternal,
                  fmt::format("DIGEST-MD5 cannot wrap: {}", sasl_errdetail(connection_)));
    return std::string(out + kLengthPrefix, size - kLengthPrefix);
  }

  Expected<std::string> Unwrap(std::string_view wrapped) override {
    TF_CHECK(protects_);
    if (wrapped.size() > kMaxBuffer)
      return Fail(ErrorCode::kFailedPrecondition,
                  fmt::format("DIGEST-MD5: {} wrapped bytes at once; most are {}", wrapped.size(),
                              kMaxBuffer));
    std::string prefixed;
    prefixed.reserve(kLengthPrefix + wrapped.size());
    for (int shift = 24; shift >= 0; shift -= 8)
      prefixed += static_cast<char>((wrapped.size() >> shift) & 0xff);
    prefixed += wrapped;
    const char* out = nullptr;
    unsigned size = 0;
    const int result = sasl_decode(connection_, prefixed.data(),
                                   static_cast<unsigned>(prefixed.size()), &out, &size);
    if (result != SASL_OK)
      return Fail(ErrorCode::kFailedPrecondition,
                  fmt::format("DIGEST-MD5 cannot unwrap: {}", sasl_errdetail(connection_)));
    return std::string(out, size);
  }

 private:
  static int Give(const std::string& text, const char** result, unsigned* size) {
    *result = text.c_str();
    if (size != nullptr) *size = static_cast<unsigned>(text.size());
    return SASL_OK;
  }
  /// The authorization id: none, so that it is the authenticated one.
  static int GiveEmpty(void*, int, const char** result, unsigned* size) {
    static const std::string empty;
    return Give(empty, result, size);
  }
  static int GiveUser(void* self, int, const char** result, unsigned* size) {
    return Give(static_cast<DigestMd5Client*>(self)->user_, result, size);
  }
  static int GivePassword(sasl_conn_t*, void* self, int, sasl_secret_t** secret) {
    auto& bytes = static_cast<DigestMd5Client*>(self)->password_;
    *secret = reinterpret_cast<sasl_secret_t*>(bytes.data());
    return SASL_OK;
  }
  static int GiveRealm(void* self, int, const char**, const char** result) {
    *result = static_cast<DigestMd5Client*>(self)->realm_.c_str();
    return SASL_OK;
  }

  /// sasl_secret_t is a length and that many bytes behind it.
  static std::vector<unsigned char> MakePassword(std::string text) {
    std::vector<unsigned char> bytes(sizeof(sasl_secret_t) + text.size() + 1);
    const unsigned long size = text.size();
    std::memcpy(bytes.data() + offsetof(sasl_secret_t, len), &size, sizeof(size));
    std::memcpy(bytes.data() + offsetof(sasl_secret_t, data), text.data(), text.size());
    OPENSSL_cleanse(text.data(), text.size());
    return bytes;
  }

  static tl::unexpected<Error> NotInstalled(int result) {
    return Fail(ErrorCode::kFailedPrecondition,
                fmt::format("Cyrus SASL has no {} ({}): install libsasl2-modules, or set SASL_PATH "
                            "to the folder of its modules",
                            kMechanism, sasl_errstring(result, nullptr, nullptr)));
  }

  void Complete() {
    complete_ = true;
    const void* value = nullptr;
    protects_ = sasl_getprop(connection_, SASL_SSF, &value) == SASL_OK &&
                *static_cast<const sasl_ssf_t*>(value) > 0;
    if (sasl_getprop(connection_, SASL_MAXOUTBUF, &value) == SASL_OK &&
        *static_cast<const unsigned*>(value) > 0) {
      most_to_wrap_ = std::min<std::size_t>(*static_cast<const unsigned*>(value), kMostToWrap);
    }
  }

  const std::string user_;
  std::vector<unsigned char> password_;
  std::string realm_;
  std::array<sasl_callback_t, 5> callbacks_{};
  sasl_conn_t* connection_ = nullptr;
  bool complete_ = false;
  bool protects_ = false;
  std::size_t most_to_wrap_ = 1024;
};

}  // namespace

Expected<std::unique_ptr<SaslMechanism>> MakeDigestMd5Client(const HadoopToken& token,
                                                             const std::string& service,
                                                             const std::string& host) {
  auto client = std::make_unique<DigestMd5Client>(token);
  if (auto started = client->Start(service, host); !started) return tl::unexpected(started.error());
  return client;
}

}  // namespace tfyarn::hadoop
