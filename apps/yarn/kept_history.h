// What is kept of one application in HDFS, with its end as soon as YARN knows it.
//
// Its ApplicationMaster writes its last word after it has unregistered, so that YARN's clients see
// the end first; an AM that was killed writes none. What is read here is whole all the same: of an
// application that has just ended the AM's last word is waited for, and where none comes the end is
// that which YARN tells, and kept beside the AMs' own files from then on, as ResourceManagers
// forget applications.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/yarn/cluster_access.h"
#include "apps/yarn/history_store.h"
#include "core/model/client.h"
#include "wire/hadoop/cluster_queries.h"

namespace tfyarn::apps {

struct KeptHistory {
  ApplicationId application;
  std::vector<std::int32_t> attempts;  ///< Of its AMs, in order; of some YARN alone knows.
  std::string result;                  ///< result.json
  std::string report;                  ///< report.html
  bool ended = false;                  ///< They are of the whole run.
};

/// What a result document says of its job; an empty object for what is none.
[[nodiscard]] nlohmann::ordered_json JobOfResult(const std::string& document);
/// "succeeded", "failed", "killed", "unfinished"; "" for what is no result document.
[[nodiscard]] std::string StatusOfResult(const std::string& document);

/// The documents of a run that has ended, where they are already. nullopt: an AM has written none,
/// and no client in its place.
[[nodiscard]] std::optional<KeptHistory> WholeHistory(HistoryStore& store,
                                                      const ApplicationId& application,
                                                      const std::vector<std::int32_t>& attempts);

/// Documents of what there is: of the whole run where it has ended. Waits for seconds when the AM
/// may be about to write its last word. `version`: of the program. Errors: kNotFound where neither
/// HDFS nor YARN knows anything; those of HDFS.
[[nodiscard]] HistoryStore::Answer<KeptHistory> FindHistory(HistoryStore& store,
                                                            ClusterQuestions& questions,
                                                            const ApplicationId& application,
                                                            const std::string& version);

/// Returns once the AM of an application that has ended has written its last word, or may no longer
/// be expected to: seconds at most. At once for one that runs.
void AwaitLastWord(HistoryStore& store, ClusterQuestions& questions,
                   const ApplicationId& application);

/// How YARN ended an application, as a job's status. kUnfinished: it has not.
[[nodiscard]] JobEnded EndOf(const hadoop::ApplicationDetails& application);

/// For a client that sees an application ended whose AM says nothing more: keeps `how` as its end.
/// `directory`: `history.dir` of the job; "" = the default one. What HDFS does not take is said.
void KeepEnd(const config::HadoopSettings& settings, const std::string& directory,
             const hadoop::ApplicationDetails& application, const JobEnded& how,
             const std::string& version);

}  // namespace tfyarn::apps
