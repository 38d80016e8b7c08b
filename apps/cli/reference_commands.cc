#include "apps/cli/reference_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/cli/policy_page.h"
#include "apps/cli/print.h"
#include "config/fault_kinds.h"
#include "config/reference.h"
#include "config/suggest.h"
#include "core/policy/text.h"

namespace tfyarn::cli {
namespace {

int NoSuch(const std::string& what, const std::string& name,
           const std::vector<std::string>& names) {
  std::string text = fmt::format("{}: no {} {}\n", Program(), what, name);
  for (const std::string& note : config::NotesForNames(name, names)) text += "  " + note + "\n";
  WriteStderr(TerminalText(text));
  return ToInt(ExitCode::kUsage);
}

/// Text on stdout, or the error as a usage error.
int PrintOrExplain(const Expected<std::string>& text) {
  if (text) return Print(text->ends_with('\n') ? *text : *text + "\n");
  Complain(text.error().message);
  return ToInt(ExitCode::kUsage);
}

Expected<std::string> PolicyTextOf(const std::string& name) {
  return policy::Describe(name, {}).map([](const policy::Text& text) { return PolicyPage(text); });
}

}  // namespace

int ExplainCommand(const ExplainArguments& arguments, config::FileKind kind) {
  const std::vector<std::string>& words = arguments.words;
  if (words.front() != "policy") {
    if (words.size() == 1) return PrintOrExplain(config::ExplainField(words.front(), kind));
    WriteStderr(Program() + " explain: one field at a time, or `policy NAME`\n");
    return ToInt(ExitCode::kUsage);
  }
  if (words.size() == 1) return PrintOrExplain(config::ExplainField("policy", kind));
  const std::vector<std::string_view> known = policy::Names();
  if (words.size() == 2 && std::find(known.begin(), known.end(), words[1]) == known.end()) {
    return NoSuch("policy", words[1], {known.begin(), known.end()});
  }
  if (words.size() == 2) return PrintOrExplain(PolicyTextOf(words[1]));
  WriteStderr(Program() + " explain policy: one name at a time\n");
  return ToInt(ExitCode::kUsage);
}

int SchemaCommand(const SchemaArguments& arguments) {
  return PrintOrExplain(config::SchemaJson(arguments.which == "job" ? config::FileKind::kJob
                                                                    : config::FileKind::kScenario));
}

int FaultsCommand(const FaultsArguments& arguments) {
  if (arguments.kind.empty()) return PrintOrExplain(config::FaultKindsText());
  if (config::FindFaultKind(arguments.kind) != nullptr)
    return PrintOrExplain(config::ExplainField(arguments.kind));
  std::vector<std::string> names;
  for (const config::FaultKind& kind : config::FaultKinds()) names.push_back(kind.name);
  return NoSuch("kind of fault", arguments.kind, names);
}

}  // namespace tfyarn::cli
