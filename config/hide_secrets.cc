#include "config/hide_secrets.h"

#include <algorithm>
#include <cstddef>

namespace tfyarn::config {
namespace {

void HideValue(Sources& sources, Node& value) {
  sources.Hide(value.place, value.end);
  value.text = kSecretStars;
  value.quoted = true;
}

void HideEnvironment(Sources& sources, Node* environment, const std::string& task_type,
                     std::vector<SecretValue>& found) {
  if (environment == nullptr) return;
  for (Entry& entry : environment->entries) {
    if (!LooksSecret(entry.key) || !entry.value.is_scalar()) continue;
    if (entry.value.text == kSecretStars) continue;
    std::erase_if(found, [&](const SecretValue& other) {
      return other.task_type == task_type && other.name == entry.key;
    });
    found.push_back({.task_type = task_type, .name = entry.key, .value = entry.value.text});
    HideValue(sources, entry.value);
  }
}

/// `secrets` says where values are; one that stands there itself is a slip that an error tells of.
void HideSlips(Sources& sources, Node* secrets) {
  if (secrets == nullptr) return;
  for (Entry& entry : secrets->entries) {
    if (entry.value.is_scalar()) HideValue(sources, entry.value);
  }
}

/// Below a path of a matrix that ends with a variable of `env`: all its values.
void HideMatrix(Sources& sources, Node* matrix) {
  if (matrix == nullptr) return;
  for (Entry& entry : matrix->entries) {
    const std::size_t at = entry.key.rfind("env.");
    if (at == std::string::npos || !LooksSecret(entry.key.substr(at))) continue;
    for (Node& value : entry.value.items) {
      if (value.is_scalar()) HideValue(sources, value);
    }
  }
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// Where the value of a `key: value` or `key=value` begins whose key ends in front of `at`; npos:
/// none does.
std::size_t ValueBehind(const std::string& line, std::size_t at) {
  while (at < line.size() && (line[at] == '"' || line[at] == '\'' || line[at] == ' ')) ++at;
  if (at == line.size() || (line[at] != ':' && line[at] != '=')) return std::string::npos;
  ++at;
  while (at < line.size() && line[at] == ' ') ++at;
  // A map is no value: `secrets`, or `tokens` of a scenario; what is in it comes next.
  return at == line.size() || line[at] == '{' ? std::string::npos : at;
}

}  // namespace

void HideSecrets(Sources& sources, Node& job, std::vector<SecretValue>& found) {
  HideEnvironment(sources, job.Find("env"), "", found);
  HideSlips(sources, job.Find("secrets"));
  Node* tasks = job.Find("tasks");
  if (tasks == nullptr) return;
  for (Entry& task : tasks->entries)
    HideEnvironment(sources, task.value.Find("env"), task.key, found);
}

void HideSecretsOfScenario(Sources& sources, Node& scenario) {
  std::vector<SecretValue> ignored;
  if (Node* defaults = scenario.Find("defaults")) HideSecrets(sources, *defaults, ignored);
  if (Node* jobs = scenario.Find("jobs")) {
    for (Node& job : jobs->items) HideSecrets(sources, job, ignored);
  }
  if (Node* arrivals = scenario.Find("arrivals")) {
    for (Node& arrival : arrivals->items) {
      if (Node* job = arrival.Find("template")) HideSecrets(sources, *job, ignored);
    }
  }
  if (Node* sweep = scenario.Find("sweep")) HideMatrix(sources, sweep->Find("matrix"));
}

std::string WithoutValuesOfSecrets(std::string line) {
  std::size_t begin = 0;
  while (begin < line.size()) {
    if (!IsNameByte(line[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < line.size() && IsNameByte(line[end])) ++end;
    const std::size_t value = LooksSecret(std::string_view(line).substr(begin, end - begin))
                                  ? ValueBehind(line, end)
                                  : std::string::npos;
    if (value != std::string::npos) {
      // Of the same length: the caret stays where it is.
      std::fill(line.begin() + static_cast<std::ptrdiff_t>(value), line.end(), '*');
      return line;
    }
    begin = end;
  }
  return line;
}

std::string WithoutSecretOfSet(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) return assignment;
  const std::string path = assignment.substr(0, equals);
  const bool secret = path.find("env") != std::string::npos && LooksSecret(path);
  return secret ? path + "=" + std::string(kSecretStars) : WithoutValuesOfSecrets(assignment);
}

}  // namespace tfyarn::config
