#include "wire/hadoop/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "wire/hadoop/delimited.h"
#include "wire/hadoop/ipc.pb.h"
#include "wire/hadoop/writable.h"

namespace tfyarn::hadoop {
namespace {

constexpr std::string_view kMagic = "HDTS";
constexpr char kWritableForm = 0;
constexpr char kProtobufForm = 1;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

tl::unexpected<Error> Damaged(std::string_view what) {
  return Fail(ErrorCode::kDataLoss, fmt::format("credentials: {}", what));
}

void AppendToken(const HadoopToken& token, std::string& out) {
  AppendBytes(token.identifier, out);
  AppendBytes(token.password, out);
  AppendBytes(token.kind, out);
  AppendBytes(token.service, out);
}

Expected<HadoopToken> ReadToken(WritableReader& reader) {
  std::array<std::string, 4> parts;
  for (std::string& part : parts) {
    const auto bytes = reader.Bytes();
    if (!bytes) return tl::unexpected(bytes.error());
    part = *bytes;
  }
  return HadoopToken{.identifier = std::move(parts[0]),
                     .password = std::move(parts[1]),
                     .kind = std::move(parts[2]),
                     .service = std::move(parts[3])};
}

/// A count and that many entries of an alias and what `read` reads.
template <class Value, class Read>
Expected<std::vector<std::pair<std::string, Value>>> ReadEntries(WritableReader& reader,
                                                                 Read read) {
  const auto count = reader.Size(reader.left());  // An entry has more than one byte.
  if (!count) return tl::unexpected(count.error());
  std::vector<std::pair<std::string, Value>> entries;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto alias = reader.Bytes();
    if (!alias) return tl::unexpected(alias.error());
    auto value = read(reader);
    if (!value) return tl::unexpected(value.error());
    entries.emplace_back(std::string(*alias), Value(*std::move(value)));
  }
  return entries;
}

Expected<Credentials> DecodeWritable(std::string_view bytes) {
  WritableReader reader(bytes);
  auto tokens = ReadEntries<HadoopToken>(reader, ReadToken);
  if (!tokens) return Damaged(tokens.error().message);
  auto secrets = ReadEntries<std::string>(reader, [](WritableReader& r) { return r.Bytes(); });
  if (!secrets) return Damaged(secrets.error().message);
  if (reader.left() != 0) return Damaged(fmt::format("{} bytes too many", reader.left()));
  return Credentials{.tokens = *std::move(tokens), .secrets = *std::move(secrets)};
}

Expected<Credentials> DecodeProtobuf(std::string_view bytes) {
  const auto whole = TakeDelimited(bytes);
  pb::Credentials message;
  if (!whole || !bytes.empty() ||
      !message.ParsePartialFromArray(whole->data(), static_cast<int>(whole->size())) ||
      !message.IsInitialized())
    return Damaged("the message is not whole, or not alone");
  Credentials credentials;
  for (const pb::CredentialsEntry& entry : message.tokens())
    credentials.tokens.emplace_back(entry.alias(),
                                    HadoopToken{.identifier = entry.token().identifier(),
                                                .password = entry.token().password(),
                                                .kind = entry.token().kind(),
                                                .service = entry.token().service()});
  for (const pb::CredentialsEntry& entry : message.secrets())
    credentials.secrets.emplace_back(entry.alias(), entry.secret());
  return credentials;
}

}  // namespace

const HadoopToken* Credentials::FindToken(std::string_view kind) const {
  for (const auto& [alias, token] : tokens) {
    if (token.kind == kind) return &token;
  }
  return nullptr;
}

const std::string* Credentials::FindSecret(std::string_view alias) const {
  for (const auto& [name, secret] : secrets) {
    if (name == alias) return &secret;
  }
  return nullptr;
}

void Credentials::RemoveTokens(std::string_view kind) {
  std::erase_if(tokens, [kind](const auto& entry) { return entry.second.kind == kind; });
}

std::string EncodeCredentials(const Credentials& credentials) {
  std::string out(kMagic);
  out += kWritableForm;
  AppendVLong(static_cast<std::int64_t>(credentials.tokens.size()), out);
  for (const auto& [alias, token] : credentials.tokens) {
    AppendBytes(alias, out);
    AppendToken(token, out);
  }
  AppendVLong(static_cast<std::int64_t>(credentials.secrets.size()), out);
  for (const auto& [alias, secret] : credentials.secrets) {
    AppendBytes(alias, out);
    AppendBytes(secret, out);
  }
  return out;
}

Expected<Credentials> DecodeCredentials(std::string_view bytes) {
  if (bytes.size() > kMaxCredentials)
    return Damaged(fmt::format("{} bytes; most are {}", bytes.size(), kMaxCredentials));
  if (!bytes.starts_with(kMagic) || bytes.size() == kMagic.size())
    return Damaged("they do not begin with HDTS and a form");
  const char form = bytes[kMagic.size()];
  bytes.remove_prefix(kMagic.size() + 1);
  if (form == kWritableForm) return DecodeWritable(bytes);
  if (form == kProtobufForm) return DecodeProtobuf(bytes);
  return Damaged(fmt::format("form {}; 0 and 1 are known", int{form}));
}

Expected<Credentials> ReadCredentialsFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr)
    return Fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                fmt::format("{}: {}", path, std::strerror(errno)));
  std::string bytes;
  std::array<char, 16384> buffer{};
  while (bytes.size() <= kMaxCredentials) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (got == 0) break;
    bytes.append(buffer.data(), got);
  }
  if (std::ferror(file.get()) != 0)
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be read", path));
  auto credentials = DecodeCredentials(bytes);
  if (!credentials)
    return Fail(credentials.error().code, fmt::format("{}: {}", path, credentials.error().message));
  return credentials;
}

std::string EncodeTokenUrlString(const HadoopToken& token) {
  std::string bytes;
  AppendToken(token, bytes);
  std::string text;
  std::uint32_t bits = 0;
  int pending = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (pending += 8; pending >= 6; pending -= 6) text += kDigits[bits >> (pending - 6) & 63];
  }
  if (pending > 0) text += kDigits[bits << (6 - pending) & 63];
  return text;
}

Expected<HadoopToken> DecodeTokenUrlString(std::string_view text) {
  const auto bad = [](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("token as text: {}", why));
  };
  std::string bytes;
  std::uint32_t bits = 0;
  int pending = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char digit : text) {
    const auto value = kDigits.find(digit);
    if (value == std::string_view::npos) return bad("not URL-safe Base64");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    pending += 6;
    if (pending < 8) continue;
    pending -= 8;
    bytes += static_cast<char>(bits >> pending & 0xff);
  }
  WritableReader reader(bytes);
  auto token = ReadToken(reader);
  if (!token) return bad(token.error().message);
  if (reader.left() != 0) return bad("bytes behind the token");
  return token;
}

}  // namespace tfyarn::hadoop
