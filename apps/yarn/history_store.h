// The history of applications in HDFS, as commands read it: what their ApplicationMasters wrote
// there.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "apps/yarn/web_questions.h"
#include "config/hadoop_settings.h"
#include "core/model/hdfs.h"
#include "core/model/ids.h"

namespace tfyarn::apps {

/// Says why a history in `directory` cannot be shown; the exit code.
[[nodiscard]] int RefuseHistory(const hdfs::HdfsError& error, const std::string& directory);

/// One after the other; each call waits for HDFS, half a minute at most.
class HistoryStore {
 public:
  template <class T>
  using Answer = tl::expected<T, hdfs::HdfsError>;

  struct Application {
    ApplicationId id;
    std::int64_t begun_ms = 0;  ///< When its newest AM began, since 1970.
  };

  /// `directory`: of HDFS; "" = the default one of `user`, where "" is the caller.
  HistoryStore(const config::HadoopSettings& settings, const std::string& user,
               const std::string& directory);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// The newest first.
  [[nodiscard]] Answer<std::vector<Application>> Applications();
  /// Numbers of its AM attempts, in order. Errors: kNotFound.
  [[nodiscard]] Answer<std::vector<std::int32_t>> Attempts(const ApplicationId& application);
  /// A file of an attempt. Errors: kNotFound.
  [[nodiscard]] Answer<std::string> Read(const ApplicationAttemptId& attempt,
                                         const std::string& file);
  /// `length` bytes of it from `offset` on.
  [[nodiscard]] Answer<std::string> ReadRange(const ApplicationAttemptId& attempt,
                                              const std::string& file, std::uint64_t offset,
                                              std::uint64_t length);
  /// A file of the application as a whole, which no AM writes. Errors: kNotFound.
  [[nodiscard]] Answer<std::string> ReadOfAll(const ApplicationId& application,
                                              const std::string& file);
  /// For the owner alone. Errors: kAlreadyExists.
  [[nodiscard]] Answer<hdfs::Done> WriteOfAll(const ApplicationId& application,
                                              const std::string& file, std::string bytes);
  [[nodiscard]] Answer<std::uint64_t> Size(const ApplicationAttemptId& attempt,
                                           const std::string& file);

 private:
  [[nodiscard]] std::string PathOf(const ApplicationAttemptId& attempt,
                                   const std::string& file) const;

  HdfsQuestions hdfs_;
  std::string directory_;
};

}  // namespace tfyarn::apps
