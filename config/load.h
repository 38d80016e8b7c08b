// From files to values: scenario.yaml and job.yaml, read, merged, checked, decoded.
//
// Everything wrong with a file is found at once (20 errors at most, sorted by place); nothing is
// half loaded. What a field means, which values it takes and what it is when left out is said in
// one place, the field table (record.h), and decoding, errors, `explain`, the JSON Schema and the
// reference pages are all read from there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/byte_source.h"
#include "config/diagnostics.h"
#include "config/scenario.h"
#include "config/type.h"
#include "core/model/job_secrets.h"
#include "core/model/job_spec.h"

namespace tfyarn::config {

struct LoadOptions {
  /// `path=value`, applied in order after includes. A path names map keys, list positions or the
  /// `name` of a list element: `jobs.a.tasks.worker.instances=4`, `faults.0.at=5m`. An empty value
  /// or `null` removes.
  std::vector<std::string> sets;
  /// In place of the scenario's own seed.
  std::optional<std::uint64_t> seed;
  /// How files are opened; default: the file system.
  OpenFile open = OpenRealFile;
  /// Where a trace is looked for that is not found beside the scenario; "" = nowhere else.
  std::string trace_directory;
  /// False: traces are located but not read, and a missing one is no error (`validate` without
  /// data).
  bool read_traces = true;
};

/// Reads a scenario with all it includes. `path` as the user gave it; included files and traces are
/// relative to it. Never throws; errors are for the user to correct.
[[nodiscard]] tl::expected<Scenario, Diagnostics> LoadScenario(const std::string& path,
                                                               const LoadOptions& options = {});
/// The same from text; `name` stands for the file in errors and its directory for relative paths.
[[nodiscard]] tl::expected<Scenario, Diagnostics> LoadScenarioText(std::string_view text,
                                                                   const std::string& name,
                                                                   const LoadOptions& options = {});

/// Reads the text of a job.yaml. `options.seed` and traces do not apply.
[[nodiscard]] tl::expected<JobSpec, Diagnostics> LoadJobText(std::string_view text,
                                                             const std::string& name,
                                                             const LoadOptions& options = {});

/// A job, and the document that says the same on its own: includes and `--set` are in it.
struct JobDocument {
  JobSpec spec;
  std::string effective_yaml;
  /// What `spec` and `effective_yaml` have stars for: values in `env` whose names look secret.
  std::vector<SecretValue> secrets;
  /// Of fields that are set and ignored where it is to run, one line each (ignored_fields.h).
  std::vector<std::string> ignored;
};
/// `host`: where it is to run; nullopt: on one machine or on a cluster. Fields of task types that
/// the host ignores are read and checked, and taken out: its ApplicationMaster would heed them.
[[nodiscard]] tl::expected<JobDocument, Diagnostics> LoadJobDocument(
    const std::string& path, const LoadOptions& options, std::optional<Host> host = std::nullopt);

/// A small scenario that runs, with comments: what `tfsim init` writes.
[[nodiscard]] std::string InitScenarioText();
/// The job.yaml that `tfyarn init` writes, and the train.py that it runs.
[[nodiscard]] std::string InitJobText();
[[nodiscard]] std::string InitProgramText();

}  // namespace tfyarn::config
