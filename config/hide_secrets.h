// Values of variables whose names look secret (core/model/job_secrets.h), taken out of a document
// before anything is made of it: spec, effective document, digest and diagnostics have stars.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/source.h"
#include "config/tree.h"
#include "core/model/job_secrets.h"

namespace tfyarn::config {

/// Puts stars in place of the values in a job's `env` and in those of its task types, in the tree
/// and in what diagnostics show of the text. They are added to `found`, in place of older ones. A
/// value that is stars already is none.
void HideSecrets(Sources& sources, Node& job, std::vector<SecretValue>& found);
/// The same for all that a scenario says of jobs: a simulated process has no environment, so the
/// values go nowhere.
void HideSecretsOfScenario(Sources& sources, Node& scenario);

/// A line of a file as a diagnostic may show it, also of one that is not YAML: nothing behind a
/// key that looks secret.
[[nodiscard]] std::string WithoutValuesOfSecrets(std::string line);

/// A `--set` argument, PATH=VALUE, as it may be shown.
[[nodiscard]] std::string WithoutSecretOfSet(const std::string& assignment);

}  // namespace tfyarn::config
