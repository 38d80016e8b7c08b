#include "apps/cli/artifacts.h"

#include "apps/cli/output.h"
#include "core/trace/json.h"
#include "reports/csv.h"
#include "reports/html.h"
#include "reports/junit.h"
#include "reports/trace_events.h"

namespace tfyarn::cli {
namespace {

/// Makes the text only when an option asks for it.
template <class Make>
Expected<void> WriteIfWanted(const std::string& path, Make make) {
  if (path.empty()) return {};
  return WriteFile(path, make());
}

Expected<void> WriteReport(const std::string& path, const std::string& document,
                           const std::string& report) {
  if (path.empty()) return {};
  Expected<std::string> html = reports::Html(document, report);
  if (!html) return tl::unexpected<Error>(html.error());
  return WriteFile(path, *html);
}

void SetCsv(ArtifactPaths& paths, const std::string& directory, bool many) {
  if (many) {
    paths.runs_csv = directory + "/runs.csv";
  } else {
    paths.jobs_csv = directory + "/jobs.csv";
    paths.attempts_csv = directory + "/attempts.csv";
  }
}

}  // namespace

ArtifactPaths PathsOf(const RunArguments& arguments, bool many) {
  ArtifactPaths paths;
  if (!arguments.out.empty()) {
    const std::string directory = arguments.out + "/";
    paths.result = directory + "result.json";
    paths.scenario = directory + "scenario.yaml";
    paths.html = directory + "report.html";
    paths.junit = directory + "junit.xml";
    SetCsv(paths, arguments.out, many);
    if (arguments.events) paths.records = directory + "events.jsonl";
  }
  if (!arguments.html.empty()) paths.html = arguments.html;
  if (!arguments.junit.empty()) paths.junit = arguments.junit;
  if (!arguments.csv.empty()) SetCsv(paths, arguments.csv, many);
  if (arguments.trace.ends_with(".jsonl")) {
    paths.records = arguments.trace;
  } else {
    paths.timeline = arguments.trace;
  }
  return paths;
}

Expected<void> CheckWritable(const ArtifactPaths& paths) {
  for (const std::string* path :
       {&paths.result, &paths.scenario, &paths.html, &paths.junit, &paths.jobs_csv,
        &paths.attempts_csv, &paths.runs_csv, &paths.timeline, &paths.records}) {
    if (auto writable = CheckWritable(*path); !writable) return writable;
  }
  return {};
}

std::vector<Error> WriteArtifacts(const trace::Result& result, const std::string& document,
                                  const ArtifactPaths& paths) {
  std::vector<Error> errors;
  const auto note = [&](const Expected<void>& written) {
    if (!written) errors.push_back(written.error());
  };
  note(WriteIfWanted(paths.result, [&] { return document; }));
  note(WriteIfWanted(paths.scenario, [&] { return result.scenario_yaml; }));
  note(WriteReport(paths.html, document, paths.html.empty() ? "" : trace::ReportJson(result)));
  note(WriteIfWanted(paths.junit, [&] { return reports::JUnitXml(result); }));
  note(WriteIfWanted(paths.jobs_csv, [&] { return reports::JobsCsv(result); }));
  note(WriteIfWanted(paths.attempts_csv, [&] { return reports::AttemptsCsv(result); }));
  note(WriteIfWanted(paths.timeline, [&] { return reports::TraceEventsJson(result); }));
  return errors;
}

std::vector<Error> WriteArtifacts(const trace::Ensemble& ensemble, const std::string& document,
                                  const ArtifactPaths& paths, const std::string& scenario_yaml) {
  std::vector<Error> errors;
  const auto note = [&](const Expected<void>& written) {
    if (!written) errors.push_back(written.error());
  };
  note(WriteIfWanted(paths.result, [&] { return document; }));
  note(WriteIfWanted(paths.scenario, [&] { return scenario_yaml; }));
  note(WriteReport(paths.html, document, trace::ReportJson(scenario_yaml)));
  note(WriteIfWanted(paths.junit, [&] { return reports::JUnitXml(ensemble); }));
  return errors;
}

}  // namespace tfyarn::cli
