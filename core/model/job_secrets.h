// What a job keeps secret: which variables, what stands for their values wherever a job is shown,
// recorded or kept, and how a value is taken out of a text.
//
// A job as the core and its documents know it holds no secret value: `config` puts stars in place
// of the values of variables whose names look secret, and those of `secrets` it never reads. The
// values travel apart, in the credentials of a YARN application or in the environment of this
// machine's agents, to the one place that starts a task's process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfyarn {

/// Stands for a secret value.
inline constexpr std::string_view kSecretStars = "***";

/// Whether a variable of this name is taken to hold a secret: PASSWORD, PASSWD, TOKEN, SECRET,
/// CREDENTIAL or KEY is part of it, in whatever case.
[[nodiscard]] bool LooksSecret(std::string_view variable);

/// One secret variable of a job.
struct SecretValue {
  std::string task_type;  ///< Whose processes get it; "" = those of all task types.
  std::string name;       ///< Of the variable.
  std::string value;      ///< Without NUL, as it stands in an environment.
  friend bool operator==(const SecretValue&, const SecretValue&) = default;
};

/// How a value travels: under this name, which no other thing has.
inline constexpr std::string_view kSecretPrefix = "TFYARN_SECRET.";
[[nodiscard]] std::string TravelName(const SecretValue& secret);
/// nullopt: `name` is not made by TravelName.
[[nodiscard]] std::optional<SecretValue> SecretFrom(std::string_view name, std::string_view value);

/// Puts values in place of the stars of a task's environment. What of `secrets` the environment has
/// no stars for is left out: a framework's own variable wins.
void FillInSecrets(const std::vector<SecretValue>& secrets, std::string_view task_type,
                   std::map<std::string, std::string>& environment);

/// `text` with stars in place of every value in it, also of one whose front was cut off at the
/// beginning of `text`. Values of less than 4 bytes stay, as they may be part of any word.
[[nodiscard]] std::string WithoutSecrets(std::string text, const std::vector<SecretValue>& secrets);

}  // namespace tfyarn
