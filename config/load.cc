#include "config/load.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "config/emit.h"
#include "config/hide_secrets.h"
#include "config/ignored_fields.h"
#include "config/job_table.h"
#include "config/merge.h"
#include "config/scenario_table.h"
#include "config/trace_loader.h"

namespace tfyarn::config {
namespace {

// Checking every value of a matrix reads the scenario once for each; beyond this work they are
// checked when they run.
constexpr std::size_t kMaxMatrixWork = 2'000'000;

/// A document on its way: text, tree and what was found.
struct Document {
  Sources sources;
  std::vector<Finding> findings;
  std::optional<Node> root;
  std::vector<SecretValue> secrets;  ///< Taken out of `root`.

  [[nodiscard]] tl::unexpected<Diagnostics> Failed() {
    return tl::unexpected(sources.Finish(std::move(findings)));
  }
};

enum class Kind { kJob, kScenario };

/// Also between one `--set` and the next: an error of the second may quote what the first says.
void TakeSecrets(Kind kind, Document& document) {
  Node& root = *document.root;
  if (kind == Kind::kScenario) return HideSecretsOfScenario(document.sources, root);
  HideSecrets(document.sources, root, document.secrets);
  // What a `--set` removed.
  std::erase_if(document.secrets, [&](const SecretValue& secret) {
    const std::string in = secret.task_type.empty() ? "" : "tasks." + secret.task_type + ".";
    return root.FindPath(in + "env." + secret.name) == nullptr;
  });
}

void ReadInto(Kind kind, Document& document, const std::string& path, const std::string* text,
              const LoadOptions& options) {
  FileLoader loader(document.sources, options.open, document.findings);
  document.root = text != nullptr ? loader.LoadText(*text, path) : loader.LoadFile(path);
  if (!document.root) return;
  TakeSecrets(kind, document);
  for (const std::string& set : options.sets) {
    ApplySet(document.sources, set, *document.root, document.findings);
    TakeSecrets(kind, document);
  }
}

/// `defaults` merged under every job and template.
Node WithDefaults(const Node& root) {
  const Node* defaults = root.Find("defaults");
  if (defaults == nullptr || !defaults->is_map()) return root;
  Node out = root;
  if (Node* jobs = out.Find("jobs")) {
    for (Node& job : jobs->items) {
      if (job.is_map()) job = Merge(*defaults, job);
    }
  }
  if (Node* arrivals = out.Find("arrivals")) {
    for (Node& arrival : arrivals->items) {
      Node* job = arrival.Find("template");
      if (job == nullptr || !job->is_map()) continue;
      Node merged = Merge(*defaults, *job);
      // When a job comes is a default of the listed ones only.
      if (job->Find("submit") == nullptr)
        std::erase_if(merged.entries, [](const Entry& e) { return e.key == "submit"; });
      *job = std::move(merged);
    }
  }
  return out;
}

void KeepFileName(Node* file) {
  if (file == nullptr || !file->is_scalar()) return;
  std::string name = std::filesystem::path(file->text).filename().string();
  if (name.ends_with(".xz")) name.resize(name.size() - 3);
  file->text = std::move(name);
}

/// What two scenarios have in common that do the same: not comments, not places, not where traces
/// lie, not the seed.
std::uint64_t DigestOf(Node merged) {
  std::erase_if(merged.entries,
                [](const Entry& entry) { return entry.key == "defaults" || entry.key == "seed"; });
  if (Node* arrivals = merged.Find("arrivals")) {
    for (Node& arrival : arrivals->items) {
      if (Node* trace = arrival.Find("trace")) KeepFileName(trace->Find("file"));
    }
  }
  if (Node* faults = merged.Find("faults")) {
    for (Node& fault : faults->items) KeepFileName(fault.Find("file"));
  }
  const std::string canonical = EmitCanonical(merged);
  return XXH64(canonical.data(), canonical.size(), 0);
}

void AddPlaces(const Node& node, std::set<Place>& places) {
  places.insert(node.place);
  for (const Node& item : node.items) AddPlaces(item, places);
  for (const Entry& entry : node.entries) {
    places.insert(entry.key_place);
    AddPlaces(entry.value, places);
  }
}

/// Every value of the matrix is put in its place and read: what is wrong with it is reported where
/// it stands.
void CheckMatrix(const Node& root, std::vector<Finding>& findings) {
  const Node* matrix = root.FindPath("sweep.matrix");
  if (matrix == nullptr) return;
  std::size_t values = 0;
  for (const Entry& entry : matrix->entries) values += entry.value.items.size();
  if (values * CountNodes(root) > kMaxMatrixWork) return;
  for (const Entry& entry : matrix->entries) {
    for (const Node& value : entry.value.items) {
      Node changed = root;
      const std::size_t before = findings.size();
      SetAt(changed, entry.key, entry.key_place, value, findings);
      if (findings.size() != before) break;
      Decoder partial(false);
      Scenario ignored;
      ScenarioTable().Read(partial, WithDefaults(changed), ignored);
      std::set<Place> places;
      // An unknown key of the path is reported where that key begins in it.
      for (std::uint32_t i = 0; i <= entry.key.size(); ++i) {
        Place within = entry.key_place;
        within.col += i;
        places.insert(within);
      }
      AddPlaces(value, places);
      for (Finding& finding : partial.findings()) {
        if (places.contains(finding.place)) findings.push_back(std::move(finding));
      }
    }
  }
}

tl::expected<Scenario, Diagnostics> Load(const std::string& path, const std::string* text,
                                         const LoadOptions& options) {
  Document document;
  ReadInto(Kind::kScenario, document, path, text, options);
  if (!document.root) return document.Failed();
  const Node merged = WithDefaults(*document.root);
  Decoder decoder;
  Scenario scenario;
  ScenarioTable().Read(decoder, merged, scenario);
  std::vector<Finding>& findings = document.findings;
  findings.insert(findings.end(), decoder.findings().begin(), decoder.findings().end());
  if (findings.empty()) CheckMatrix(*document.root, findings);
  if (findings.empty()) LoadTraces(document.sources, merged, options, scenario, findings);
  if (!findings.empty()) return document.Failed();

  scenario.file = path;
  if (options.seed) scenario.seed = *options.seed;
  if (scenario.sweep && merged.FindPath("sweep.seeds") == nullptr) {
    scenario.sweep->first_seed = scenario.sweep->last_seed = scenario.seed;
  }
  scenario.effective_yaml = EmitYaml(*document.root);
  scenario.digest = DigestOf(merged);
  scenario.ignored = NotesOf(
      document.sources, IgnoredFields(ScenarioTable().info(), *document.root, Host::kSimulator));
  return scenario;
}

/// `document` has been read.
tl::expected<JobSpec, Diagnostics> DecodeJob(Document& document) {
  if (!document.root) return document.Failed();
  Decoder decoder;
  JobDraft draft;
  JobTable().Read(decoder, *document.root, draft);
  JobSpec job = Complete(std::move(draft));
  if (decoder.findings().empty()) CheckCommands(decoder, *document.root, job);
  std::vector<Finding>& findings = document.findings;
  findings.insert(findings.end(), decoder.findings().begin(), decoder.findings().end());
  if (!findings.empty()) return document.Failed();
  return job;
}

/// Whether there was something that `host` ignores in the task types. Now there is not.
bool TakeOut(Node& root, Host host) {
  Node* tasks = root.Find("tasks");
  std::size_t taken = 0;
  for (std::size_t i = 0; tasks != nullptr && i < tasks->entries.size(); ++i) {
    taken += std::erase_if(tasks->entries[i].value.entries, [&](const Entry& entry) {
      const FieldInfo* field = TaskTable().info().Find(entry.key);
      return field != nullptr && field->ignored_by.contains(host);
    });
  }
  return taken > 0;
}

std::vector<std::string> NotesOnJob(const Document& document, std::optional<Host> host) {
  std::vector<Finding> findings;
  for (const Host each : {Host::kMachine, Host::kCluster}) {
    if (host && each != *host) continue;
    for (Finding& finding : IgnoredFields(JobTable().info(), *document.root, each))
      findings.push_back(std::move(finding));
  }
  return NotesOf(document.sources, std::move(findings));
}

}  // namespace

tl::expected<Scenario, Diagnostics> LoadScenario(const std::string& path,
                                                 const LoadOptions& options) {
  return Load(path, nullptr, options);
}

tl::expected<Scenario, Diagnostics> LoadScenarioText(std::string_view text, const std::string& name,
                                                     const LoadOptions& options) {
  const std::string copy(text);
  return Load(name, &copy, options);
}

tl::expected<JobSpec, Diagnostics> LoadJobText(std::string_view text, const std::string& name,
                                               const LoadOptions& options) {
  const std::string copy(text);
  Document document;
  ReadInto(Kind::kJob, document, name, &copy, options);
  return DecodeJob(document);
}

tl::expected<JobDocument, Diagnostics> LoadJobDocument(const std::string& path,
                                                       const LoadOptions& options,
                                                       std::optional<Host> host) {
  Document document;
  ReadInto(Kind::kJob, document, path, nullptr, options);
  tl::expected<JobSpec, Diagnostics> spec = DecodeJob(document);
  if (!spec) return tl::unexpected<Diagnostics>(spec.error());
  JobDocument job;
  job.ignored = NotesOnJob(document, host);
  if (host && TakeOut(*document.root, *host)) spec = DecodeJob(document);
  if (!spec) return tl::unexpected<Diagnostics>(spec.error());
  job.spec = std::move(*spec);
  job.effective_yaml = EmitYaml(*document.root);
  job.secrets = std::move(document.secrets);
  return job;
}

}  // namespace tfyarn::config
