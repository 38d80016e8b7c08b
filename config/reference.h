// What the field table says, for people and for editors: `explain`, the JSON Schema, the reference
// pages.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"

namespace tfyarn::config {

enum class FileKind { kScenario, kJob };

/// A field by its path: `gang.hold`, `yarn.scheduler`, `jobs.a.tasks.worker.memory`, or only the
/// end of one; a kind of fault by its name. Of job.yaml alone, or of a scenario and then of
/// job.yaml. Errors: kNotFound, with what is near.
[[nodiscard]] Expected<std::string> ExplainField(std::string_view path,
                                                 FileKind kind = FileKind::kScenario);

/// A JSON Schema (draft 2020-12) that an editor can check files with. Names and contradictions are
/// beyond it.
[[nodiscard]] std::string SchemaJson(FileKind kind);

/// The whole of docs/scenario.md or docs/job.md.
[[nodiscard]] std::string ReferenceMarkdown(FileKind kind);

/// All kinds of faults with parameters and examples: what `tfsim faults` prints.
[[nodiscard]] std::string FaultKindsText();

}  // namespace tfyarn::config
