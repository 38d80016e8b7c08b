#include "apps/yarn/kept_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "apps/cli/output.h"
#include "apps/yarn/application_watch.h"
#include "config/load.h"
#include "core/client/job_client.h"
#include "core/model/exit.h"
#include "core/trace/record.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/run_documents.h"
#include "hosts/runtime/staging.h"
#include "hosts/yarn/am_face.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

using hdfs::HdfsErrorCode;
using nlohmann::ordered_json;

constexpr const char* kNotYet = "unfinished";
constexpr const char* kOurType = "TFYARN";

/// An AM that has unregistered writes so long at most.
constexpr Duration kLastWords = 2 * hosts::AmFace::kLongestEnd;
constexpr Duration kLookAgain = 200ms;

/// What YARN tells of an application that has ended.
struct ToldEnd {
  hadoop::ApplicationDetails application;
  JobEnded how;
};

bool IsWhole(const std::string& result) {
  const std::string status = StatusOfResult(result);
  return !status.empty() && status != kNotYet;
}

/// How long its AM may take yet to write its last word. By YARN's clock and ours: a difference
/// between them does not make the wait longer.
Duration PatienceWith(const hadoop::ApplicationDetails& ended) {
  if (ended.report.state != yarn::YarnApplicationState::kFinished) return 0s;
  if (ended.finished_ms <= 0) return kLastWords;
  const auto since = hosts::WallNow() - WallTime(std::chrono::milliseconds(ended.finished_ms));
  return std::clamp<Duration>(kLastWords - std::chrono::duration_cast<Duration>(since), 0s,
                              kLastWords);
}

std::vector<std::int32_t> AttemptsNow(HistoryStore& store, const ApplicationId& application) {
  return store.Attempts(application).value_or(std::vector<std::int32_t>());
}

/// One of ours that YARN knows to have ended.
std::optional<hadoop::ApplicationDetails> EndedByYarn(ClusterQuestions& questions,
                                                      const ApplicationId& application) {
  auto seen = ApplicationWatch(questions, application).Look();
  if (!seen || !HasEnded(*seen) || seen->type != kOurType) return std::nullopt;
  return std::move(*seen);
}

/// Waits for what the AM writes at its end. `attempts`: become those that HDFS has.
std::optional<KeptHistory> LastWord(HistoryStore& store, const hadoop::ApplicationDetails& ended,
                                    std::vector<std::int32_t>& attempts) {
  using Clock = std::chrono::steady_clock;
  const ApplicationId& application = ended.report.application;
  for (const auto until = Clock::now() + PatienceWith(ended); Clock::now() < until;) {
    std::this_thread::sleep_for(kLookAgain);
    attempts = AttemptsNow(store, application);
    if (auto whole = WholeHistory(store, application, attempts)) return whole;
  }
  return std::nullopt;
}

/// The records with which every run begins, of a run none of whose records were written.
void Begin(hosts::RunDocuments& documents, const ToldEnd& told, const std::string& job_file) {
  documents.Observe({.at = {}, .fact = trace::JobRunStarted{.name = told.application.name}});
  const auto job = config::LoadJobText(job_file, hosts::kEffectiveJobFile);
  documents.Observe({.at = {},
                     .fact = trace::JobCreated{.job = trace::kOnlyJob,
                                               .name = told.application.name,
                                               .queue = told.application.queue,
                                               .tasks = job ? job->task_count() : 0}});
}

/// Where no AM could say the last word, it is made of the events, and of what YARN tells.
void MakeDocuments(HistoryStore& store, const std::string& version, const ToldEnd* told,
                   KeptHistory& kept) {
  std::string job_file;
  Instant last{};
  std::vector<std::string> events;
  for (const std::int32_t attempt : kept.attempts) {
    const ApplicationAttemptId id{.application = kept.application, .attempt = attempt};
    if (auto job = store.Read(id, hosts::kEffectiveJobFile)) job_file = std::move(*job);
    if (auto lines = store.Read(id, hosts::kEventsFile)) events.push_back(std::move(*lines));
  }
  if (events.empty() && told == nullptr) return;
  hosts::RunDocuments documents(version, job_file);
  bool begun = false;
  hosts::EventsReader reader([&](const trace::TraceRecord& record) {
    begun = begun || std::holds_alternative<trace::JobCreated>(record.fact);
    documents.Observe(record);
    last = record.at;
  });
  for (const std::string& lines : events) {
    reader.Feed(lines);
    reader.NextFile();
  }
  if (told != nullptr && !begun) Begin(documents, *told, job_file);
  const auto ran = std::chrono::milliseconds(
      told == nullptr ? 0 : told->application.finished_ms - told->application.started_ms);
  auto made = told == nullptr ? documents.Make(last - Instant{}, false)
                              : documents.MakeEnded(std::max(last, Instant{} + ran), told->how);
  kept.ended = told != nullptr;
  kept.result = std::move(made.json);
  if (made.html) kept.report = std::move(*made.html);
}

/// The result last: who finds it finds the report.
HistoryStore::Answer<void> WriteDocuments(HistoryStore& store, const KeptHistory& kept) {
  for (const auto& [name, text] :
       {std::pair{hosts::kReportFile, &kept.report}, std::pair{hosts::kResultFile, &kept.result}}) {
    const auto written = store.WriteOfAll(kept.application, name, *text);
    // Another client has seen the same end.
    if (!written && written.error().code != HdfsErrorCode::kAlreadyExists)
      return tl::unexpected(written.error());
  }
  return {};
}

}  // namespace

ordered_json JobOfResult(const std::string& document) {
  const ordered_json json = ordered_json::parse(document, nullptr, false);
  if (!json.is_object() || !json.contains("jobs") || !json["jobs"].is_array() ||
      json["jobs"].empty() || !json["jobs"][0].is_object())
    return ordered_json::object();
  return json["jobs"][0];
}

std::string StatusOfResult(const std::string& document) {
  const ordered_json job = JobOfResult(document);
  const auto entry = job.find("status");
  std::string status =
      entry != job.end() && entry->is_string() ? entry->get<std::string>() : std::string();
  for (char& c : status) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return status;
}

std::optional<KeptHistory> WholeHistory(HistoryStore& store, const ApplicationId& application,
                                        const std::vector<std::int32_t>& attempts) {
  KeptHistory kept{.application = application, .attempts = attempts, .ended = true};
  if (!attempts.empty()) {
    const ApplicationAttemptId newest{.application = application, .attempt = attempts.back()};
    if (auto result = store.Read(newest, hosts::kResultFile); result && IsWhole(*result)) {
      kept.result = std::move(*result);
      if (auto report = store.Read(newest, hosts::kReportFile)) kept.report = std::move(*report);
      return kept;
    }
  }
  auto result = store.ReadOfAll(application, hosts::kResultFile);
  if (!result || !IsWhole(*result)) return std::nullopt;
  kept.result = std::move(*result);
  if (auto report = store.ReadOfAll(application, hosts::kReportFile))
    kept.report = std::move(*report);
  return kept;
}

HistoryStore::Answer<KeptHistory> FindHistory(HistoryStore& store, ClusterQuestions& questions,
                                              const ApplicationId& application,
                                              const std::string& version) {
  auto attempts = store.Attempts(application);
  if (!attempts && attempts.error().code != HdfsErrorCode::kNotFound)
    return tl::unexpected(attempts.error());
  KeptHistory kept{.application = application,
                   .attempts = attempts.value_or(std::vector<std::int32_t>())};
  if (auto whole = WholeHistory(store, application, kept.attempts)) return std::move(*whole);
  std::optional<ToldEnd> told;
  if (const auto seen = EndedByYarn(questions, application)) {
    told = ToldEnd{.application = *seen, .how = EndOf(*seen)};
    if (auto whole = LastWord(store, *seen, kept.attempts)) return std::move(*whole);
  }
  if (kept.attempts.empty() && !told) {
    return tl::unexpected(hdfs::HdfsError{
        .code = HdfsErrorCode::kNotFound,
        .message = ToString(application) + ": its ApplicationMaster has written nothing"});
  }
  if (!kept.attempts.empty()) {
    const ApplicationAttemptId newest{.application = application, .attempt = kept.attempts.back()};
    if (auto result = store.Read(newest, hosts::kResultFile)) kept.result = std::move(*result);
  }
  MakeDocuments(store, version, told ? &*told : nullptr, kept);
  // For the time when YARN has forgotten it. A user who may not write there loses nothing.
  if (told) (void)WriteDocuments(store, kept);
  return kept;
}

void AwaitLastWord(HistoryStore& store, ClusterQuestions& questions,
                   const ApplicationId& application) {
  std::vector<std::int32_t> attempts = AttemptsNow(store, application);
  if (WholeHistory(store, application, attempts)) return;
  if (const auto ended = EndedByYarn(questions, application))
    (void)LastWord(store, *ended, attempts);
}

JobEnded EndOf(const hadoop::ApplicationDetails& application) {
  if (!HasEnded(application)) return {};
  const std::string status = StatusOf(application);
  return {.status = status == "succeeded" ? JobStatus::kSucceeded
                    : status == "killed"  ? JobStatus::kKilled
                                          : JobStatus::kFailed,
          .diagnostics = client::WhyEnded(application.report)};
}

void KeepEnd(const config::HadoopSettings& settings, const std::string& directory,
             const hadoop::ApplicationDetails& application, const JobEnded& how,
             const std::string& version) {
  const ApplicationId& id = application.report.application;
  HistoryStore store(settings, application.user, directory);
  auto attempts = store.Attempts(id);
  const bool readable = attempts || attempts.error().code == HdfsErrorCode::kNotFound;
  HistoryStore::Answer<void> kept;
  if (readable) {
    KeptHistory history{.application = id,
                        .attempts = attempts.value_or(std::vector<std::int32_t>())};
    if (WholeHistory(store, id, history.attempts)) return;
    const ToldEnd told{.application = application, .how = how};
    MakeDocuments(store, version, &told, history);
    kept = WriteDocuments(store, history);
  } else {
    kept = tl::unexpected(attempts.error());
  }
  if (kept) return;
  cli::Complain(fmt::format("its history in {} does not tell of the end: {}", store.directory(),
                            kept.error().message));
}

}  // namespace tfyarn::apps
