// What a process of ours finds around it: its environment, the files of its work directory, a seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/model/error.h"
#include "core/model/job_spec.h"

namespace tfyarn::apps {

[[nodiscard]] std::map<std::string, std::string> OwnEnvironment();
/// Errors: kNotFound with the system's reason.
[[nodiscard]] Expected<std::string> ReadText(const std::string& path);
/// The job that the client has staged, in the work directory of an AM or an agent.
struct StagedJob {
  std::shared_ptr<const JobSpec> spec;
  std::string text;
};
/// Errors: it is not there, or it is no job; in words for a log.
[[nodiscard]] Expected<StagedJob> ReadStagedJob(const std::string& path);
/// From the system's entropy. Machines get it once, and it is in their recording.
[[nodiscard]] std::uint64_t RandomSeed();
/// What `ps` and `top` call this process, with its command line: on YARN it is started by its
/// bundle's loader, and would be called like that. To be called first: no caller may use argv after
/// it.
void ShowAs(const char* name);
/// Directory of the running program, where its siblings are.
[[nodiscard]] std::string OwnDirectory();

}  // namespace tfyarn::apps
