#include "core/model/job_secrets.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace tfyarn {
namespace {

constexpr std::size_t kShortest = 4;

/// How many bytes at the beginning of `text` are the end of `value`, which began before it.
std::size_t CutPart(std::string_view text, std::string_view value) {
  for (std::size_t size = std::min(value.size() - 1, text.size()); size >= kShortest; --size) {
    if (text.starts_with(value.substr(value.size() - size))) return size;
  }
  return 0;
}

}  // namespace

bool LooksSecret(std::string_view variable) {
  std::string upper;
  for (const char c : variable)
    upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  constexpr std::string_view kWords[] = {"PASSWORD", "PASSWD",     "TOKEN",
                                         "SECRET",   "CREDENTIAL", "KEY"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

std::string TravelName(const SecretValue& secret) {
  return std::string(kSecretPrefix) + secret.task_type + "." + secret.name;
}

std::optional<SecretValue> SecretFrom(std::string_view name, std::string_view value) {
  if (!name.starts_with(kSecretPrefix)) return std::nullopt;
  name.remove_prefix(kSecretPrefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return SecretValue{.task_type = std::string(name.substr(0, dot)),
                     .name = std::string(name.substr(dot + 1)),
                     .value = std::string(value)};
}

void FillInSecrets(const std::vector<SecretValue>& secrets, std::string_view task_type,
                   std::map<std::string, std::string>& environment) {
  for (auto& [name, value] : environment) {
    if (value != kSecretStars) continue;
    const SecretValue* found = nullptr;
    for (const SecretValue& secret : secrets) {
      if (secret.name != name) continue;
      // The task type's own comes before that of the job.
      if (secret.task_type == task_type || (secret.task_type.empty() && found == nullptr))
        found = &secret;
    }
    if (found != nullptr) value = found->value;
  }
}

std::string WithoutSecrets(std::string text, const std::vector<SecretValue>& secrets) {
  std::vector<std::string_view> values;
  for (const SecretValue& secret : secrets) {
    if (secret.value.size() >= kShortest) values.emplace_back(secret.value);
  }
  // One value may be part of another.
  std::sort(values.begin(), values.end(), [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  for (const std::string_view value : values) {
    for (std::size_t at = text.find(value); at != std::string::npos;
         at = text.find(value, at + kSecretStars.size()))
      text.replace(at, value.size(), kSecretStars);
  }
  for (const std::string_view value : values) {
    const std::size_t cut = CutPart(text, value);
    if (cut > 0) text.replace(0, cut, kSecretStars);
  }
  return text;
}

}  // namespace tfyarn
